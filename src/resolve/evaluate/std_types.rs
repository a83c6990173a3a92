//! Types of the standard library and of common crates that are no connection to any store, whatever their
//! methods are called.

/// Whether a type of this name is one of these.
pub(super) fn is_std_type(name: &str) -> bool {
    matches!(
        name,
        "HashMap"
            | "BTreeMap"
            | "HashSet"
            | "BTreeSet"
            | "Vec"
            | "VecDeque"
            | "String"
            | "str"
            | "IndexMap"
            | "DashMap"
            | "LruCache"
            | "Map"
            | "Value"
            | "HeaderMap"
            | "Extensions"
            | "Headers"
            | "Url"
            | "File"
            | "Path"
            | "PathBuf"
            | "Cell"
            | "AtomicBool"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "i32"
            | "i64"
            | "usize"
            | "bool"
            | "char"
            | "Duration"
            | "Instant"
            | "SystemTime"
            | "Cache"
            | "Entry"
            | "Slice"
    )
}
