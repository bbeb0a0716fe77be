//! Finds the files that a text in Markdown links to.

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// The paths, relative to that of the text, of the files that links and images in it name: those of `CommonMark`, so that code and comments
/// have none. Links to other sites and to headings are left out. A path that leads out of the folder stays as it is written.
pub(crate) fn targets(markdown: &str) -> Vec<String> {
    // Otherwise `[^1]: Seasons` would be a link to "Seasons".
    let events = Parser::new_ext(markdown, Options::ENABLE_FOOTNOTES);
    let target = |event| match event {
        Event::Start(
            Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
        ) if link_type != LinkType::Email => file(&dest_url),
        _ => None,
    };
    events.filter_map(target).collect()
}

/// The path of the file that a reference names (RFC 3986), if it names one.
fn file(reference: &str) -> Option<String> {
    let written = reference.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = written.starts_with("//") || has_scheme(written);
    if written.is_empty() || is_elsewhere {
        return None;
    }
    let path = percent_decode_str(written).decode_utf8().ok()?;
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." if segments.pop().is_none() => return Some(path.into_owned()),
            ".." => {}
            _ => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

/// Whether a reference begins with the scheme of another address.
fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn links_are_those_of_markdown() {
        let cases: &[(&str, &[&str])] = &[
            // What is no link.
            ("`[a](a.md)`", &[]),
            ("``[a](a.md) ` ``", &[]),
            ("```md\n[a](a.md)\n```", &[]),
            ("~~~\n[a](a.md)\n~~~", &[]),
            ("- item\n\n      [a](a.md)", &[]),
            ("    [a](a.md)", &[]),
            ("<!-- [a](a.md) -->", &[]),
            ("<!--\n\n[a](a.md)\n\n-->\n", &[]),
            (r"\[a](a.md)", &[]),
            (r"[a\](a.md)", &[]),
            ("[a](a b.md)", &[]),
            ("[a] (a.md)", &[]),
            ("[a]: a.md", &[]),
            ("[a][b]", &[]),
            ("- [ ] (a.md)", &[]),
            ("[^1]\n\n[^1]: Seasons", &[]),
            ("<p title=\"[a](a.md)\">", &[]),
            // What names no file of the skill.
            ("[a](https://a.example/b.md)", &[]),
            ("[a](//a.example/b.md)", &[]),
            ("[a](mailto:a@b.example)", &[]),
            ("[a](tool:Weather.Forecast)", &[]),
            ("<https://a.example> <a@b.example>", &[]),
            ("[a](#b) [a]() [a](?b)", &[]),
            // Links, in every form.
            ("[a](a.md)", &["a.md"]),
            ("[a](./x/a.md#b)", &["x/a.md"]),
            ("[a](a.md?b)", &["a.md"]),
            ("[a](a.md \"title\")", &["a.md"]),
            ("[a](<a b.md> 'title')", &["a b.md"]),
            ("[a](<a(b.md>)", &["a(b.md"]),
            ("[a](a%20b.md)", &["a b.md"]),
            ("[a](%C3%A9.md) [a](é.md)", &["é.md", "é.md"]),
            ("[a](a%2520b.md)", &["a%20b.md"]),
            ("[a](100%.md)", &["100%.md"]),
            ("[a](a%23b.md)", &["a#b.md"]),
            ("[a](a%3Ab.md) [a](./a:b.md) [a](1:b.md)", &["a:b.md", "a:b.md", "1:b.md"]),
            ("[a](a(1).md)", &["a(1).md"]),
            (r"[a](a\(1.md)", &["a(1.md"]),
            ("[a](a&amp;b.md)", &["a&b.md"]),
            ("[a](\na.md\n)", &["a.md"]),
            ("[a][b] [b][] [b]\n\n[b]: <a b.md> (title)", &["a b.md"; 3]),
            ("[`a`](a.md) [**a**](b.md)", &["a.md", "b.md"]),
            ("![a](a.png) [![a](a.png)](b.md)", &["a.png", "b.md", "a.png"]),
            ("# [a](a.md)\n> - [b](b.md)", &["a.md", "b.md"]),
            ("| a |\n|---|\n| [a](a.md) |", &["a.md"]),
            ("<!-- --> [a](a.md)", &[]),
            ("a <!-- --> [a](a.md)", &["a.md"]),
            // Their paths.
            ("[a](x/../a.md) [a](x/./y/../a.md)", &["a.md", "x/a.md"]),
            ("[a](../a.md) [a](x/../../a.md)", &["../a.md", "x/../../a.md"]),
            ("[a](/a.md)", &["/a.md"]),
            ("[a](x/)", &["x/"]),
        ];
        for (markdown, expected) in cases {
            assert_eq!(targets(markdown), *expected, "{markdown}");
        }
    }
}
