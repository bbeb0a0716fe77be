//! The ledger: what must be exact, although requests arrive at many places at once.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BoxFuture, Host};
use crate::budget::{Budget, Unit, Window};
use crate::json;

/// The name of the Durable Object binding, which is optional.
pub const LEDGER: &str = "LEDGER";

/// Counts and marks that are exact: each operation sees the effect of every one before it.
pub trait Ledger {
    /// Claims `key` for `life`, at least a second. Exactly one caller gets true, until the claim expires. The key is
    /// stored as it is: it must not be a secret.
    ///
    /// # Errors
    /// [`LedgerError::NotBound`]: the caller must do without. [`LedgerError::Failed`]: whether the key is claimed is
    /// unknown.
    fn claim<'a>(
        &'a self,
        key: &'a str,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Raises the number of `key` to `number` for `life`, at least a second, unless it is higher. Returns the number that it had
    /// before, 0 if none. The key is stored as it is: it must not be a secret.
    ///
    /// # Errors
    /// As of [`claim`](Self::claim). If the operation has failed, it may have been raised.
    fn raise<'a>(
        &'a self,
        key: &'a str,
        number: u64,
        life: Duration,
    ) -> BoxFuture<'a, Result<u64, LedgerError>>;

    /// Charges an amount to all budgets of an account that have its unit: to all of them or, if one does not cover it, to
    /// none.
    ///
    /// # Errors
    /// As of [`claim`](Self::claim). If the operation has failed, it may have been charged.
    fn charge<'a>(
        &'a self,
        account: &'a str,
        amount: Amount<'a>,
    ) -> BoxFuture<'a, Result<Result<(), Exceeded>, LedgerError>>;

    /// Reserves an amount, like [`charge`](Self::charge). What has not been settled after `life` counts as used.
    ///
    /// # Errors
    /// As of [`charge`](Self::charge).
    fn reserve<'a>(
        &'a self,
        account: &'a str,
        amount: Amount<'a>,
        life: Duration,
    ) -> BoxFuture<'a, Result<Result<Reservation, Exceeded>, LedgerError>>;

    /// Ends a reservation: `used` was used instead of what was reserved. With 0, it is released. Without effect if it has
    /// ended already.
    ///
    /// # Errors
    /// As of [`claim`](Self::claim).
    fn settle<'a>(
        &'a self,
        account: &'a str,
        reservation: Reservation,
        used: u64,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// What an account has used ([`AccountUsage`] as JSON). One that has used nothing for 31 days is empty.
    ///
    /// # Errors
    /// As of [`claim`](Self::claim).
    fn read_usage<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<String, LedgerError>>;

    /// The names of the accounts after the name `after`, sorted: at most `most`, as a JSON array.
    ///
    /// # Errors
    /// As of [`claim`](Self::claim).
    fn read_accounts<'a>(
        &'a self,
        after: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<String, LedgerError>>;
}

/// No methods of the trait: those are linked by every Worker, whether it calls them or not.
impl dyn Host + '_ {
    /// See [`Ledger::read_usage`].
    ///
    /// # Errors
    /// As of [`Ledger::claim`].
    pub(crate) async fn usage(&self, account: &str) -> Result<AccountUsage, LedgerError> {
        let usage = self.read_usage(account).await?;
        json::read(usage.as_bytes()).ok_or_else(malformed)
    }

    /// See [`Ledger::read_accounts`].
    ///
    /// # Errors
    /// As of [`Ledger::claim`].
    pub(crate) async fn accounts(
        &self,
        after: &str,
        most: usize,
    ) -> Result<Vec<String>, LedgerError> {
        let accounts = self.read_accounts(after, most).await?;
        json::read(accounts.as_bytes()).ok_or_else(malformed)
    }
}

fn malformed() -> LedgerError {
    LedgerError::Failed("its answer is malformed".to_owned())
}

/// What is taken from the budgets of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount<'a> {
    /// All budgets of the account.
    pub budgets: &'a [Budget],
    /// What is taken.
    pub unit: Unit,
    /// How many units; of [`Unit::Usd`] in nano-dollars.
    pub units: u64,
}

/// A reservation of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a reservation must be settled"]
pub struct Reservation(pub u64);

/// A budget does not cover an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// The budget; of several, the one whose window ends last.
    pub budget: Budget,
    /// What is left of it.
    pub left: u64,
    /// How many milliseconds are left until its next window.
    pub resets_in_ms: u64,
    /// Whether the amount would be covered without what other requests have reserved: it may be covered soon.
    pub is_reserved: bool,
}

/// What an account has used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountUsage {
    /// Its budgets, when something was last taken from them.
    pub budgets: Vec<Budget>,
    /// What it has used in the windows of now. What is missing is zero.
    pub windows: Vec<WindowUsage>,
    /// What it has used on each of the last 31 days, in order. What is missing is zero.
    pub days: Vec<DayUsage>,
}

/// What an account has used of a unit in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowUsage {
    /// The window.
    pub window: Window,
    /// The unit.
    pub unit: Unit,
    /// What is used.
    pub used: u64,
    /// What requests that have not ended have reserved.
    pub reserved: u64,
}

/// What an account has used of a unit on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayUsage {
    /// The day: how many are between it and the Unix epoch, in UTC.
    pub day: u64,
    /// The unit.
    pub unit: Unit,
    /// What was used.
    #[serde(rename = "units")]
    pub used: u64,
}

/// An operation of the ledger was not possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerError {
    /// The operator has not bound one.
    NotBound,
    /// It does not respond. Contains the reason for the log.
    Failed(String),
}
