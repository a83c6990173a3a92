//! Writing a report to a file so that nobody ever reads half of one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

/// Writes beside the file and renames, so that an old report stands until the new one is whole. A pipe or a
/// device is written to as it is.
pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        // One that leads nowhere, or to itself, says that something is not as it should be.
        Err(error) if path.is_symlink() => return Err(error),
        Err(_) => path.to_owned(),
    };
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file in it"));
        }
        Ok(found) if !found.is_file() => {
            let mut device = OpenOptions::new().write(true).open(&target)?;
            return closed_pipe_is_quiet(device.write_all(content).and_then(|()| device.flush()));
        }
        _ => {}
    }
    let beside = temporary_name(&target)?;
    let written = write_new(&beside, content)
        .and_then(|()| keep_permissions(&target, &beside))
        .and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        // What is half written is of no use; that it cannot be removed is not the error to tell.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn closed_pipe_is_quiet(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// What may be done with a file stays as it was.
fn keep_permissions(old: &Path, new: &Path) -> io::Result<()> {
    match fs::metadata(old) {
        Ok(found) => fs::set_permissions(new, found.permissions()),
        Err(_) => Ok(()),
    }
}

/// In the same folder, since a file cannot be renamed from one file system to another.
fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", process::id()));
    Ok(path.with_file_name(hidden))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_replaces_the_old_one_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        write(&path, b"old").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_an_error_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write(folder.path(), b"x").unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert!(write(&folder.path().join("no/such/folder"), b"x").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        for to in ["itself", "nowhere"] {
            let link = folder.path().join("itself");
            std::os::unix::fs::symlink(to, &link).unwrap();
            assert!(write(&link, b"new").is_err(), "{to}");
            assert!(link.is_symlink());
            fs::remove_file(&link).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_device_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
