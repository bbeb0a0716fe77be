//! Who sent a request, and the scopes that their credentials carry.

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
    pub(crate) fn read<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
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

/// Who sent the request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Principal {
    /// Nobody in particular: the server asks for no credentials, and none were sent.
    Anonymous {
        /// What such a request may do.
        scopes: Scopes,
    },
    /// Who has an API key.
    Key {
        /// The key's name.
        name: String,
        /// What it may do.
        scopes: Scopes,
    },
    /// A user, by a token.
    User {
        /// Stands for who says so: the kind of signature and `iss`, hashed. The same subject of
        /// another issuer is another user.
        issuer: String,
        /// The token's `sub`, if it has one.
        subject: Option<String>,
        /// What the token lets its bearer do.
        scopes: Scopes,
    },
}

impl Principal {
    /// Nobody in particular, without any scope.
    pub const ANONYMOUS: Self = Self::Anonymous { scopes: Scopes::NONE };

    /// What the caller may do.
    pub fn scopes(&self) -> &Scopes {
        let (Self::Anonymous { scopes } | Self::Key { scopes, .. } | Self::User { scopes, .. }) =
            self;
        scopes
    }
}

/// A request names another user than the token that it came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserMismatch;

impl Principal {
    /// The user for whom a request is: the one of the token, else the one that the request names.
    ///
    /// # Errors
    /// [`UserMismatch`].
    pub fn user<'a>(&'a self, named: Option<&'a str>) -> Result<Option<&'a str>, UserMismatch> {
        let named = named.filter(|user| !user.is_empty());
        match (self, named) {
            (Self::User { subject: Some(subject), .. }, None) => Ok(Some(subject)),
            (Self::User { subject: Some(subject), .. }, Some(named)) if named != subject => {
                Err(UserMismatch)
            }
            (_, named) => Ok(named),
        }
    }
}
