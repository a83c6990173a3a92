//! What earlier runs have judged: a project whose files, manifests and settings are as they were has its judgement
//! already.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::judgement::Judgement;
use super::projects::Project;
use super::{Options, Run};
use crate::cache::{Cache, FileState, Fingerprint, Mixer};
use crate::facts::FileId;
use crate::sources::{FileKind, ReadError, Sources};

/// Texts that were read, by their files.
pub(super) type Texts = HashMap<FileId, Result<String, ReadError>>;

/// More than this is read again rather than held, in bytes for each project.
const MOST_HELD: usize = 32 * 1024 * 1024;

/// A project as it was found.
pub(super) struct Seen {
    /// Of all that a judgement depends on.
    pub(super) fingerprint: Fingerprint,
    /// Those that had to be read for it.
    pub(super) texts: Texts,
    /// What the system said of the files before they were read.
    states: Vec<(FileId, Option<FileState>)>,
}

struct SeenFile {
    fingerprint: Fingerprint,
    /// Where it had to be read.
    text: Option<Result<String, ReadError>>,
    state: Option<FileState>,
}

/// Judgements of earlier runs, as far as this one can use them.
pub(super) struct KeptProjects {
    cache: Arc<Cache>,
    /// Of all that decides about a judgement beside the project.
    settings: Fingerprint,
}

impl KeptProjects {
    /// `None` where nothing is kept, or where more is asked for than is kept.
    pub(super) fn of(options: &Options) -> Option<Self> {
        let cache = options.cache.clone()?;
        if options.audits || options.changes.is_some() {
            return None;
        }
        let Options { selection, configuration, tests, .. } = options;
        let settings = Mixer::new().add(format!("{selection:?} {configuration:?} {tests}").as_bytes()).done();
        Some(Self { cache, settings })
    }

    pub(super) fn seen(&self, run: &Run<'_>, project: &Project) -> Seen {
        let held = AtomicUsize::new(0);
        let files: Vec<FileId> = project.files.iter().copied().filter(|file| run.reads(*file)).collect();
        let read: Vec<SeenFile> = files
            .par_iter()
            .with_min_len(project.least())
            .map(|file| {
                let seen = self.seen_file(run.sources, *file);
                let size = seen.text.as_ref().and_then(|text| text.as_ref().ok()).map_or(0, String::len);
                let before = held.fetch_add(size, Ordering::Relaxed);
                SeenFile { text: seen.text.filter(|_| before < MOST_HELD), ..seen }
            })
            .collect();
        let mut mixer = Mixer::new();
        mixer.add_fingerprint(self.settings).add(format!("{:?}", project.packages.manifests).as_bytes());
        let (mut texts, mut states) = (Texts::new(), Vec::new());
        for (file, SeenFile { fingerprint, text, state }) in files.into_iter().zip(read) {
            let (found, is_named) = (run.sources.file(file), run.is_named(file));
            mixer.add(found.path().as_bytes()).add(&[u8::from(found.is_test), u8::from(is_named)]);
            mixer.add_fingerprint(fingerprint);
            texts.extend(text.map(|text| (file, text)));
            states.push((file, state));
        }
        for problem in run.problems_of(project) {
            mixer.add(format!("{problem:?}").as_bytes());
        }
        Seen { fingerprint: mixer.done(), texts, states }
    }

    fn seen_file(&self, sources: &Sources, file: FileId) -> SeenFile {
        let path = sources.absolute(file);
        let state = FileState::of(path).filter(|_| !sources.is_unsaved(file));
        if let Some(fingerprint) = state.and_then(|state| self.cache.known_text(path, state)) {
            return SeenFile { fingerprint, text: None, state };
        }
        let text = sources.read(file);
        let fingerprint = match &text {
            Ok(text) => Fingerprint::of(text.as_bytes()),
            Err(error) => Fingerprint::of(format!("{error:?}").as_bytes()),
        };
        if text.is_ok() {
            self.cache.note_text(path, state, fingerprint);
        }
        SeenFile { fingerprint, text: Some(text), state }
    }

    pub(super) fn judgement(&self, of: Fingerprint, project: &Project) -> Option<Judgement> {
        let mut judgement: Judgement = self.cache.judgement(of)?;
        let file = |place: FileId| project.files.get(place.0 as usize).copied();
        judgement.renumber(file).then_some(judgement)
    }

    /// Keeps a judgement, unless an editor holds a file, or one was written while the project was judged: then nobody
    /// knows which of its texts the judgement is about. Files have other numbers in each run, so that they are kept by
    /// their place in the project.
    pub(super) fn keep(&self, seen: &Seen, project: &Project, judgement: &Judgement, sources: &Sources) {
        let is_as_seen = |(file, state): &(FileId, Option<FileState>)| {
            !sources.is_unsaved(*file) && FileState::of(sources.absolute(*file)) == *state
        };
        if !seen.states.iter().all(is_as_seen) {
            return;
        }
        let mut kept = judgement.clone();
        let place = |file: FileId| {
            let place = project.files.binary_search(&file).ok()?;
            u32::try_from(place).ok().map(FileId)
        };
        if kept.renumber(place) {
            self.cache.keep_judgement(seen.fingerprint, &kept);
        }
    }
}

impl Run<'_> {
    /// Whether a file has a part in judging its project. Manifests are known by what was read of them.
    fn reads(&self, file: FileId) -> bool {
        let file = self.sources.file(file);
        file.kind == FileKind::Manifest
            || (file.kind.is_source() && (self.options.tests || !file.is_test || file.kind != FileKind::Rust))
    }

    /// A migration that was named is judged as one that runs.
    fn is_named(&self, file: FileId) -> bool {
        let file = self.sources.file(file);
        file.kind == FileKind::Sql && self.asked.iter().any(|path| path == file.absolute())
    }
}
