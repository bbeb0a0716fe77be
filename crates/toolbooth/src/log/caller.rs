//! Hashes of users, so that the log does not contain their ids.

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use crate::seal::{StateKeys, TokenPurpose};
use crate::settings::Settings;

/// The characters of a hash, 96 bits: too many for two users to have the same one.
const LENGTH: usize = 16;

/// Hashes users: with `STATE_KEY` if it is set, because anyone can hash an email address and look for it.
#[derive(Debug, Clone)]
pub(super) struct CallerHash {
    keys: Option<StateKeys>,
}

impl CallerHash {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { keys: settings.state_keys.as_ref().map(StateKeys::new) }
    }

    /// The hash of a user: 16 characters.
    pub(super) fn hash(&self, issuer: &str, subject: &str) -> String {
        let mut hash = self.whole(issuer, subject);
        hash.truncate(LENGTH);
        hash
    }

    fn whole(&self, issuer: &str, subject: &str) -> String {
        if let Some(keys) = &self.keys {
            return keys.hash(TokenPurpose::CALLER, &[issuer, subject]);
        }
        // The issuer is a hash itself, and its length is fixed.
        let digest = Sha256::new().chain_update(issuer).chain_update(subject).finalize();
        Base64UrlUnpadded::encode_string(&digest)
    }
}
