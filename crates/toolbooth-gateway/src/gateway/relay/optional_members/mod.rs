//! Members that a model can answer without (`table`): if an error of the provider names one (`complaint`), the model is asked again
//! without it, and later requests leave it out at once.

mod complaint;
mod table;

use sha2::{Digest, Sha256};

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::GatewayError;
use crate::gateway::notes::{Notes, renamed};
use crate::gateway::raw_json::{compact, raw_member, raw_members, raw_of};
use crate::gateway::relay::plan::Target;
use crate::wire::{Json, Members};
use complaint::Scope;
pub(in crate::gateway) use complaint::{Complaint, complaints, described};
use table::{BETAS, OptionalMember};
use toolbooth::expiring_map::ExpiringMap;
use toolbooth::json;
use toolbooth::secret::Secret;

/// How often a model is asked again for an answer. Some name only one of the members that they reject in each error.
const MAX_REPEATS: usize = 4;
/// After this time a model gets a member again that it has rejected.
const LIFE_MS: u64 = 60 * 60 * 1000;
/// For how many models the instance remembers how many rejected members, and the longest value of one, in bytes.
const MAX_MODELS: usize = 256;
const MAX_MEMBERS: usize = 32;
const MAX_VALUE: usize = 64;

/// A member that a model has rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gateway) struct Rejected {
    member: &'static OptionalMember,
    /// The value that was rejected, as JSON; `None`: any.
    value: Option<String>,
}

/// What models have rejected, remembered by the instance, each with the account of the request.
#[derive(Debug)]
pub(in crate::gateway) struct RejectedMembers(ExpiringMap<Vec<(Account, Rejected)>>);

/// The beginning of the digest of a key. What accounts may use differs.
type Account = [u8; 8];

impl Default for RejectedMembers {
    fn default() -> Self {
        Self(ExpiringMap::new(MAX_MODELS))
    }
}

impl RejectedMembers {
    pub(in crate::gateway) fn of(&self, target: &Target<'_>, now_ms: u64) -> Vec<Rejected> {
        let Some(mut known) = self.0.get(&name_of(target), now_ms) else { return Vec::new() };
        let account = account_of(target);
        known.retain(|(of, _)| *of == account);
        known.into_iter().map(|(_, rejected)| rejected).collect()
    }

    /// Remembers what a model has rejected in a request that it has answered without that.
    pub(in crate::gateway) fn remember(
        &self,
        target: &Target<'_>,
        outgoing: &Outgoing,
        now_ms: u64,
    ) {
        let learnt: Vec<_> = outgoing.left_out.iter().filter_map(LeftOut::learnt).collect();
        if learnt.is_empty() {
            return;
        }
        let (name, account) = (name_of(target), account_of(target));
        let mut known = self.0.get(&name, now_ms).unwrap_or_default();
        known.retain(|(of, rejected)| *of != account || !learnt.contains(rejected));
        known.extend(learnt.into_iter().map(|rejected| (account, rejected)));
        let surplus = known.len().saturating_sub(MAX_MEMBERS);
        known.drain(..surplus);
        self.0.insert(&name, known, now_ms, LIFE_MS);
    }
}

fn name_of(target: &Target<'_>) -> String {
    format!("{}/{}", target.provider.id, target.model)
}

fn account_of(target: &Target<'_>) -> Account {
    let key = target.key.as_ref().map_or("", Secret::expose);
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(key).into();
    [a, b, c, d, e, f, g, h]
}

