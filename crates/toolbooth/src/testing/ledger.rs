//! A fake of the ledger, with the same arithmetic as the Durable Object.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::budget::{Budget, Unit, Window};
use crate::host::{AccountUsage, Amount, DayUsage, Exceeded, Reservation, WindowUsage};

/// The accounts and claims of a ledger. It is bound if `LEDGER` is among the bindings of the host.
#[derive(Default)]
pub struct FakeLedger {
    /// Whether operations fail.
    pub fails: Cell<bool>,
    /// Whether operations run at the second poll, so that those of other requests come in between.
    pub waits: Cell<bool>,
    /// The operations: `charge`, `reserve` or `settle`, and the amount with its unit.
    pub operations: RefCell<Vec<String>>,
    claims: RefCell<BTreeMap<String, u64>>,
    numbers: RefCell<BTreeMap<String, (u64, u64)>>,
    accounts: RefCell<BTreeMap<String, Account>>,
}

#[derive(Default)]
struct Account {
    budgets: Vec<Budget>,
    /// What was used, with the time.
    used: Vec<(u64, Unit, u64)>,
    reserved: BTreeMap<u64, Reserved>,
}

#[derive(Clone, Copy)]
struct Reserved {
    at_ms: u64,
    unit: Unit,
    units: u64,
    expires_ms: u64,
}

impl Account {
    /// Counts reservations that have expired as used.
    fn expire(&mut self, now_ms: u64) {
        let used = &mut self.used;
        self.reserved.retain(|_, it| {
            let is_open = it.expires_ms > now_ms;
            if !is_open {
                used.push((it.at_ms, it.unit, it.units));
            }
            is_open
        });
    }

    fn window(&self, window: Window, unit: Unit, now_ms: u64) -> WindowUsage {
        let is_in =
            |at: u64, of: Unit| of == unit && window.start_ms(at) == window.start_ms(now_ms);
        let used = self.used.iter().filter(|(at, of, _)| is_in(*at, *of)).map(|(.., units)| units);
        let reserved = self.reserved.values().filter(|it| is_in(it.at_ms, it.unit));
        WindowUsage { window, unit, used: used.sum(), reserved: reserved.map(|it| it.units).sum() }
    }
}

impl FakeLedger {
    pub(super) fn claim(&self, key: &str, life: Duration, now_ms: u64) -> bool {
        let mut claims = self.claims.borrow_mut();
        let is_free = claims.get(key).is_none_or(|expires_ms| *expires_ms <= now_ms);
        if is_free {
            claims.insert(key.to_owned(), now_ms.saturating_add(milliseconds(life)));
        }
        is_free
    }

    pub(super) fn raise(&self, key: &str, number: u64, life: Duration, now_ms: u64) -> u64 {
        let mut numbers = self.numbers.borrow_mut();
        let known = numbers.get(key).filter(|(_, expires_ms)| *expires_ms > now_ms);
        let before = known.map_or(0, |(number, _)| *number);
        let expires_ms = now_ms.saturating_add(milliseconds(life));
        numbers.insert(key.to_owned(), (before.max(number), expires_ms));
        before
    }

    /// Takes an amount at once, or reserves it for `life`. Returns the number of the reservation.
    pub(super) fn take(
        &self,
        name: &str,
        amount: Amount<'_>,
        life: Option<Duration>,
        now_ms: u64,
    ) -> Result<u64, Exceeded> {
        let Amount { budgets, unit, units } = amount;
        let operation = if life.is_some() { "reserve" } else { "charge" };
        self.operations.borrow_mut().push(format!("{operation} {units} {}", unit.name()));
        let mut accounts = self.accounts.borrow_mut();
        let account = accounts.entry(name.to_owned()).or_default();
        account.budgets = budgets.to_vec();
        account.expire(now_ms);
        let exceeded = budgets.iter().filter(|budget| budget.unit == unit).filter_map(|budget| {
            let WindowUsage { used, reserved, .. } = account.window(budget.window, unit, now_ms);
            let is_covered = |sum: u64| sum.saturating_add(units) <= budget.limit;
            (!is_covered(used + reserved)).then(|| Exceeded {
                budget: *budget,
                left: budget.limit.saturating_sub(used + reserved),
                resets_in_ms: budget.window.end_ms(now_ms) - now_ms,
                is_reserved: is_covered(used),
            })
        });
        if let Some(exceeded) = exceeded.max_by_key(|it| (!it.is_reserved, it.resets_in_ms)) {
            return Err(exceeded);
        }
        let Some(life) = life else {
            account.used.push((now_ms, unit, units));
            return Ok(0);
        };
        let number = account.reserved.keys().last().map_or(1, |last| last + 1);
        let expires_ms = now_ms.saturating_add(milliseconds(life));
        account.reserved.insert(number, Reserved { at_ms: now_ms, unit, units, expires_ms });
        Ok(number)
    }

    pub(super) fn settle(&self, name: &str, reservation: Reservation, used: u64, now_ms: u64) {
        self.operations.borrow_mut().push(format!("settle {used}"));
        let mut accounts = self.accounts.borrow_mut();
        let account = accounts.entry(name.to_owned()).or_default();
        account.expire(now_ms);
        if let Some(reserved) = account.reserved.remove(&reservation.0) {
            account.used.push((reserved.at_ms, reserved.unit, used));
        }
    }

    /// What an account has used, and the names of the accounts.
    pub(super) fn usage(&self, name: &str, now_ms: u64) -> AccountUsage {
        let mut accounts = self.accounts.borrow_mut();
        let Some(account) = accounts.get_mut(name) else { return AccountUsage::default() };
        account.expire(now_ms);
        let of_unit = |unit| Window::ALL.map(|window| account.window(window, unit, now_ms));
        let mut days: BTreeMap<(u64, Unit), u64> = BTreeMap::new();
        for (at, unit, units) in &account.used {
            *days.entry((at / 86_400_000, *unit)).or_default() += units;
        }
        AccountUsage {
            budgets: account.budgets.clone(),
            windows: Unit::ALL.into_iter().flat_map(of_unit).collect(),
            days: days
                .into_iter()
                .map(|((day, unit), used)| DayUsage { day, unit, used })
                .collect(),
        }
    }

    pub(super) fn accounts(&self, after: &str, most: usize) -> Vec<String> {
        let accounts = self.accounts.borrow();
        accounts.keys().filter(|name| name.as_str() > after).take(most).cloned().collect()
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
