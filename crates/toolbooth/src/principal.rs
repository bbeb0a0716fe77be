//! The authenticated caller of a request, and the scopes of its credentials.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;

/// The scope of the chat gateway. Each use costs the operator money, so people have it only if a rule names it.
pub const GATEWAY_SCOPE: &str = "gateway";

/// The scope of those who may see what all callers have used.
pub const USAGE_SCOPE: &str = "usage";

/// The scope of members of a team who may see what the team and its API keys have used.
pub const TEAM_USAGE_SCOPE: &str = "usage:team";

/// The scopes of a caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scopes {
    /// All scopes.
    All,
    /// These scopes.
    Listed(Vec<String>),
}

impl Scopes {
    /// No scope at all.
    pub const NONE: Self = Self::Listed(Vec::new());

    /// Parses scopes; `*` means all. `None` if a word is not a valid scope.
    pub fn read(words: Vec<String>) -> Option<Self> {
        let all = words.iter().any(|word| word == "*");
        let is_valid = words.iter().all(|word| is_scope(word));
        is_valid.then_some(if all { Self::All } else { Self::Listed(words) })
    }

    /// Those of these scopes that `others` include too.
    #[must_use]
    pub fn within(&self, others: &Self) -> Self {
        match (self, others) {
            (scopes, Self::All) | (Self::All, scopes) => scopes.clone(),
            (Self::Listed(listed), _) => {
                let both = listed.iter().filter(|scope| others.cover(&[scope]));
                Self::Listed(both.cloned().collect())
            }
        }
    }

    /// Whether these scopes include all of `required`.
    pub fn cover(&self, required: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Listed(listed) => {
                required.iter().all(|needed| listed.iter().any(|scope| scope == needed))
            }
        }
    }
}

/// Whether `text` is a valid scope: printable ASCII without space, `"` and `\` (RFC 6749, 3.3).
pub fn is_scope(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(plain)
}

/// The grant of a token that the server itself has issued. It must still hold when a call goes on as a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnGrant {
    /// Its id.
    pub id: String,
    /// Who holds it, in a form that only [`TokenHolders`](crate::auth::TokenHolders) read.
    pub holder: String,
}

/// The SHA-256 of an API key's text. It is not shown, because that of a short key reveals the key.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyHash(pub [u8; 32]);

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// Who sent a request. A new kind is a breaking change: code that decides by it must know all. As JSON, it
/// has no budgets, because what is serialized has been counted, and no hash and no grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Principal {
    /// A caller without credentials.
    Anonymous {
        /// The scopes of anonymous callers.
        scopes: Scopes,
    },
    /// The holder of an API key.
    Key {
        /// The key's name.
        name: String,
        /// The key's scopes.
        scopes: Scopes,
        /// The hash of the key that was sent: an entry of `API_KEYS` can have two.
        #[serde(skip)]
        hash: Option<KeyHash>,
        /// The grant of the token that the holder has sent instead of the key, if it did: one that this server issued.
        #[serde(skip)]
        grant: Option<Arc<OwnGrant>>,
    },
    /// A user, identified by a token.
    User {
        /// A hash of the kind of signature and of `iss`, because the same subject of another issuer is another
        /// user.
        issuer: String,
        /// The token's `sub`, if it has one.
        subject: Option<String>,
        /// The token's scopes.
        scopes: Scopes,
        /// The name of the client that got the token, if this server issued it.
        client: Option<String>,
        /// How the log names that client: see [`Principal::client_ref`].
        client_ref: Option<String>,
        /// The rule by which the person has signed in to this server, if it has limits: its index in
        /// `Settings::rule_limits`.
        rule: Option<usize>,
        /// How much the person may use, if a rule by which they have signed in to this server says so.
        #[serde(skip)]
        budgets: Vec<Budget>,
        /// The tenant that the token names, if `TENANTS` has it.
        tenant: Option<String>,
        /// The team of the person, if a rule of `TEAMS` by which they have signed in to this server says so: its index in
        /// `Settings::teams`.
        team: Option<usize>,
        /// The name of the entry of `API_KEYS` that acts for the user, if one does (RFC 8693).
        actor: Option<String>,
        /// The grant of the token, if this server issued it.
        #[serde(skip)]
        grant: Option<Arc<OwnGrant>>,
    },
}

impl Principal {
    /// A caller without credentials and without scopes.
    pub const ANONYMOUS: Self = Self::Anonymous { scopes: Scopes::NONE };

