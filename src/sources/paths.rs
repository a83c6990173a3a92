//! How paths are shown: relative to the working directory when below it, with `/` between the parts.

use std::path::{Component, Path};

/// The shown form of an absolute path.
pub(super) fn shown(path: &Path, working_directory: &Path) -> String {
    match path.strip_prefix(working_directory) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => joined(below),
        Err(_) => joined(path),
    }
}

fn joined(path: &Path) -> String {
    let mut shown = String::new();
    for component in path.components() {
        let part = match component {
            Component::RootDir => "/".into(),
            // Windows' verbatim prefix (`\\?\C:`) is of no use to a reader.
            Component::Prefix(prefix) => {
                prefix.as_os_str().to_string_lossy().trim_start_matches(r"\\?\").replace('\\', "/").into()
            }
            other => other.as_os_str().to_string_lossy(),
        };
        if !shown.is_empty() && !shown.ends_with('/') && part != "/" {
            shown.push('/');
        }
        shown.push_str(&part);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_the_working_directory_paths_are_relative() {
        let here = Path::new("/work/tree");
        assert_eq!(shown(Path::new("/work/tree/src/a.rs"), here), "src/a.rs");
        assert_eq!(shown(Path::new("/work/tree"), here), ".");
        assert_eq!(shown(Path::new("/work/treetop/a.rs"), here), "/work/treetop/a.rs");
        assert_eq!(shown(Path::new("/a.rs"), here), "/a.rs");
    }
}
