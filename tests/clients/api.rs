//! The names that the sources of a crate make public: functions with the type that has them, types, variants of
//! enums. It reads tokens, since many clients write their API inside macros; whether a module is exported is
//! not looked at.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ignore::WalkBuilder;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// How deep blocks are searched; no API stands deeper.
const DEPTH: usize = 12;

#[derive(Debug, Default)]
pub(crate) struct Api {
    pub(crate) functions: BTreeSet<String>,
    pub(crate) types: BTreeSet<String>,
    /// `Type::function` and `Enum::Variant`.
    pub(crate) members: BTreeSet<String>,
}

/// What a block belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Around {
    Module,
    /// Everything in it is as public as the trait.
    Trait(String),
    Type(String),
    /// The body of a macro call or definition, which may add its own `pub`.
    Macro,
}

impl Api {
    /// Adds what stands in the `.rs` files below a folder.
    pub(crate) fn add(&mut self, folder: &Path) {
        let walk = WalkBuilder::new(folder.join("src")).standard_filters(false).build();
        for entry in walk.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "rs")) {
            let Ok(text) = fs::read_to_string(entry.path()) else { continue };
            if let Ok(tokens) = text.parse::<TokenStream>() {
                self.block(tokens, &Around::Module, 0);
            }
        }
    }

    fn block(&mut self, tokens: TokenStream, around: &Around, depth: usize) {
        if depth > DEPTH {
            return;
        }
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut start = 0; // of the item that the tokens at hand belong to
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ';' => start = at + 1,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let inside = self.item(&tokens[start..at], around);
                    if is_enum(&tokens[start..at])
                        && let Around::Type(name) = &inside
                    {
                        self.variants(name, group.stream());
                    }
                    self.block(group.stream(), &inside, depth + 1);
                    start = at + 1;
                }
                TokenTree::Group(group)
                    if matches!(around, Around::Macro) || is_macro(&tokens[start..at]) =>
                {
                    self.block(group.stream(), &Around::Macro, depth + 1);
                }
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
                        && is_public(&tokens[start..at], around)
                    {
                        self.function(&name.to_string(), around);
                    }
                }
                TokenTree::Ident(word) if word == "struct" || word == "type" || word == "enum" => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(at + 1) {
                        self.types.insert(name.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, name: &str, around: &Around) {
        self.functions.insert(name.to_owned());
        if let Around::Type(owner) | Around::Trait(owner) = around {
            self.members.insert(format!("{owner}::{name}"));
        }
    }

    /// What the block behind these tokens is.
    fn item(&mut self, head: &[TokenTree], around: &Around) -> Around {
        let words: Vec<String> = head.iter().map(ToString::to_string).collect();
        let behind = |word: &str| {
            let at = words.iter().position(|other| other == word)?;
            words.get(at + 1).cloned()
        };
        if let Some(name) = behind("trait") {
            self.types.insert(name.clone());
            return Around::Trait(name);
        }
        if let Some(name) = behind("enum") {
            return Around::Type(name);
        }
        if words.iter().any(|word| word == "impl") && !words.iter().any(|word| word == "fn") {
            let owner = implementing(&words);
            return if words.iter().any(|word| word == "for") {
                Around::Trait(owner)
            } else {
                Around::Type(owner)
            };
        }
        if is_macro(head) || *around == Around::Macro { Around::Macro } else { Around::Module }
    }

    fn variants(&mut self, name: &str, body: TokenStream) {
        let mut fresh = true;
        for token in body {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ',' => fresh = true,
                TokenTree::Ident(variant) if fresh => {
                    self.members.insert(format!("{name}::{variant}"));
                    fresh = false;
                }
                _ => {}
            }
        }
    }
}

/// The type of `impl<…> Trait for Type<…> where …`.
fn implementing(words: &[String]) -> String {
    let mut angles = 0i32;
    let mut name = String::new();
    for word in words {
        match word.as_str() {
            "<" => angles += 1,
            ">" => angles -= 1,
            "where" => break,
            _ if angles == 0 && word.starts_with(char::is_alphabetic) => name.clone_from(word),
            _ => {}
        }
    }
    name
}

fn is_enum(head: &[TokenTree]) -> bool {
    head.iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "enum"))
}

fn is_macro(head: &[TokenTree]) -> bool {
    head.iter().any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!'))
}

/// `pub fn`, and what a trait or a macro makes public; `pub(crate)` is not.
fn is_public(head: &[TokenTree], around: &Around) -> bool {
    if matches!(around, Around::Trait(_) | Around::Macro) {
        return true;
    }
    head.windows(2).any(|pair| {
        let is_pub = matches!(&pair[0], TokenTree::Ident(word) if word == "pub");
        is_pub && !matches!(&pair[1], TokenTree::Group(_))
    }) || matches!(head.last(), Some(TokenTree::Ident(word)) if word == "pub")
}