    /// The user `subject` of an issuer, of whom nothing else is known.
    pub fn user_of(issuer: &str, subject: &str, scopes: Scopes) -> Self {
        Self::User {
            issuer: issuer.to_owned(),
            subject: Some(subject.to_owned()),
            scopes,
            client: None,
            client_ref: None,
            rule: None,
            budgets: Vec::new(),
            tenant: None,
            team: None,
            actor: None,
            grant: None,
        }
    }

    /// The holder of an API key, which was not sent.
    pub fn key(name: impl Into<String>, scopes: Scopes) -> Self {
        Self::Key { name: name.into(), scopes, hash: None, grant: None }
    }

    /// What tells callers apart: how they authenticate, and who they are.
    pub fn identity(&self) -> (&'static str, [Option<&str>; 2]) {
        match self {
            Self::Anonymous { .. } => ("none", [None, None]),
            Self::Key { name, .. } => ("key", [Some(name), None]),
            Self::User { issuer, subject, .. } => ("user", [Some(issuer), subject.as_deref()]),
        }
    }

    /// The scopes that the caller has besides `required`, for a challenge: some clients ask for no others than a challenge names, so
    /// that their new token would lack what the old one had (MCP, "Step-Up Authorization Flow"). None of callers without credentials,
    /// and none that is not written as a scope.
    pub fn scopes_beside(&self, required: &[&str]) -> Vec<String> {
        match (self, self.scopes()) {
            (Self::Anonymous { .. }, _) | (_, Scopes::All) => Vec::new(),
            (_, Scopes::Listed(listed)) => {
                let is_other = |it: &&String| is_scope(it) && !required.contains(&it.as_str());
                listed.iter().filter(is_other).cloned().collect()
            }
        }
    }

    /// The caller's scopes.
    pub fn scopes(&self) -> &Scopes {
        let (Self::Anonymous { scopes } | Self::Key { scopes, .. } | Self::User { scopes, .. }) =
            self;
        scopes
    }
}

/// What precedes the name of the key in the `sub` of a person who has signed in with an API key.
pub const KEY_SUBJECT: &str = "api-key:";

/// A person who has signed in to the server with a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name that they know their account by.
    pub label: String,
    /// How tokens name them: the `issuer` and the `subject` of [`Principal::User`], that of this server first.
    pub subjects: Vec<(String, String)>,
    /// The scopes that they can give to clients of this server.
    pub scopes: Scopes,
}

impl Person {
    /// The scopes that tokens of an issuer can have, if it is this server.
    pub fn scopes_of(&self, issuer: &str) -> Option<&Scopes> {
        let (own, _) = self.subjects.first()?;
        (own == issuer).then_some(&self.scopes)
    }
}

/// A request names a different user than its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserMismatch;

impl UserMismatch {
    /// The message for the client.
    pub const MESSAGE: &str = "user_id must match the token's `sub`, or be absent";
}

impl Principal {
    /// Whether signing in can give the caller further scopes. Those of an API key are what they are.
    pub(crate) fn can_sign_in(&self) -> bool {
        !matches!(self, Self::Key { grant: None, .. })
    }

    /// The name of the client that acts for a user, if the server knows it.
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::User { client, .. } => client.as_deref(),
            Self::Anonymous { .. } | Self::Key { .. } => None,
        }
    }

    /// The name of the entry of `API_KEYS` that acts for a user, if one does.
    pub fn actor(&self) -> Option<&str> {
        match self {
            Self::User { actor, .. } => actor.as_deref(),
            Self::Anonymous { .. } | Self::Key { .. } => None,
        }
    }

    /// The grant of the token that the caller has sent, if this server issued it.
    pub(crate) fn grant(&self) -> Option<&OwnGrant> {
        match self {
            Self::Key { grant, .. } | Self::User { grant, .. } => grant.as_deref(),
            Self::Anonymous { .. } => None,
        }
    }

    /// How the log names the client that acts for a user, if the server knows it: by the id that the operator has registered, or by a
    /// hash of its id.
    pub fn client_ref(&self) -> Option<&str> {
        match self {
            Self::User { client_ref, .. } => client_ref.as_deref(),
            Self::Anonymous { .. } | Self::Key { .. } => None,
        }
    }

    /// The user on whose behalf a request is made: the token's subject, otherwise the user that the request names.
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
