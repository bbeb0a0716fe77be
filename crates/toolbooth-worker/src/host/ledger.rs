//! The ledger: a Durable Object (`js/ledger.js`).

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolbooth::budget::{Budget, Unit, Window};
use toolbooth::host::{
    AccountUsage, Amount, BoxFuture, DayUsage, Exceeded, LEDGER, Ledger, LedgerError, Reservation,
    WindowUsage,
};
use toolbooth::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{Bindings, milliseconds, reason};

#[wasm_bindgen(module = "/js/ask.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn ask(namespace: &JsValue, operation: &str, argument: &str) -> Result<JsValue, JsValue>;
}

/// The largest amount that JS counts exactly: nine million dollars.
const MOST: u64 = (1 << 53) - 1;

#[derive(Serialize)]
struct Claim<'a> {
    key: &'a str,
    life: u32,
}

#[derive(Serialize)]
struct Taken<'a> {
    account: &'a str,
    budgets: Vec<JsBudget<&'static str>>,
    unit: &'static str,
    units: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    life: Option<u32>,
}

#[derive(Serialize)]
struct Settlement<'a> {
    account: &'a str,
    reservation: u64,
    used: u64,
}

#[derive(Serialize)]
struct Account<'a> {
    account: &'a str,
}

#[derive(Serialize)]
struct Names<'a> {
    after: &'a str,
    most: usize,
}

#[derive(Serialize, Deserialize)]
struct JsBudget<S> {
    window: S,
    unit: S,
    limit: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TakeResult {
    Reservation(u64),
    Exceeded { window: String, limit: u64, left: u64, resets: u64, reserved: bool },
}

#[derive(Deserialize)]
struct Usage {
    budgets: Vec<JsBudget<String>>,
    windows: Vec<JsWindow>,
    days: Vec<JsDay>,
}

#[derive(Deserialize)]
struct JsWindow {
    window: String,
    unit: String,
    used: u64,
    reserved: u64,
}

#[derive(Deserialize)]
struct JsDay {
    day: u64,
    unit: String,
    units: u64,
}

/// The unit and the window of these names; `None` if a later version has stored them.
fn named(unit: &str, window: &str) -> Option<(Unit, Window)> {
    let unit = unit_named(unit)?;
    Some((unit, Window::ALL.into_iter().find(|it| it.name() == window)?))
}

fn unit_named(name: &str) -> Option<Unit> {
    Unit::ALL.into_iter().find(|it| it.name() == name)
}

impl From<Usage> for AccountUsage {
    fn from(Usage { budgets, windows, days }: Usage) -> Self {
        let budget = |it: JsBudget<String>| {
            let (unit, window) = named(&it.unit, &it.window)?;
            Some(Budget { window, unit, limit: it.limit })
        };
        let window = |it: JsWindow| {
            let (unit, window) = named(&it.unit, &it.window)?;
            Some(WindowUsage { window, unit, used: it.used, reserved: it.reserved })
        };
        let day =
            |it: JsDay| Some(DayUsage { day: it.day, unit: unit_named(&it.unit)?, used: it.units });
        Self {
            budgets: budgets.into_iter().filter_map(budget).collect(),
            windows: windows.into_iter().filter_map(window).collect(),
            days: days.into_iter().filter_map(day).collect(),
        }
    }
}

fn malformed() -> LedgerError {
    LedgerError::Failed("its answer is malformed".to_owned())
}

impl Bindings {
    async fn in_ledger<T: DeserializeOwned>(
        &self,
        operation: &str,
        argument: impl Serialize,
    ) -> Result<T, LedgerError> {
        let namespace = self.binding(LEDGER);
        if !namespace.is_object() {
            return Err(LedgerError::NotBound);
        }
        let answer = ask(&namespace, operation, &json::to_string(&argument)).await;
        let answer = answer.map_err(|error| LedgerError::Failed(reason(error)))?;
        answer.as_string().and_then(|text| json::read(text.as_bytes())).ok_or_else(malformed)
    }

    /// Takes an amount at once, or reserves it for `life`.
    async fn taken(
        &self,
        account: &str,
        amount: Amount<'_>,
        life: Option<Duration>,
    ) -> Result<Result<Reservation, Exceeded>, LedgerError> {
        let Amount { budgets, unit, units } = amount;
        let budgets = budgets.iter().map(|it| JsBudget {
            window: it.window.name(),
            unit: it.unit.name(),
            limit: it.limit,
        });
        let taken = Taken {
            account,
            budgets: budgets.collect(),
            unit: unit.name(),
            units: units.min(MOST),
            life: life.map(milliseconds),
        };
        match self.in_ledger("take", taken).await? {
            TakeResult::Reservation(number) => Ok(Ok(Reservation(number))),
            TakeResult::Exceeded { window, limit, left, resets, reserved } => {
                let (unit, window) = named(unit.name(), &window).ok_or_else(malformed)?;
                Ok(Err(Exceeded {
                    budget: Budget { window, unit, limit },
                    left,
                    resets_in_ms: resets,
                    is_reserved: reserved,
                }))
            }
        }
    }
}

impl Ledger for Bindings {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(self.in_ledger("claim", Claim { key, life: milliseconds(life) }))
    }

    fn charge<'a>(
        &'a self,
        account: &'a str,
        amount: Amount<'a>,
    ) -> BoxFuture<'a, Result<Result<(), Exceeded>, LedgerError>> {
        Box::pin(async move { Ok(self.taken(account, amount, None).await?.map(drop)) })
    }

    fn reserve<'a>(
        &'a self,
        account: &'a str,
        amount: Amount<'a>,
        life: Duration,
    ) -> BoxFuture<'a, Result<Result<Reservation, Exceeded>, LedgerError>> {
        Box::pin(self.taken(account, amount, Some(life)))
    }

    fn settle<'a>(
        &'a self,
        account: &'a str,
        reservation: Reservation,
        used: u64,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        let settlement = Settlement { account, reservation: reservation.0, used: used.min(MOST) };
        Box::pin(self.in_ledger("settle", settlement))
    }

    fn usage<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<AccountUsage, LedgerError>> {
        Box::pin(
            async move { Ok(self.in_ledger::<Usage>("usage", Account { account }).await?.into()) },
        )
    }

    fn accounts<'a>(
        &'a self,
        after: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>> {
        Box::pin(self.in_ledger("accounts", Names { after, most }))
    }
}
