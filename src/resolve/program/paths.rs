//! What a written path means: through `use` declarations, re-exports and globs, from the module in which
//! it is written to the module that declares the name, or out of the workspace.
//!
//! A path that several declarations can mean (items under conditions) has several targets. A path that
//! leads in a circle has none. What is declared there is not its concern.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Program;
use super::modules::ModuleId;

/// Imports that lead through more steps than this are not followed.
const MAX_STEPS: usize = 512;

/// Imports of imports are followed this deep.
const MAX_DEPTH: usize = 24;

/// The first segment of a path that begins at a module known by its number.
const MARK: char = '#';

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Module(ModuleId),
    /// A name that a module declares, and what is written behind it: an associated name, a variant.
    Item {
        module: ModuleId,
        name: String,
        rest: Vec<String>,
    },
    /// A path that no module of the run declares, imports worked off.
    External(Vec<String>),
}

/// Targets by the module where a path is written, and the path.
pub type Known = RefCell<HashMap<(ModuleId, Vec<String>), Rc<[Target]>>>;

/// A path that means the same everywhere.
pub fn absolute(module: ModuleId, name: &str) -> Vec<String> {
    vec![format!("{MARK}{module}"), name.to_owned()]
}

struct Search {
    steps: usize,
    seen: HashSet<(ModuleId, Vec<String>)>,
    found: Vec<Target>,
}

