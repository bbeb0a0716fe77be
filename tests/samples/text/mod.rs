//! Text tools.

use toolbooth::{Context, ToolError};

use crate::types::text::{slugify_1, slugify_2};

/// Versions 1.x: ASCII letters and digits; 1.1.0 added `separator` and `max_length`.
pub(crate) async fn slugify_1(
    input: slugify_1::Input,
    _: &Context<'_>,
) -> Result<String, ToolError> {
    let words = input.text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    Ok(join(words, &input.separator, input.max_length).slug)
}

/// Version 2.0.0: keeps the letters and digits of every script, and reports whether the slug was truncated.
pub(crate) async fn slugify_2(
    input: slugify_2::Input,
    _: &Context<'_>,
) -> Result<slugify_2::Output, ToolError> {
    let words = input.text.split(|c: char| !c.is_alphanumeric()).map(lower_case);
    Ok(join(words, &input.separator, input.max_length))
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
fn join(
    words: impl Iterator<Item = String>,
    separator: &str,
    max_length: Option<u32>,
) -> slugify_2::Output {
    let max_length = max_length.map_or(usize::MAX, |most| most as usize);
    let mut slug = String::new();
    let mut length = 0;
    for word in words.filter(|word| !word.is_empty()) {
        if slug.is_empty() {
            slug.extend(word.chars().take(max_length));
            length = slug.chars().count();
            if slug != word {
                return slugify_2::Output { slug, truncated: true };
            }
            continue;
        }
        length += separator.chars().count() + word.chars().count();
        if length > max_length {
            return slugify_2::Output { slug, truncated: true };
        }
        slug.push_str(separator);
        slug.push_str(&word);
    }
    slugify_2::Output { slug, truncated: false }
}
