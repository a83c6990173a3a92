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

    /// The fingerprint of a project, and the texts that had to be read for it.
    pub(super) fn fingerprint(&self, run: &Run<'_>, project: &Project) -> (Fingerprint, Texts) {
        let held = AtomicUsize::new(0);
        let files: Vec<FileId> = project.files.iter().copied().filter(|file| run.reads(*file)).collect();
        let read: Vec<(Fingerprint, Option<Result<String, ReadError>>)> = files
            .par_iter()
            .with_min_len(project.least())
            .map(|file| {
                let (of_text, text) = self.of_text(run.sources, *file);
                let size = text.as_ref().and_then(|text| text.as_ref().ok()).map_or(0, String::len);
                let before = held.fetch_add(size, Ordering::Relaxed);
                (of_text, text.filter(|_| before < MOST_HELD))
            })
            .collect();
        let mut mixer = Mixer::new();
        mixer.add_fingerprint(self.settings).add(format!("{:?}", project.packages.manifests).as_bytes());
        let mut texts = Texts::new();
        for (file, (of_text, text)) in files.into_iter().zip(read) {
            let (found, is_named) = (run.sources.file(file), run.is_named(file));
            mixer.add(found.path().as_bytes()).add(&[u8::from(found.is_test), u8::from(is_named)]);
            mixer.add_fingerprint(of_text);
            texts.extend(text.map(|text| (file, text)));
        }
        for problem in run.problems_of(project) {
            mixer.add(format!("{problem:?}").as_bytes());
        }
        (mixer.done(), texts)
    }

    fn of_text(&self, sources: &Sources, file: FileId) -> (Fingerprint, Option<Result<String, ReadError>>) {
        let path = sources.absolute(file);
        let is_unsaved = sources.is_unsaved(file);
        let known = if is_unsaved { None } else { self.cache.known_text(path) };
        if let Some(known) = known {
            return (known, None);
        }
        let before = FileState::of(path).filter(|_| !is_unsaved);
        let text = sources.read(file);
        let fingerprint = match &text {
            Ok(text) => Fingerprint::of(text.as_bytes()),
            Err(error) => Fingerprint::of(format!("{error:?}").as_bytes()),
        };
        if text.is_ok() {
            self.cache.note_text(path, before, fingerprint);
        }
        (fingerprint, Some(text))
    }

    pub(super) fn judgement(&self, of: Fingerprint, project: &Project) -> Option<Judgement> {
        let mut judgement: Judgement = self.cache.judgement(of)?;
        let file = |place: FileId| project.files.get(place.0 as usize).copied();
        judgement.renumber(file).then_some(judgement)
    }

    /// Files have other numbers in each run, so that they are kept by their place in the project.
    pub(super) fn keep(&self, of: Fingerprint, project: &Project, judgement: &Judgement, sources: &Sources) {
        if project.files.iter().any(|file| sources.is_unsaved(*file)) {
            return;
        }
        let mut kept = judgement.clone();
        let place = |file: FileId| {
            let place = project.files.binary_search(&file).ok()?;
            u32::try_from(place).ok().map(FileId)
        };
        if kept.renumber(place) {
            self.cache.keep_judgement(of, &kept);
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
