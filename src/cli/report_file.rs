//! Writing a report to a file so that nobody ever reads half of one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes beside the file and renames, so that an old report stands until the new one is whole. A pipe or a
/// device is written to as it is.
pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file in it"));
        }
        Ok(found) if !found.is_file() => {
            let mut device = OpenOptions::new().write(true).open(path)?;
            return closed_pipe_is_quiet(device.write_all(content).and_then(|()| device.flush()));
        }
        _ => {}
    }
    // Who has written the checked tree must not choose which file of this user is overwritten.
    if path.is_symlink() {
        let reason = "it is a symbolic link; name the file that it leads to, or remove the link";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let mut beside = beside(path)?;
    beside.write_all(content)?;
    beside.as_file().sync_all()?;
    keep_permissions(path, beside.path())?;
    beside.persist(path).map(drop).map_err(|error| error.error)
}

/// In the same folder, since a file cannot be renamed from one file system to another. It is gone when it is dropped.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&hidden).suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        // As for any new file, the user's mask has the last word.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
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
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&file, b"old").unwrap();
        for to in ["real", "link", "nowhere"] {
            std::os::unix::fs::symlink(to, &link).unwrap();
            let told = write(&link, b"new").unwrap_err().to_string();
            assert!(to != "real" || told.contains("symbolic link"), "{told}");
            assert!(link.is_symlink());
            fs::remove_file(&link).unwrap();
        }
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to_and_modes_are_those_of_files() {
        use std::os::unix::fs::PermissionsExt;

        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let folder = tempfile::tempdir().unwrap();
        let (plain, report) = (folder.path().join("plain"), folder.path().join("report"));
        fs::write(&plain, b"").unwrap();
        write(&report, b"").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&plain), mode(&report));
        fs::set_permissions(&report, fs::Permissions::from_mode(0o600)).unwrap();
        write(&report, b"again").unwrap();
        assert_eq!(mode(&report) & 0o777, 0o600);
    }
}
