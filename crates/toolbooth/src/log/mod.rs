//! The log of events: one line of JSON per call, rejected credential, challenge and change of a grant.
//! docs/LOGGING.md describes them.
//!
//! - `event`: the events and their attributes;
//! - `recorder`: collects the calls of one request.
//!
//! No event has a field for what a caller sends: texts are from the catalogue and the configuration, or constants.
//! Only the ids of a trace are the caller's, and those are hexadecimal digits.

mod event;
mod recorder;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

pub(crate) use event::{CallEvent, Event};
pub use event::{CallRequest, LogEvent};
pub use recorder::CallRecorder;
pub(crate) use recorder::CallResult;
pub use recorder::McpOperation;

use crate::host::{Clock, Host, Level};
use crate::http::Headers;
use crate::json;
use crate::principal::Principal;
use crate::seal::{StateKeys, TokenPurpose};
use crate::settings::{LogDetail, SampleRate, Settings};
use crate::trace::{TRACEPARENT, TraceContext};

/// How the line of each decision begins. The version rises when a member changes its meaning or is removed.
const AUDIT: &[u8] = br#"{"audit":1"#;

/// The size of most lines, so that their buffer rarely has to grow.
const LINE: usize = 512;

/// Writes the events that the operator wants.
#[derive(Debug, Clone)]
pub struct EventLog {
    detail: LogDetail,
    /// The keys that hash users, if they are set: anyone can hash an email address and look for it.
    keys: Option<StateKeys>,
    sampler: Arc<Sampler>,
    /// The user who called last: most calls follow one of the same user, and hashing takes longer than writing the line.
    last_user: Arc<Mutex<NamedUser>>,
    /// Whether calls are measured. Constant, as bindings are.
    is_measured: bool,
}

impl EventLog {
    /// The log that the settings ask for.
    pub fn new(settings: &Settings, host: &dyn Host) -> Self {
        Self {
            detail: settings.log.detail,
            keys: settings.state_keys.as_ref().map(StateKeys::new),
            sampler: Arc::new(Sampler::new(settings.log.sample, host)),
            last_user: Arc::default(),
            is_measured: host.is_measured(),
        }
    }

    /// A recorder for the calls of a request.
    pub fn recorder(&self, headers: &dyn Headers, host: &dyn Host) -> CallRecorder {
        let trace = headers.get(TRACEPARENT).and_then(|parent| TraceContext::parse(&parent));
        CallRecorder::new(trace, self.is_measured || !self.is_off(), host)
    }

    /// Logs and measures the calls of a request.
    pub fn write_calls(&self, calls: &CallRecorder, request: CallRequest<'_>, host: &dyn Host) {
        for record in calls.take_records() {
            let call = CallEvent::new(&record, request);
            if self.is_measured {
                call.measure(host);
            }
            // Of calls that succeed, a sample is enough.
            if call.level != Level::Info || self.includes(Level::Info) && self.sampler.picks_next()
            {
                self.write(&call, host);
            }
        }
    }

    /// Whether events of this level are logged.
    pub(crate) fn includes(&self, level: Level) -> bool {
        match level {
            Level::Info => self.detail >= LogDetail::Calls,
            Level::Warn | Level::Error => self.detail >= LogDetail::Errors,
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.detail == LogDetail::Off
    }

    /// Logs an event, unless the operator does not want it. Its line has the version of the schema (docs/audit.schema.json).
    pub fn write(&self, event: &impl LogEvent, host: &dyn Host) {
        let level = event.level();
        if !self.includes(level) {
            return;
        }
        let mut line = Vec::with_capacity(LINE);
        line.extend_from_slice(AUDIT);
        if let Some(outcome) = event.outcome() {
            line.extend_from_slice(br#","outcome":""#);
            line.extend_from_slice(outcome.as_bytes());
            line.push(b'"');
        }
        let members = line.len();
        json::append(&mut line, event);
        // The members follow: a comma instead of the brace.
        if let Some(brace) = line.get_mut(members) {
            *brace = b',';
        }
        let line = String::from_utf8(line).unwrap_or_default();
        host.write(level, &line);
    }

    /// The name of a caller: `key:<name>`, `user:<hash>` or `anonymous`.
    pub fn caller(&self, principal: &Principal) -> String {
        match principal {
            Principal::Anonymous { .. } => self.anonymous(),
            Principal::Key { name, .. } => self.key(name),
            Principal::User { issuer, subject, .. } => {
                self.user(issuer, subject.as_deref().unwrap_or_default())
            }
        }
    }

    /// The name of the API key that acts for a caller by token exchange, if one does.
    pub fn actor(&self, principal: &Principal) -> Option<String> {
        principal.actor().map(|name| self.key(name))
    }

    /// The name of callers without credentials.
    pub fn anonymous(&self) -> String {
        "anonymous".to_owned()
    }

    /// The name of the holder of an API key.
    pub fn key(&self, name: &str) -> String {
        format!("key:{name}")
    }

    /// The name of the user for whom the holder of an API key calls, or a caller without credentials if `key` is empty. The same id of
    /// another key is another user.
    pub fn user_of_key(&self, key: &str, user: &str) -> String {
        let issuer = Sha256::new_with_prefix("key:").chain_update(key).finalize();
        self.user(&Base64UrlUnpadded::encode_string(&issuer), user)
    }

    /// The name of a user, whose id is hashed: 96 bits, too many for two users to have the same hash.
    pub fn user(&self, issuer: &str, subject: &str) -> String {
        // The length of an issuer is fixed, so the two together name one user.
        let id = [issuer, subject].concat();
        let mut last = self.last_user.lock().unwrap_or_else(PoisonError::into_inner);
        if last.id != id {
            *last = NamedUser { id, name: self.hashed_user(issuer, subject) };
        }
        last.name.clone()
    }

    fn hashed_user(&self, issuer: &str, subject: &str) -> String {
        let hash = match &self.keys {
            Some(keys) => keys.hash(TokenPurpose::CALLER, &[issuer, subject]),
            // The issuer is a hash itself, and its length is fixed.
            None => {
                let hash = Sha256::new().chain_update(issuer).chain_update(subject).finalize();
                Base64UrlUnpadded::encode_string(&hash)
            }
        };
        format!("user:{hash:.16}")
    }
}

/// A user with the name that the log has for them.
#[derive(Default)]
struct NamedUser {
    id: String,
    name: String,
}

/// Shows the name only, as the log does.
impl fmt::Debug for NamedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Picks calls evenly, without random numbers, which would be a call into JS for each.
#[derive(Debug)]
pub(crate) struct Sampler {
    rate: SampleRate,
    position: AtomicU32,
}

/// 2^32 divided by the golden ratio. Multiples of it are spread evenly, also each second or third of them, so calls
/// that alternate are picked alike.
const STEP: u32 = 0x9E37_79B9;

impl Sampler {
    /// Starts at a place that differs between instances: many serve only a few calls.
    pub(crate) fn new(rate: SampleRate, host: &(impl Clock + ?Sized)) -> Self {
        // Milliseconds modulo 2^32.
        #[allow(clippy::cast_possible_truncation)]
        let position = (host.now_ms() as u32).wrapping_mul(STEP);
        Self { rate, position: AtomicU32::new(position) }
    }

    pub(crate) fn picks_next(&self) -> bool {
        let position = self.position.fetch_add(STEP, Ordering::Relaxed);
        u64::from(position) < self.rate.0
    }
}

#[cfg(test)]
mod tests;