impl Program<'_> {
    /// Everything that a path can mean where it is written.
    pub fn targets(&self, module: ModuleId, path: &[String]) -> Rc<[Target]> {
        let key = (module, path.to_vec());
        if let Some(known) = self.known_targets.borrow().get(&key) {
            return known.clone();
        }
        let mut search = Search { steps: MAX_STEPS, seen: HashSet::new(), found: Vec::new() };
        self.search(module, path, &mut search, 0);
        // What leads out at once is found out again as fast as it is looked up.
        let is_plain = matches!(&search.found[..], [Target::External(out)] if out == path);
        let found: Rc<[Target]> = search.found.into();
        if !is_plain || !self.modules.all[module].globs.is_empty() {
            self.known_targets.borrow_mut().insert(key, found.clone());
        }
        found
    }

    fn search(&self, module: ModuleId, path: &[String], search: &mut Search, depth: usize) {
        let Some((first, rest)) = path.split_first() else { return };
        match first.as_str() {
            "crate" | "$crate" => self.walk(self.modules.all[module].root, rest, search, depth),
            "self" => self.walk(module, rest, search, depth),
            "super" => {
                let climbs = path.iter().take_while(|step| *step == "super").count();
                let parent = |at: ModuleId| self.modules.all[at].parent;
                if let Some(above) = (0..climbs).try_fold(module, |at, _| parent(at)) {
                    self.walk(above, &path[climbs..], search, depth);
                }
            }
            marked if marked.starts_with(MARK) => {
                let number = marked.trim_start_matches(MARK).parse::<ModuleId>().ok();
                if let Some(module) = number.filter(|&module| module < self.modules.all.len()) {
                    self.walk(module, rest, search, depth);
                }
            }
            name => {
                let before = search.found.len();
                self.walk(module, path, search, depth);
                if search.found.len() > before {
                    return;
                }
                match self.crate_named(module, name) {
                    Some(library) => self.walk(library, rest, search, depth),
                    None if !self.begins_here(module, name) => {
                        search.found.push(Target::External(path.to_vec()))
                    }
                    None => {}
                }
            }
        }
    }

    /// Whether a module gives this name to something, wherever that leads.
    fn begins_here(&self, module: ModuleId, name: &str) -> bool {
        let module = &self.modules.all[module];
        module.children.contains_key(name) || module.declares(name) || module.imports.contains_key(name)
    }

    /// The library that a name stands for in code of a module.
    fn crate_named(&self, module: ModuleId, name: &str) -> Option<ModuleId> {
        let package = self.modules.all[module].package?;
        let target = self.crates.get(package)?.iter().find(|(known, _)| known == name)?.1;
        self.modules.libraries.get(target).copied().flatten()
    }

    /// Follows a path downwards from a module.
    fn walk(&self, module: ModuleId, path: &[String], search: &mut Search, depth: usize) {
        if depth > MAX_DEPTH || search.steps == 0 {
            return;
        }
        search.steps -= 1;
        let Some((name, rest)) = path.split_first() else {
            search.add(Target::Module(module));
            return;
        };
        if !search.seen.insert((module, path.to_vec())) {
            return;
        }
        let before = search.found.len();
        let here = &self.modules.all[module];
        if here.declares(name) && (rest.is_empty() || here.types.contains_key(name.as_str())) {
            search.add(Target::Item { module, name: name.clone(), rest: rest.to_vec() });
        }
        if let Some(&child) = here.children.get(name.as_str()) {
            self.walk(child, rest, search, depth);
        }
        for import in here.imports.get(name.as_str()).into_iter().flatten() {
            // `use redis::{self}` gives a name to itself.
            if import.path.first() == Some(name) && import.path.len() == 1 {
                self.leave(module, path, search);
                continue;
            }
            let whole: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            self.search(module, &whole, search, depth + 1);
        }
        if search.found.len() > before {
            return;
        }
        for glob in &here.globs {
            self.walk_glob(module, &glob.path, path, search, depth);
        }
    }

    fn leave(&self, module: ModuleId, path: &[String], search: &mut Search) {
        match path.split_first().and_then(|(name, rest)| Some((self.crate_named(module, name)?, rest))) {
            Some((library, rest)) => self.walk(library, rest, search, 0),
            None => search.add(Target::External(path.to_vec())),
        }
    }

    fn walk_glob(
        &self,
        module: ModuleId,
        glob: &[String],
        path: &[String],
        search: &mut Search,
        depth: usize,
    ) {
        if search.steps == 0 {
            return;
        }
        search.steps -= 1;
        let mut inner = Search { steps: search.steps, seen: HashSet::new(), found: Vec::new() };
        self.search(module, glob, &mut inner, depth + 1);
        search.steps = inner.steps;
        for target in inner.found {
            match target {
                Target::Module(opened) if opened != module => self.walk(opened, path, search, depth + 1),
                // The variants of an enum.
                Target::Item { module, name, mut rest } => {
                    let is_variant = path.len() == 1
                        && self.modules.all[module]
                            .types
                            .get(name.as_str())
                            .is_some_and(|types| types.iter().any(|&ty| self.has_variant(ty, &path[0])));
                    if is_variant {
                        rest.extend(path.iter().cloned());
                        search.add(Target::Item { module, name, rest });
                    }
                }
                _ => {}
            }
        }
    }

    /// The full path of a written name, as far as `use` declarations show it.
    pub fn full_path(&self, module: ModuleId, path: &[String]) -> Vec<String> {
        // Without an import in front, a path is what it says; globs are asked for longer ones only by name.
        let has_import =
            |first: &String| self.begins_here(module, first) || !self.modules.all[module].globs.is_empty();
        if !path.first().is_some_and(has_import) {
            return path.to_vec();
        }
        let targets = self.targets(module, path);
        match targets.first() {
            Some(Target::External(full)) => full.clone(),
            _ => self.imported(module, path),
        }
    }

    /// Puts the path that a `use` gives the first segment in front of the rest.
    fn imported(&self, module: ModuleId, path: &[String]) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let import = self.modules.all[module].imports.get(first.as_str()).and_then(|imports| imports.first());
        match import {
            Some(import) => import.path.iter().chain(rest).cloned().collect(),
            None => path.to_vec(),
        }
    }

    /// The paths that a module imports, itself or through globs of own modules.
    pub fn imports(&self, module: ModuleId) -> Vec<&[String]> {
        let mut found = Vec::new();
        let mut seen = vec![module];
        let mut at = 0;
        while let Some(&current) = seen.get(at) {
            at += 1;
            let here = &self.modules.all[current];
            let all = here.imports.values().flatten().chain(&here.globs);
            found.extend(all.map(|import| &import.path[..]));
            for glob in &here.globs {
                for target in self.targets(current, &glob.path).iter() {
                    if let Target::Module(opened) = target
                        && seen.len() < MAX_DEPTH
                        && !seen.contains(opened)
                    {
                        seen.push(*opened);
                    }
                }
            }
        }
        found
    }
}

impl Search {
    fn add(&mut self, target: Target) {
        if !self.found.contains(&target) {
            self.found.push(target);
        }
    }
}
