//! `GET /usage`: the budgets of callers, and what they have used. A caller sees its own and the budgets of its team, which can stop
//! it too; with the scope `usage:team`, also what the team and its keys have used on each day; with `usage`, all of this of all.

use std::collections::BTreeSet;

use serde::Serialize;

use super::rest::problem;
use crate::budget::{Account, Budget, NANO_DOLLARS, Unit};
use crate::call::{LEDGER_FAILED, LEDGER_NOT_BOUND, Rejection, join_all};
use crate::capability::Capability;
use crate::host::{AccountUsage, LedgerError, Level, Log};
use crate::http::{Answer, Response};
use crate::principal::{Principal, TEAM_USAGE_SCOPE, USAGE_SCOPE};
use crate::route::{EncodeRejection, Policy, Protocol, Route, RouteRequest};
use crate::settings::{CapabilitySettings, Settings, TeamSettings};
use crate::time;
use crate::url::query_parameter;

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[("/usage", &USAGE)],
    settings: Some(&CapabilitySettings {
        variables: &[],
        auth_methods: &[],
        read: |settings, _| {
            settings.scopes.push(USAGE_SCOPE);
            if !settings.teams.is_empty() {
                settings.scopes.push(TEAM_USAGE_SCOPE);
            }
        },
    }),
    scopes: &[USAGE_SCOPE, TEAM_USAGE_SCOPE],
    ..Capability::new("usage")
};

static USAGE: Protocol = Protocol {
    routes: &[Route::get("", Policy::CALLER, &usage)],
    ..Protocol::new(
        "usage",
        "Budgets of callers, and what they have used",
        EncodeRejection::Plain(|rejection, _| problem::reject(rejection)),
    )
};

/// The most callers in a response. Each is a request to the ledger.
const MOST: usize = 50;

#[derive(Serialize)]
struct Usage {
    callers: Vec<Caller>,
    /// The parameter `after` of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct Caller {
    name: String,
    kind: &'static str,
    budgets: Vec<UsedBudget>,
    days: Vec<UsedDay>,
}

#[derive(Serialize)]
struct UsedBudget {
    window: &'static str,
    unit: &'static str,
    limit: Amount,
    used: Amount,
    reserved: Amount,
    resets_at: String,
}

/// What was used on a day of each unit that a budget counts. The others are left out: 0 would mean that none was used.
#[derive(Serialize)]
struct UsedDay {
    day: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Amount>,
}

/// A number of units, or of dollars.
#[derive(Serialize)]
#[serde(untagged)]
enum Amount {
    Units(u64),
    Dollars(f64),
}

impl Amount {
    fn of(unit: Unit, amount: u64) -> Self {
        match unit {
            // For people and plots: the ledger counts exactly.
            #[allow(clippy::cast_precision_loss)]
            Unit::Usd => Self::Dollars(amount as f64 / NANO_DOLLARS as f64),
            Unit::Requests | Unit::ToolCalls => Self::Units(amount),
        }
    }
}

/// `GET /usage`.
async fn usage<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { state, host, principal, query, .. } = request;
    let settings = state.settings();
    // What callers are called and what they use is never public.
    let is_known = !matches!(principal, Principal::Anonymous { .. });
    let sees_all = is_known && principal.scopes().cover(&[USAGE_SCOPE]);
    let sees_team = sees_all || is_known && principal.scopes().cover(&[TEAM_USAGE_SCOPE]);
    let team = settings.team_of(principal).filter(|_| is_known);
    let (accounts, next) = if sees_all {
        let after = query_parameter(query, "after").unwrap_or_default();
        let keys = settings.auth.api_keys.iter().flatten();
        let keys =
            keys.filter(|key| !key.budgets.is_empty()).map(|key| Account::Key(key.name.clone()));
        let teams = settings.teams.iter().filter(|team| !team.budgets.is_empty());
        let keys = keys.chain(teams.map(|team| Account::Team(team.name.clone())));
        let known = match host.accounts(&after, MOST + 1).await {
            // Without budgets, there is nothing to count.
            Err(LedgerError::NotBound) if settings.budgeted.is_empty() => Vec::new(),
            known => known.map_err(|error| rejection(&error, *host))?,
        };
        let names = keys.map(|it| it.to_string()).filter(|name| *name > after).chain(known);
        // `collect` would bring a sort into the Worker.
        let mut sorted = BTreeSet::new();
        sorted.extend(names);
        let accounts = sorted.into_iter().filter_map(|name| Some((Account::named(&name)?, name)));
        let mut accounts: Vec<_> = accounts.collect();
        let is_last = accounts.len() <= MOST;
        accounts.truncate(MOST);
        let next = accounts.last().filter(|_| !is_last).map(|(_, name)| name.clone());
        (accounts.into_iter().map(|(account, _)| account).collect(), next)
    } else {
        let own = settings.account_of(principal);
        let keys = team.filter(|_| sees_team);
        let team = team.filter(|team| sees_team || !team.budgets.is_empty());
        let team = team.map(|team| Account::Team(team.name.clone()));
        let keys = keys_of_team(settings, keys, own.as_ref());
        (own.iter().cloned().chain(team).chain(keys).collect::<Vec<_>>(), None)
    };
    let own = settings.account_of(principal);
    let own_team = team.map_or(&[][..], |team| &team.budgets);
    let callers = accounts.into_iter().map(|account| {
        let own = own.as_ref() == Some(&account);
        async move {
            let budgets = match &account {
                Account::Key(name) => settings.key_named(name).map(|key| key.budgets.clone()),
                Account::Tenant(name) => settings.tenant_named(name).map(|it| it.budgets.clone()),
                Account::Team(name) => settings
                    .teams
                    .iter()
                    .find(|team| team.name == *name)
                    .map(|team| team.budgets.clone()),
                Account::Person(_) => own.then(|| settings.budgets_of(principal).to_vec()),
            };
            let mut used = match host.usage(&account.to_string()).await {
                Err(LedgerError::NotBound) if budgets.as_ref().is_some_and(Vec::is_empty) => {
                    AccountUsage::default()
                }
                used => used.map_err(|error| rejection(&error, *host))?,
            };
            if matches!(account, Account::Team(_)) && !sees_team {
                used.days.clear();
            }
            // What a member uses of the budgets of its team is counted for the member too.
            let of_team = match &account {
                Account::Key(name) => settings
                    .key_named(name)
                    .and_then(|key| settings.teams.get(key.team?))
                    .map_or(&[][..], |team| &team.budgets),
                Account::Person(_) if own => own_team,
                _ => &[],
            };
            Ok(caller(account, budgets, of_team, &used, host.now_ms()))
        }
    });
    let callers = join_all(callers).await.into_iter().collect::<Result<_, Rejection>>()?;
    Ok(Response::json_of(200, &Usage { callers, next }).into())
}

