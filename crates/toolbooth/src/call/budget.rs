//! The budgets of callers: calls of tools here; the chat gateway takes requests and money from them.

use std::time::Duration;

use super::pipeline::RequestContext;
use super::rejection::Rejection;
use crate::budget::{Budget, Unit};
use crate::host::{Amount, Exceeded, Host, LEDGER, LedgerError, Level, Reservation, boxed};
use crate::principal::Principal;
use crate::settings::Settings;
use crate::time;

/// A budget of the caller does not cover a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetExceeded {
    /// The budget.
    pub budget: Budget,
    /// What is left of it in this window.
    pub left: u64,
    /// How much the request may need.
    pub needed: u64,
    /// When the next window begins, in milliseconds since the Unix epoch.
    pub resets_at_ms: u64,
    /// Seconds after which the request may be covered.
    pub retry_after: u32,
}

/// Other requests of the caller may have ended after this many seconds, and need less than they have reserved.
const RETRY_RESERVED: u32 = 10;

impl BudgetExceeded {
    fn new(exceeded: Exceeded, needed: u64, now_ms: u64) -> Self {
        let Exceeded { budget, left, resets_in_ms, is_reserved } = exceeded;
        let seconds = u32::try_from(resets_in_ms.div_ceil(1000)).unwrap_or(u32::MAX);
        Self {
            budget,
            left,
            needed,
            resets_at_ms: budget.window.end_ms(now_ms),
            retry_after: if is_reserved { seconds.min(RETRY_RESERVED) } else { seconds },
        }
    }

    /// Which budget, what is left, and when it resets.
    pub(super) fn detail(&self) -> String {
        let Self { budget, left, needed, resets_at_ms, retry_after } = self;
        let unit = budget.unit;
        let (left, needed) = (unit.describe(*left), unit.describe(*needed));
        let needed = match unit {
            Unit::Usd => format!("the request may cost {needed}; a lower max_tokens reserves less"),
            Unit::Requests | Unit::ToolCalls => format!("the request needs {needed}"),
        };
        let resets = time::utc(*resets_at_ms);
        format!(
            "it is {budget}, of which {left} are left, and {needed}. It resets at {resets}; try again after \
             {retry_after} seconds"
        )
    }
}

/// The budgets of a caller, and where they are counted.
#[derive(Clone, Copy)]
pub struct Purse<'a> {
    settings: &'a Settings,
    principal: &'a Principal,
    host: &'a dyn Host,
}

impl<'a> Purse<'a> {
    /// That of a caller.
    pub fn new(settings: &'a Settings, principal: &'a Principal, host: &'a dyn Host) -> Self {
        Self { settings, principal, host }
    }

    fn budgets(&self) -> &'a [Budget] {
        self.settings.budgets_of(self.principal)
    }

    /// Whether the caller has a budget of this unit.
    pub fn limits(&self, unit: Unit) -> bool {
        self.budgets().iter().any(|budget| budget.unit == unit)
    }

    /// Takes units from every budget of their unit, or from none. Without such a budget it does nothing.
    ///
    /// # Errors
    /// [`Rejection::BudgetExceeded`]; or the ledger does not respond.
    pub async fn take(&self, unit: Unit, units: u64) -> Result<(), Rejection> {
        if units == 0 || !self.limits(unit) {
            return Ok(());
        }
        boxed(async move {
            let account = self.account()?;
            let taken = self.host.charge(&account, self.amount(unit, units)).await;
            self.covered(taken, units)
        })
        .await
    }

    /// Reserves units for at most `life`: what has not been settled by then counts as used. `None` if there is no budget
    /// of the unit.
    ///
    /// # Errors
    /// As of [`take`](Self::take).
    pub async fn reserve(
        &self,
        unit: Unit,
        units: u64,
        life: Duration,
    ) -> Result<Option<Reservation>, Rejection> {
        if !self.limits(unit) {
            return Ok(None);
        }
        let account = self.account()?;
        let reserved = self.host.reserve(&account, self.amount(unit, units), life).await;
        self.covered(reserved, units).map(Some)
    }

    /// Ends a reservation, of which `used` was used. If the ledger does not respond, what was reserved counts as used later.
    pub async fn settle(&self, reservation: Reservation, used: u64) {
        let Ok(account) = self.account() else { return };
        if let Err(error) = self.host.settle(&account, reservation, used).await {
            self.log(&error);
        }
    }

    fn account(&self) -> Result<String, Rejection> {
        let account = self.settings.account_of(self.principal);
        // Only callers with an account have budgets.
        account.map(|it| it.to_string()).ok_or(LEDGER_FAILED)
    }

    fn amount(&self, unit: Unit, units: u64) -> Amount<'a> {
        Amount { budgets: self.budgets(), unit, units }
    }

    fn covered<T>(
        &self,
        result: Result<Result<T, Exceeded>, LedgerError>,
        units: u64,
    ) -> Result<T, Rejection> {
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(exceeded)) => {
                let exceeded = BudgetExceeded::new(exceeded, units, self.host.now_ms());
                Err(Rejection::BudgetExceeded(exceeded))
            }
            // A budget that is not counted would be none.
            Err(LedgerError::NotBound) => Err(LEDGER_NOT_BOUND),
            Err(error) => {
                self.log(&error);
                Err(LEDGER_FAILED)
            }
        }
    }

    fn log(&self, error: &LedgerError) {
        let problem = match error {
            LedgerError::NotBound => LEDGER,
            LedgerError::Failed(problem) => problem,
        };
        self.host.log(Level::Error, "ledger", &[("problem", problem)]);
    }
}

/// The operator has bound no ledger.
pub(crate) const LEDGER_NOT_BOUND: Rejection =
    Rejection::Unavailable("budgets need the Durable Object LEDGER, which the operator must bind");
/// The ledger does not respond.
pub(crate) const LEDGER_FAILED: Rejection =
    Rejection::Unavailable("the budgets of callers cannot be counted");

impl<'a> RequestContext<'a> {
    /// The budgets of the caller.
    pub fn purse(&self) -> Purse<'a> {
        Purse::new(&self.pipeline.settings, self.principal, self.host)
    }

    /// Counts calls of tools against the rate limit and the budgets of the caller: all of them, or none.
    pub(super) async fn count_calls(&self, calls: usize) -> Result<(), Rejection> {
        self.count(calls).await?;
        self.purse().take(Unit::ToolCalls, calls as u64).await
    }
}