/// A request to a model, without what it rejects.
#[derive(Debug)]
pub(in crate::gateway) struct Outgoing {
    pub(in crate::gateway) body: Vec<u8>,
    /// The headers of the client that the provider gets.
    pub(in crate::gateway) headers: Vec<(&'static str, String)>,
    left_out: Vec<LeftOut>,
    /// How often the model may still be asked again.
    repeats_left: usize,
}

#[derive(Debug)]
struct LeftOut {
    member: &'static OptionalMember,
    /// Where it was.
    path: &'static str,
    /// What it was, as JSON.
    value: String,
    /// What this request has shown; `None` if it was known before.
    scope: Option<Scope>,
}

impl Outgoing {
    /// A request that the model gets as it is.
    pub(in crate::gateway) fn whole(body: Vec<u8>, headers: &[(&'static str, String)]) -> Self {
        Self { body, headers: headers.to_vec(), left_out: Vec::new(), repeats_left: 0 }
    }

    /// The request without the members that the model is known to reject.
    pub(in crate::gateway) fn without(mut self, known: &[Rejected]) -> Self {
        self.repeats_left = MAX_REPEATS;
        for Rejected { member, value } in known {
            self.remove(member, value.as_deref(), None);
        }
        self
    }

    pub(in crate::gateway) fn is_whole(&self) -> bool {
        self.left_out.is_empty()
    }

    /// Leaves out the members that an error names; false if there is none, so that the model rejects the request.
    pub(in crate::gateway) fn leave_out(&mut self, error: &GatewayError) -> bool {
        if !matches!(error.provider_status, Some(400 | 422)) {
            return false;
        }
        let Some(left) = self.repeats_left.checked_sub(1) else { return false };
        let before = self.left_out.len();
        for Complaint { path, scope } in &error.complaints {
            let members = table::named(path);
            for member in members {
                // A complaint about a part of it is one about its value.
                let scope = if member.is_called(path) { *scope } else { Scope::Value.max(*scope) };
                let only = path.get(1).filter(|_| member.paths == [BETAS]).map(String::as_str);
                if self.remove(member, only, Some(scope)) {
                    break;
                }
            }
        }
        self.repeats_left = left;
        self.left_out.len() > before
    }

    /// Removes a member, if the request has it, and with this value if one is given.
    fn remove(
        &mut self,
        member: &'static OptionalMember,
        only: Option<&str>,
        scope: Option<Scope>,
    ) -> bool {
        let before = self.left_out.len();
        for path in member.paths {
            let removed = match (*path, only) {
                (BETAS, beta) => beta.and_then(|beta| self.remove_beta(beta)),
                (path, only) => self.remove_member(path, only),
            };
            self.left_out.extend(removed.map(|value| LeftOut { member, path, value, scope }));
        }
        self.left_out.len() > before
    }

    fn remove_member(&mut self, path: &str, only: Option<&str>) -> Option<String> {
        let names: Vec<_> = path.split('.').collect();
        let (body, value) = without(str::from_utf8(&self.body).ok()?, &names)?;
        if only.is_some_and(|only| only != value) {
            return None;
        }
        self.body = body.into_bytes();
        Some(value)
    }

    fn remove_beta(&mut self, beta: &str) -> Option<String> {
        let (_, betas) = self.headers.iter_mut().find(|(name, _)| *name == BETAS)?;
        let all: Vec<_> = betas.split(',').map(str::trim).collect();
        let kept: Vec<_> = all.iter().copied().filter(|it| *it != beta).collect();
        let is_removed = kept.len() < all.len();
        *betas = kept.join(",");
        self.headers.retain(|(_, value)| !value.is_empty());
        is_removed.then(|| beta.to_owned())
    }

    /// What a further request of the same chat need not send again.
    pub(in crate::gateway) fn rejected(&self) -> impl Iterator<Item = Rejected> {
        let new = self.left_out.iter().filter(|it| it.scope.is_some());
        new.map(|it| Rejected { member: it.member, value: Some(it.value.clone()) })
    }

    /// Names what was left out, as the client calls it.
    pub(in crate::gateway) fn note(&self, request: &ChatRequest, target: &str, notes: &Notes) {
        let native = request.native.as_ref();
        let has = |name: &str| {
            let (name, inner) = name.split_once('.').unwrap_or((name, ""));
            let own = native.and_then(|native| native.members.get(name));
            own.or_else(|| request.members.get(name))
                .is_some_and(|json| inner.is_empty() || raw_member(json, &[inner]).is_some())
        };
        for LeftOut { member, path, value, .. } in &self.left_out {
            if *path == BETAS {
                notes.warn(format!("The beta {value} was left out, because {target} rejects it"));
                continue;
            }
            let own = member.names.iter().find(|name| has(name));
            let own = own.map(|name| renamed(name, native.map_or(&[], |native| native.names)));
            // What the gateway itself has added is no member of the client's request.
            let name = own.as_deref().inspect(|name| notes.drop_member(name)).unwrap_or(path);
            notes.warn(format!("{name} was left out, because {target} rejects it"));
        }
    }
}

impl LeftOut {
    /// What this request says about later ones.
    fn learnt(&self) -> Option<Rejected> {
        let is_number = self.value.starts_with(|it: char| it == '-' || it.is_ascii_digit());
        let value = match self.scope? {
            Scope::Request => return None,
            Scope::Member => None,
            // The text of a value could make an error look like one about a default.
            Scope::NotDefault if is_number => None,
            Scope::NotDefault | Scope::Value => Some(self.value.clone()),
        };
        let fits = value.as_ref().is_none_or(|value| value.len() <= MAX_VALUE);
        fits.then_some(Rejected { member: self.member, value })
    }
}

/// An object without a member, and what that was. An object in it that has no other member is left out too.
fn without(object: &str, path: &[&str]) -> Option<(String, String)> {
    let (name, rest) = path.split_first()?;
    let members = raw_members(object)?;
    let value = raw_of(&members, name)?;
    let (inner, removed) = match rest {
        [] => (None, compact(value)),
        rest => {
            let (inner, removed) = without(value.get(), rest)?;
            (Some(inner).filter(|inner| inner != "{}"), removed)
        }
    };
    let mut kept = Members::default();
    for (known, json) in &members {
        let json = if known == name {
            inner.as_deref().map(|it| Json::Text(it.into()))
        } else {
            Some((*json).into())
        };
        kept.0.extend(json.map(|json| (known.into(), json)));
    }
    Some((json::to_string(&kept), removed))
}
