//! Files as editors name them, `file:///home/me/a%20b.rs`, and the paths that they mean.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;

/// The path of a file; `None` for what is no file on this machine, such as a text that has no name yet.
pub(super) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let decoded = decoded(path.split(['?', '#']).next().unwrap_or(path))?;
    Some(PathBuf::from(without_drive_slash(decoded)))
}

/// The path as the system resolves it. The last part of it need not exist.
pub(super) fn to_resolved_path(uri: &Uri) -> Option<PathBuf> {
    let path = to_path(uri)?;
    fs::canonicalize(&path)
        .ok()
        .or_else(|| Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?)))
}

pub(super) fn from_path(path: &Path) -> Uri {
    let mut uri = String::from("file://");
    for byte in written(path) {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri(uri)
}

fn decoded(path: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    to_os_string(bytes)
}

#[cfg(unix)]
fn to_os_string(bytes: Vec<u8>) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn to_os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

#[cfg(unix)]
fn without_drive_slash(path: OsString) -> OsString {
    path
}

/// `/c:/a` is written for `c:/a`.
#[cfg(not(unix))]
fn without_drive_slash(path: OsString) -> OsString {
    match path.to_str().and_then(|text| text.strip_prefix('/')) {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.into(),
        _ => path,
    }
}

#[cfg(unix)]
fn written(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// With `/`, and without what Windows puts in front of a resolved path.
#[cfg(not(unix))]
fn written(path: &Path) -> Vec<u8> {
    let text = path.to_string_lossy().replace('\\', "/");
    let text = text.strip_prefix("//?/").unwrap_or(&text);
    format!("/{text}").into_bytes()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn path(uri: &str) -> Option<PathBuf> {
        to_path(&Uri(uri.to_owned()))
    }

    #[test]
    fn a_path_comes_back_from_its_uri() {
        for text in ["/a b/ü%.rs", "/a/[x]/c:d.sql", "/"] {
            assert_eq!(to_path(&from_path(Path::new(text))).as_deref(), Some(Path::new(text)));
        }
        assert_eq!(from_path(Path::new("/a b/ü.rs")).0, "file:///a%20b/%C3%BC.rs");
    }

    #[test]
    fn forms_of_other_programs_are_read_and_what_is_no_file_is_none() {
        assert_eq!(path("file://localhost/a%2Db.rs"), Some("/a-b.rs".into()));
        assert_eq!(path("file:///a.rs#L3"), Some("/a.rs".into()));
        for none in [
            "untitled:Untitled-1",
            "file://server/share/a.rs",
            "http://a/b",
            "file:///a%2",
            "file:///a%zz",
            "",
        ] {
            assert_eq!(path(none), None, "{none}");
        }
    }
}
