//! From the bytes of a file to a text, or to the reason why it is none.
//!
//! Knows nothing of what the text means.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Files above this are not read: no source is that large, and data that is would only cost time.
pub const SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// Why a file that was found is not a text.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("there is no such file (any more)")]
    Vanished,
    #[error("the file cannot be read: {0}")]
    Io(io::Error),
    #[error("the file is larger than {} MiB", SIZE_LIMIT / (1024 * 1024))]
    TooLarge,
    #[error("the file is UTF-16, not UTF-8")]
    Utf16,
    #[error("the file is not UTF-8: byte 0x{byte:02X} at offset {offset} belongs to no character")]
    NotUtf8 {
        offset: usize,
        byte: u8,
        /// The text with `?` for each byte that belongs to no character, so that offsets stay true.
        legible: String,
    },
}

impl ReadError {
    pub fn help(&self) -> String {
        match self {
            Self::Vanished => "run again when nothing else writes to the tree".to_owned(),
            Self::Io(_) => "make the file readable, or add it to `.ignore`".to_owned(),
            Self::TooLarge => "split the file, or add it to `.ignore` if it is data".to_owned(),
            Self::Utf16 => "convert it: `iconv -f UTF-16 -t UTF-8`".to_owned(),
            Self::NotUtf8 { .. } => {
                "convert the file to UTF-8 (from Latin-1: `iconv -f ISO-8859-1 -t UTF-8`)".to_owned()
            }
        }
    }

    /// The byte that the trouble starts at.
    pub fn offset(&self) -> usize {
        match self {
            Self::NotUtf8 { offset, .. } => *offset,
            _ => 0,
        }
    }
}

/// Reads a whole file as UTF-8. A byte-order mark stays in the text.
pub fn read_text(path: &Path) -> Result<String, ReadError> {
    let file = File::open(path).map_err(from_io)?;
    let expected = file.metadata().map_or(0, |metadata| metadata.len());
    if expected > SIZE_LIMIT {
        return Err(ReadError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
    // The length may be out of date, or no length at all, so the reading itself is limited as well.
    file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(from_io)?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(ReadError::TooLarge);
    }
    decode(bytes)
}

/// Reads what an editor holds of a file.
pub fn read_unsaved(input: &mut dyn Read) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    input.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(from_io)?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(ReadError::TooLarge);
    }
    decode(bytes)
}

fn from_io(error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::Vanished,
        _ => ReadError::Io(error),
    }
}

fn decode(bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(ReadError::Utf16);
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.into_bytes();
        let byte = bytes.get(offset).copied().unwrap_or(0);
        ReadError::NotUtf8 { offset, byte, legible: legible(&bytes) }
    })
}

fn legible(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_byte_is_told_with_its_offset_and_the_rest_stays_legible() {
        let error = decode(b"-- Gr\xFC\xDFe\nSELECT 1".to_vec()).unwrap_err();
        assert_eq!(error.offset(), 5);
        let ReadError::NotUtf8 { byte, legible, .. } = error else { panic!("{error}") };
        assert_eq!(byte, 0xFC);
        assert_eq!(legible, "-- Gr??e\nSELECT 1");
    }

    #[test]
    fn a_byte_order_mark_stays_and_utf_16_is_named() {
        assert_eq!(decode(b"\xEF\xBB\xBFfn".to_vec()).unwrap(), "\u{feff}fn");
        assert!(matches!(decode(b"\xFF\xFEf\0n\0".to_vec()), Err(ReadError::Utf16)));
        assert!(matches!(decode(b"\xFE\xFF\0f\0n".to_vec()), Err(ReadError::Utf16)));
    }

    #[test]
    fn empty_text_and_nul_bytes_are_fine() {
        assert_eq!(decode(Vec::new()).unwrap(), "");
        assert_eq!(decode(b"a\0b".to_vec()).unwrap(), "a\0b");
    }

    #[test]
    fn a_file_that_vanishes_is_told_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let error = read_text(&folder.path().join("gone.rs")).unwrap_err();
        assert!(matches!(error, ReadError::Vanished));
        assert!(!error.help().is_empty());
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_is_an_error_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(read_text(folder.path()), Err(ReadError::Io(_))));
    }

    #[test]
    fn a_file_above_the_limit_is_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.sql");
        File::create(&path).unwrap().set_len(SIZE_LIMIT + 1).unwrap();
        assert!(matches!(read_text(&path), Err(ReadError::TooLarge)));
        File::create(&path).unwrap().set_len(SIZE_LIMIT).unwrap();
        assert_eq!(read_text(&path).unwrap().len() as u64, SIZE_LIMIT);
    }
}
