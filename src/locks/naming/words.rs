//! Names cut into words. What the words mean is told elsewhere.

/// Words that are written together in names that are folded to lower case.
const VOCABULARY: &[&str] = &[
    "fencing",
    "fence",
    "token",
    "lock",
    "locked",
    "lease",
    "leased",
    "claim",
    "claimed",
    "version",
    "owner",
    "holder",
    "until",
    "expires",
    "at",
    "by",
    "last",
    "epoch",
    "updated",
    "row",
    "leader",
    "heartbeat",
    "attempt",
];

/// The words of a name in lower case.
pub fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut last_lower = false;
    for c in name.chars() {
        let breaks = !c.is_alphanumeric() || (c.is_uppercase() && last_lower);
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.into_iter().flat_map(|w| segmented(&w).unwrap_or_else(|| vec![w])).collect()
}

/// `fencingtoken` as two words, when all of it is made of words we know.
fn segmented(word: &str) -> Option<Vec<String>> {
    if word.len() < 8 || word.len() > 40 || VOCABULARY.contains(&word) {
        return None;
    }
    let mut best: Vec<Option<Vec<String>>> = vec![None; word.len() + 1];
    best[0] = Some(Vec::new());
    for at in 0..word.len() {
        let Some(done) = best[at].clone() else { continue };
        for next in VOCABULARY {
            let fits = word.get(at..).is_some_and(|rest| rest.starts_with(next));
            if fits && best[at + next.len()].is_none() {
                let mut list = done.clone();
                list.push((*next).to_owned());
                best[at + next.len()] = Some(list);
            }
        }
    }
    best.pop().flatten().filter(|list| list.len() > 1)
}

pub(super) fn has(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|w| list.contains(&w.as_str()))
}

/// Whether a word of the first list stands right before a word of the second.
pub(super) fn pair(words: &[String], first: &[&str], second: &[&str]) -> bool {
    words.windows(2).any(|w| first.contains(&w[0].as_str()) && second.contains(&w[1].as_str()))
}
