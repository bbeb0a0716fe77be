//! Scopes: the words that a caller's credentials carry and a tool's definition asks for.

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scopes {
    /// Everything.
    All,
    /// What these words stand for.
    Listed(Vec<String>),
}

/// No scope at all.
pub(crate) static NONE: Scopes = Scopes::Listed(Vec::new());

impl Scopes {
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
