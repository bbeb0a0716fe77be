//! The budgets of callers: calls of tools here; the chat gateway takes requests and money from them.

use std::time::Duration;

use super::pipeline::RequestContext;
use super::rejection::Rejection;
use crate::budget::{Account, Budget, Unit};
use crate::host::{Amount, Exceeded, Host, LEDGER, LedgerError, Level, Reservation, boxed};
use crate::principal::Principal;
use crate::settings::{Settings, TeamSettings};
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
    /// The team whose budget it is; `None`: the caller's own.
    pub team: Option<String>,
}

/// Other requests of the caller may have ended after this many seconds, and need less than they have reserved.
const RETRY_RESERVED: u32 = 10;

impl BudgetExceeded {
    fn new(exceeded: Exceeded, needed: u64, team: Option<String>, now_ms: u64) -> Self {
        let Exceeded { budget, left, resets_in_ms, is_reserved } = exceeded;
        let seconds = u32::try_from(resets_in_ms.div_ceil(1000)).unwrap_or(u32::MAX);
        Self {
            budget,
            left,
            needed,
            resets_at_ms: budget.window.end_ms(now_ms),
            retry_after: if is_reserved { seconds.min(RETRY_RESERVED) } else { seconds },
            team,
        }
    }

    /// Whose budget does not cover the request.
    pub(super) fn message(&self) -> String {
        match &self.team {
            None => "The caller's budget does not cover the request".to_owned(),
            Some(team) => format!("The budget of the team '{team}' does not cover the request"),
        }
    }

    /// Which budget, what is left, and when it resets.
    pub(super) fn detail(&self) -> String {
        let Self { budget, left, needed, resets_at_ms, retry_after, .. } = self;
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

/// The budgets of a caller and of its team, and where they are counted.
#[derive(Clone, Copy)]
pub struct Purse<'a> {
    settings: &'a Settings,
    principal: &'a Principal,
    host: &'a dyn Host,
}

/// What was reserved from the accounts of a caller and of its team.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation must be settled"]
pub struct PurseReservation {
    own: Option<Reservation>,
    team: Option<Reservation>,
}

/// How long an amount is reserved from the budgets of a caller while those of its team are asked.
const ASKING: Duration = Duration::from_secs(60);

impl<'a> Purse<'a> {
    /// That of a caller.
    pub fn new(settings: &'a Settings, principal: &'a Principal, host: &'a dyn Host) -> Self {
        Self { settings, principal, host }
    }

    fn budgets(&self) -> &'a [Budget] {
        self.settings.budgets_of(self.principal)
    }

    fn team(&self) -> Option<&'a TeamSettings> {
        self.settings.team_of(self.principal)
    }

    /// The team of the caller, if it has a budget of this unit.
    fn team_with(&self, unit: Unit) -> Option<&'a TeamSettings> {
        self.team().filter(|team| has(&team.budgets, unit))
    }

    /// Whether the caller, or its team, has a budget of this unit.
    pub fn limits(&self, unit: Unit) -> bool {
        has(self.budgets(), unit) || self.team_with(unit).is_some()
    }

    /// Takes units from every budget of their unit, those of the caller and those of its team, or from none. Without such a budget
    /// it does nothing.
    ///
    /// # Errors
    /// [`Rejection::BudgetExceeded`]; or the ledger does not respond.
    pub async fn take(&self, unit: Unit, units: u64) -> Result<(), Rejection> {
        if units == 0 || !self.limits(unit) {
            return Ok(());
        }
        boxed(async move {
            let Some(team) = self.team_with(unit) else {
                let taken = self.host.charge(&self.account()?, self.amount(unit, units)).await;
                return self.covered(taken, units, None);
            };
            let own = self.reserve_own(unit, units, ASKING).await?;
            let amount = Amount { budgets: &team.budgets, unit, units };
            let taken = self.host.charge(&account_of(team), amount).await;
            let taken = self.covered(taken, units, Some(team));
            let used = if taken.is_ok() { units } else { 0 };
            self.settle_own(own, (unit, used)).await;
            taken
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
    ) -> Result<Option<PurseReservation>, Rejection> {
        if !self.limits(unit) {
            return Ok(None);
        }
        let own = self.reserve_own(unit, units, life).await?;
        let Some(team) = self.team_with(unit) else {
            return Ok(Some(PurseReservation { own, team: None }));
        };
        let amount = Amount { budgets: &team.budgets, unit, units };
        let reserved = self.host.reserve(&account_of(team), amount, life).await;
        match self.covered(reserved, units, Some(team)) {
            Ok(reserved) => Ok(Some(PurseReservation { own, team: Some(reserved) })),
            Err(rejection) => {
                self.settle_own(own, (unit, 0)).await;
                Err(rejection)
            }
        }
    }

    /// Ends a reservation of a unit, of which `used` was used. If the ledger does not respond, what was reserved counts as used later.
    pub async fn settle(&self, reservation: PurseReservation, (unit, used): (Unit, u64)) {
        let PurseReservation { own, team: of_team } = reservation;
        if let (Some(reservation), Some(team)) = (of_team, self.team()) {
            let settled = self.host.settle(&account_of(team), reservation, used).await;
            self.log_failed(settled);
        }
        self.settle_own(own, (unit, used)).await;
    }

    /// Reserves units from the caller's own budgets; `None` if none of them is of the unit.
    async fn reserve_own(
        &self,
        unit: Unit,
        units: u64,
        life: Duration,
    ) -> Result<Option<Reservation>, Rejection> {
        if !has(self.budgets(), unit) {
            return Ok(None);
        }
        let reserved = self.host.reserve(&self.account()?, self.amount(unit, units), life).await;
        self.covered(reserved, units, None).map(Some)
    }

    /// Ends a reservation of the caller. What a member of a team uses is counted without one too, so that the usage of the team has
    /// a part for each.
    async fn settle_own(&self, own: Option<Reservation>, (unit, used): (Unit, u64)) {
        let Ok(account) = self.account() else { return };
        let settled = match own {
            Some(reservation) => self.host.settle(&account, reservation, used).await,
            None if used == 0 => return,
            None => self.host.charge(&account, self.amount(unit, used)).await.map(drop),
        };
        self.log_failed(settled);
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
        team: Option<&TeamSettings>,
    ) -> Result<T, Rejection> {
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(exceeded)) => {
                let team = team.map(|team| team.name.clone());
                let exceeded = BudgetExceeded::new(exceeded, units, team, self.host.now_ms());
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

    fn log_failed(&self, result: Result<(), LedgerError>) {
        if let Err(error) = result {
            self.log(&error);
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

fn has(budgets: &[Budget], unit: Unit) -> bool {
    budgets.iter().any(|budget| budget.unit == unit)
}

/// The account of a team in the ledger.
fn account_of(team: &TeamSettings) -> String {
    Account::Team(team.name.clone()).to_string()
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
