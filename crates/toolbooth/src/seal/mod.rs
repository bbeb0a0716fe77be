//! Sealed state: encrypted tokens that expire, keyed hashes, and their keys. So the server keeps its state with clients.
//!
//! - `cipher`: the encryption, and the keys of what the store has; `mac`: the keys that sign;
//! - `sealed_token`: tokens and hashes; `state_keys`: the keys for them, current and previous;
//! - `request_state`: requests that continue when their client has asked the user.

mod cipher;
mod mac;
mod request_state;
mod sealed_token;
mod state_keys;

pub use cipher::GrantKeys;
pub use mac::MacKey;
pub use request_state::{ContinuationToken, EXPIRED_STATE, INVALID_STATE, RequestState};
pub use sealed_token::{InvalidToken, TokenPurpose};
pub use state_keys::{Hashes, StateKeys};
