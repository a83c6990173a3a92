//! Compares `leaselint check` (without a cache, with a new one, with one that knows everything, and with one file changed)
//! with a plain search for the same words over the same tree, and with one pattern of ast-grep where that is installed:
//! wall time, processor time and peak memory, as ratios. `cargo bench --bench ratio [-- FOLDER]`; without a folder the tree is
//! what cargo has unpacked, which after the corpus test holds all of its crates. It prints and never fails
//! on a figure: times on a shared machine are not for gates.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table is what a benchmark is for")]

#[cfg(not(unix))]
fn main() {
    eprintln!("this benchmark reads resource usage the Unix way");
}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    match unix::run(std::env::args_os().skip(1).collect()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("ratio: {err}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    /// What a person would search for to find lock code.
    const WORDS: [&str; 12] = [
        "redis",
        "lease",
        "etcd",
        "consul",
        "advisory_lock",
        "SKIP LOCKED",
        "fencing",
        "set_nx",
        "rslock",
        "redlock",
        "SystemTime",
        "signal",
    ];
    const ROUNDS: usize = 5;
    const MEASURE: &str = "--measure-one";

    type Failure = Box<dyn std::error::Error>;

    /// What one run of a program took.
    #[derive(Clone, Copy)]
    struct Cost {
        wall: Duration,
        cpu: Duration,
        peak_kib: u64,
    }

    pub(super) fn run(args: Vec<OsString>) -> Result<(), Failure> {
        if let Some((flag, command)) = args.split_first()
            && flag == MEASURE
        {
            return measure_here(command);
        }
        // cargo itself adds `--bench`.
        let tree = match args.into_iter().find(|arg| !arg.as_encoded_bytes().starts_with(b"-")) {
            Some(folder) => PathBuf::from(folder),
            None => unpacked_sources()?,
        };
        let (files, bytes) = size(&tree)?;
        println!("{}: {files} .rs, .sql and .lua files, {} MB", tree.display(), bytes / 1_000_000);
        compare(&tree)
    }

    /// What is measured, and what it is measured against.
    struct Row {
        name: &'static str,
        command: Vec<OsString>,
        /// Makes the state that the command is measured in, before each round.
        prepare: fn(&Scene) -> Result<(), Failure>,
        best: Option<Cost>,
    }

    /// The tree and what is put beside it.
    struct Scene {
        cache: tempfile::TempDir,
        /// A package of the tree's kind that stands beside it, so that the tree itself is never touched.
        changing: tempfile::TempDir,
        changes: std::cell::Cell<u32>,
    }

    impl Scene {
        fn new() -> Result<Self, Failure> {
            let (cache, changing) = (tempfile::tempdir()?, tempfile::tempdir()?);
            std::fs::create_dir(changing.path().join("src"))?;
            std::fs::write(changing.path().join("Cargo.toml"), "[package]\nname = \"changing\"\n")?;
            let scene = Self { cache, changing, changes: std::cell::Cell::new(0) };
            scene.change()?;
            Ok(scene)
        }

        /// The cache, which is made by the first run.
        fn folder(&self) -> PathBuf {
            self.cache.path().join("kept")
        }

        fn change(&self) -> Result<(), Failure> {
            self.changes.set(self.changes.get() + 1);
            let text =
                format!("pub fn take(con: &mut C) {{ con.set_nx(\"lock:{}\", 1); }}\n", self.changes.get());
            Ok(std::fs::write(self.changing.path().join("src/lib.rs"), text)?)
        }
    }

    fn compare(tree: &Path) -> Result<(), Failure> {
        let scene = Scene::new()?;
        let mut rows = rows(tree, &scene);
        // Interleaved, so that a busy moment of the machine meets all; the first round warms the page cache.
        for round in 0..=ROUNDS {
            for row in &mut rows {
                if round > 1 && row.name == AST_GREP {
                    continue; // Once says enough of something that takes so long.
                }
                (row.prepare)(&scene)?;
                let cost = measure(&row.command)?;
                if round > 0 {
                    row.best = Some(row.best.map_or(cost, |so_far| so_far.min(cost)));
                }
            }
        }
        println!(
            "{:26} {:>9} {:>9} {:>9} {:>8} {:>8}",
            "", "wall ms", "cpu ms", "peak MiB", "× rg", "cpu × rg"
        );
        let search = rows.iter().find_map(|row| row.best).ok_or("no round was run")?;
        for row in &rows {
            print_row(row.name, row.best.ok_or("no round was run")?, search);
        }
        println!("aims: cold 3 × rg, warm 1 ×, one changed file 0.4 ×, 150 MiB");
        Ok(())
    }

    const AST_GREP: &str = "ast-grep, one pattern";

    fn rows(tree: &Path, scene: &Scene) -> Vec<Row> {
        let nothing: fn(&Scene) -> Result<(), Failure> = |_| Ok(());
        let row = |name, command, prepare| Row { name, command, prepare, best: None };
        let cache = [OsString::from("--cache-dir"), scene.folder().into()];
        let beside = [OsString::from(scene.changing.path())];
        let mut rows = vec![row("rg -c", search(tree), nothing)];
        if Command::new("ast-grep").arg("--version").output().is_ok_and(|done| done.status.success()) {
            let pattern = ["ast-grep", "run", "-p", "$C.del($K)", "-l", "rust"].map(OsString::from);
            rows.push(row(AST_GREP, [&pattern[..], &[tree.into()]].concat(), nothing));
        }
        let changed = [&check(tree, &cache)[..], &beside].concat();
        rows.extend([
            row("leaselint, no cache", check(tree, &["--no-cache".into()]), nothing),
            row("leaselint, new cache", changed.clone(), |scene| {
                let cleaned = leaselint::cache::clean(&scene.folder());
                Ok(cleaned.map(drop)?)
            }),
            row("leaselint, warm", changed.clone(), nothing),
            row("leaselint, a file changed", changed, Scene::change),
        ]);
        rows
    }

    fn print_row(name: &str, cost: Cost, search: Cost) {
        let (wall, cpu) = (cost.wall.as_secs_f64() * 1e3, cost.cpu.as_secs_f64() * 1e3);
        let (wall_ratio, cpu_ratio) =
            (wall / (search.wall.as_secs_f64() * 1e3), cpu / (search.cpu.as_secs_f64() * 1e3));
        let peak = cost.peak_kib / 1024;
        println!("{name:26} {wall:>9.0} {cpu:>9.0} {peak:>9} {wall_ratio:>8.2} {cpu_ratio:>8.2}");
    }

    impl Cost {
        fn min(self, other: Cost) -> Cost {
            Cost {
                wall: self.wall.min(other.wall),
                cpu: self.cpu.min(other.cpu),
                peak_kib: self.peak_kib.min(other.peak_kib),
            }
        }
    }

    fn search(tree: &Path) -> Vec<OsString> {
        let mut command: Vec<OsString> = ["rg", "-c", "-F", "--no-messages"].map(Into::into).to_vec();
        for extension in ["*.rs", "*.sql", "*.lua"] {
            command.extend(["-g", extension].map(OsString::from));
        }
        for word in WORDS {
            command.extend(["-e", word].map(OsString::from));
        }
        command.push(tree.into());
        command
    }

    fn check(tree: &Path, how: &[OsString]) -> Vec<OsString> {
        let program = env!("CARGO_BIN_EXE_leaselint");
        let mut command: Vec<OsString> = [program, "check", "--format", "json"].map(Into::into).to_vec();
        command.extend(how.iter().cloned());
        command.push(tree.into());
        command
    }

    /// Runs a command in a process of its own that does nothing else, since a process only learns the peak of
    /// the largest child it ever had.
    fn measure(command: &[OsString]) -> Result<Cost, Failure> {
        let done = Command::new(std::env::current_exe()?).arg(MEASURE).args(command).output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).trim().to_owned().into());
        }
        let text = String::from_utf8(done.stdout)?;
        let figures = text.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let [wall, cpu, peak_kib] = figures[..] else {
            return Err("three figures expected".into());
        };
        Ok(Cost { wall: Duration::from_micros(wall), cpu: Duration::from_micros(cpu), peak_kib })
    }

    fn measure_here(command: &[OsString]) -> Result<(), Failure> {
        let (program, args) = command.split_first().ok_or("no command to measure")?;
        let name = Path::new(program).file_name().unwrap_or(OsStr::new("?")).to_string_lossy().into_owned();
        let started = Instant::now();
        let status = Command::new(program)
            .args(args)
            .stdout(Stdio::null())
            .status()
            .map_err(|err| format!("{name} could not be run: {err}"))?;
        let wall = started.elapsed();
        // 1 is an answer for both programs: no match, or findings.
        if !matches!(status.code(), Some(0 | 1)) {
            return Err(format!("{name} ended with {status}").into());
        }
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        println!("{} {cpu} {}", wall.as_micros(), peak_kib(usage.max_rss()));
        Ok(())
    }

    /// Apple's kernel counts bytes, the others count kibibytes.
    fn peak_kib(max_rss: i64) -> i64 {
        if cfg!(target_vendor = "apple") { max_rss / 1024 } else { max_rss }
    }

    fn unpacked_sources() -> Result<PathBuf, Failure> {
        let home = match std::env::var_os("CARGO_HOME") {
            Some(home) => PathBuf::from(home),
            None => PathBuf::from(std::env::var_os("HOME").ok_or("neither CARGO_HOME nor HOME is set")?)
                .join(".cargo"),
        };
        Ok(home.join("registry/src"))
    }

    fn size(tree: &Path) -> Result<(usize, u64), Failure> {
        let (mut files, mut bytes) = (0, 0);
        for entry in ignore::WalkBuilder::new(tree).standard_filters(false).build() {
            let entry = entry?;
            let extension = entry.path().extension().and_then(OsStr::to_str);
            if matches!(extension, Some("rs" | "sql" | "lua"))
                && entry.file_type().is_some_and(|t| t.is_file())
            {
                files += 1;
                bytes += entry.metadata()?.len();
            }
        }
        if files == 0 {
            return Err(format!("{} holds no sources; run the corpus test first", tree.display()).into());
        }
        Ok((files, bytes))
    }
}
