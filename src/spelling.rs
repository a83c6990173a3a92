//! "Did you mean": the name that a mistyped one stands nearest to.

/// The name that a mistyped or shortened one most likely means.
pub fn nearest_name<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace('_', "-");
    let is_part = |name: &str| typed.len() >= 4 && name.contains(&typed);
    names
        .map(|name| (strsim::damerau_levenshtein(&typed, name), name))
        .filter(|(distance, name)| distance * 3 <= name.len().max(3) || is_part(name))
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_or_the_one_that_begins_so() {
        let names = ["unreadable-input", "fence"];
        assert_eq!(nearest_name("unreadable", names.into_iter()), Some("unreadable-input"));
        assert_eq!(nearest_name("unredable_input", names.into_iter()), Some("unreadable-input"));
        assert_eq!(nearest_name("zzz", names.into_iter()), None);
    }
}
