//! Scopes: the words that a caller's credentials carry and a tool's definition asks for.

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scopes {
    /// Everything.
    All,
    /// What these words stand for.
    Listed(Vec<String>),
}

impl Scopes {
    /// No scope at all.
    pub const NONE: Self = Self::Listed(Vec::new());

    /// The scopes of these words; `*` among them means all. `None` if one is not a scope.
    pub(super) fn read<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let words: Vec<_> =
            words.map(|word| is_scope(word).then(|| word.to_owned())).collect::<Option<_>>()?;
        let all = words.iter().any(|word| word == "*");
        Some(if all { Self::All } else { Self::Listed(words) })
    }

    /// Whether all of the `required` ones are here.
    pub fn cover(&self, required: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Listed(listed) => {
                required.iter().all(|wanted| listed.iter().any(|scope| scope == wanted))
            }
        }
    }
}

/// Whether `text` can be a scope: printable ASCII without space, `"` and `\` (RFC 6749, 3.3).
pub fn is_scope(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(plain)
}
