//! Who sent a request, and the scopes that their credentials carry.

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scopes {
    /// Everything.
    All,
    /// These.
    Listed(Vec<String>),
}

impl Scopes {
    /// No scope at all.
    pub const NONE: Self = Self::Listed(Vec::new());

    /// Parses scopes; `*` among them means all. `None` if one of them is not a scope.
    pub(crate) fn read<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let words: Vec<_> =
            words.map(|word| is_scope(word).then(|| word.to_owned())).collect::<Option<_>>()?;
        let all = words.iter().any(|word| word == "*");
        Some(if all { Self::All } else { Self::Listed(words) })
    }

    /// Whether they include all of `required`.
    pub fn cover(&self, required: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Listed(listed) => {
                required.iter().all(|needed| listed.iter().any(|scope| scope == needed))
            }
        }
    }
}

/// Whether `text` can be a scope: printable ASCII without space, `"` and `\` (RFC 6749, 3.3).
pub fn is_scope(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(plain)
}

/// Who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Principal {
    /// A caller without credentials.
    Anonymous {
        /// What such a caller may do.
        scopes: Scopes,
    },
    /// The holder of an API key.
    Key {
        /// The key's name.
        name: String,
        /// What it may do.
        scopes: Scopes,
    },
    /// A user, identified by a token.
    User {
        /// A hash of the kind of signature and of `iss`: the same subject from another issuer is
        /// another user.
        issuer: String,
        /// The token's `sub`, if it has one.
        subject: Option<String>,
        /// What the token permits.
        scopes: Scopes,
    },
}

impl Principal {
    /// A caller without credentials and without scopes.
    pub const ANONYMOUS: Self = Self::Anonymous { scopes: Scopes::NONE };

    /// What the caller may do.
    pub fn scopes(&self) -> &Scopes {
        let (Self::Anonymous { scopes } | Self::Key { scopes, .. } | Self::User { scopes, .. }) =
            self;
        scopes
    }
}

/// A request names a different user than its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserMismatch;

impl UserMismatch {
    /// What the request must do, for the client.
    pub(crate) const MESSAGE: &str = "user_id must match the token's `sub`, or be absent";
}

impl Principal {
    /// The user on whose behalf a request is made: the token's, else the one that the request names.
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
