//! A file that holds what this build has written, whole: anything else is no file of ours.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::fingerprint::checksum;

const MAGIC: &[u8] = b"leaselint cache\n";
const BUILD: &[u8] = env!("LEASELINT_BUILD").as_bytes();
const HEADER: usize = MAGIC.len() + BUILD.len() + size_of::<u64>();

/// What is in it; `None` for what is torn, of another build, or not there.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = fs::read(path).ok()?;
    let header = bytes.get(..HEADER)?;
    let (name, sum) = header.split_at(MAGIC.len() + BUILD.len());
    let sum = u64::from_le_bytes(sum.try_into().ok()?);
    let is_ours = name.strip_prefix(MAGIC) == Some(BUILD) && checksum(&bytes[HEADER..]) == sum;
    is_ours.then(|| bytes.split_off(HEADER))
}

/// Replaces the file in one step, so that nobody ever reads half of it. Says how much was written.
pub(super) fn write(path: &Path, content: &[u8]) -> Option<u64> {
    let folder = path.parent()?;
    fs::create_dir_all(folder).ok()?;
    let mut file = tempfile::NamedTempFile::new_in(folder).ok()?;
    for part in [MAGIC, BUILD, &checksum(content).to_le_bytes(), content] {
        file.write_all(part).ok()?;
    }
    file.persist(path).ok()?;
    Some((HEADER + content.len()) as u64)
}