/// The accounts of the API keys of a team, without the one that is `own`.
fn keys_of_team<'s>(
    settings: &'s Settings,
    team: Option<&'s TeamSettings>,
    own: Option<&'s Account>,
) -> impl Iterator<Item = Account> + 's {
    let position = settings.teams.iter().position(|it| Some(&it.name) == team.map(|it| &it.name));
    let keys = settings.auth.api_keys.iter().flatten();
    let keys = keys.filter(move |key| position.is_some() && key.team == position);
    let keys = keys.map(|key| Account::Key(key.name.clone()));
    // With that of the team, these are the most of a response.
    keys.filter(move |account| own != Some(account)).take(MOST - 1)
}

fn rejection(error: &LedgerError, log: &(impl Log + ?Sized)) -> Rejection {
    match error {
        LedgerError::NotBound => LEDGER_NOT_BOUND,
        LedgerError::Failed(problem) => {
            log.log(Level::Error, "ledger", &[("problem", problem)]);
            LEDGER_FAILED
        }
    }
}

/// What a caller has used of its budgets: those of now or, if only the ledger knows them, of its last request. `of_team` are the
/// budgets of its team.
fn caller(
    account: Account,
    budgets: Option<Vec<Budget>>,
    of_team: &[Budget],
    used: &AccountUsage,
    now_ms: u64,
) -> Caller {
    let budgets = budgets.unwrap_or_else(|| used.budgets.clone());
    let mut counted: Vec<_> = budgets.iter().chain(of_team).map(|it| it.unit).collect();
    counted.extend(used.days.iter().map(|it| it.unit));
    let budgets = budgets.into_iter().map(|Budget { window, unit, limit }| {
        let known = used.windows.iter().find(|it| it.window == window && it.unit == unit);
        UsedBudget {
            window: window.name(),
            unit: unit.name(),
            limit: Amount::of(unit, limit),
            used: Amount::of(unit, known.map_or(0, |it| it.used)),
            reserved: Amount::of(unit, known.map_or(0, |it| it.reserved)),
            resets_at: time::utc(window.end_ms(now_ms)),
        }
    });
    let days = used.days.chunk_by(|one, next| one.day == next.day).map(|units| {
        let of = |unit| {
            let used = units.iter().filter(|it| it.unit == unit).map(|it| it.used);
            counted.contains(&unit).then(|| Amount::of(unit, used.sum()))
        };
        let day = units.first().map_or(0, |it| it.day);
        UsedDay {
            day: time::day(day.saturating_mul(86_400_000)),
            usd: of(Unit::Usd),
            requests: of(Unit::Requests),
            tool_calls: of(Unit::ToolCalls),
        }
    });
    let (kind, name) = match account {
        Account::Key(name) => ("key", name),
        Account::Person(subject) => ("person", subject),
        Account::Tenant(name) => ("tenant", name),
        Account::Team(name) => ("team", name),
    };
    Caller { name, kind, budgets: budgets.collect(), days: days.collect() }
}

#[cfg(test)]
mod tests;
