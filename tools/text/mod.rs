//! Text tools.

use serde::{Deserialize, Serialize};
use toolbooth::{Context, ToolError};

#[derive(Deserialize)]
pub(crate) struct Slugify {
    text: String,
    #[serde(default = "hyphen")]
    separator: String,
    #[serde(default)]
    max_length: Option<usize>,
}

fn hyphen() -> String {
    "-".to_owned()
}

#[derive(Serialize)]
pub(crate) struct Slug {
    slug: String,
    truncated: bool,
}

/// Versions 1.x: ASCII letters and digits; 1.1.0 added `separator` and `max_length`.
pub(crate) async fn slugify_1(input: Slugify, _: &Context<'_>) -> Result<String, ToolError> {
    let words = input.text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    Ok(join(words, &input).slug)
}

/// Version 2.0.0: keeps the letters and digits of every script, and reports whether the slug was truncated.
pub(crate) async fn slugify_2(input: Slugify, _: &Context<'_>) -> Result<Slug, ToolError> {
    let words = input.text.split(|c: char| !c.is_alphanumeric()).map(lower_case);
    Ok(join(words, &input))
}

/// Converts to lower case. `str::to_lowercase` would add 5 KB to the bundle.
fn lower_case(word: &str) -> String {
    let mut lower: String = word.chars().flat_map(char::to_lowercase).collect();
    // Sigma is the only letter with a different form at the end of a word.
    if word.len() > 'Σ'.len_utf8() && word.ends_with('Σ') {
        lower.pop();
        lower.push('ς');
    }
    lower
}

/// Joins words while they fit. A first word that is too long is truncated.
fn join(words: impl Iterator<Item = String>, input: &Slugify) -> Slug {
    let max_length = input.max_length.unwrap_or(usize::MAX);
    let mut slug = String::new();
    let mut length = 0;
    for word in words.filter(|word| !word.is_empty()) {
        if slug.is_empty() {
            slug.extend(word.chars().take(max_length));
            length = slug.chars().count();
            if slug != word {
                return Slug { slug, truncated: true };
            }
            continue;
        }
        length += input.separator.chars().count() + word.chars().count();
        if length > max_length {
            return Slug { slug, truncated: true };
        }
        slug.push_str(&input.separator);
        slug.push_str(&word);
    }
    Slug { slug, truncated: false }
}
