//! The ledger: a Durable Object (`js/ledger.js`).

use std::time::Duration;

use js_sys::Promise;
use toolbooth::budget::{Budget, Unit, Window};
use toolbooth::host::{Amount, BoxFuture, Exceeded, LEDGER, Ledger, LedgerError, Reservation};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::{Bindings, reason, settled};

#[wasm_bindgen(module = "/js/ask.js")]
extern "C" {
    fn claim(namespace: &JsValue, key: &str, life: f64, request: u32) -> Promise;
    fn raise(namespace: &JsValue, key: &str, number: f64, life: f64) -> Promise;
    fn take(
        namespace: &JsValue,
        account: &str,
        budgets: &[f64],
        unit: usize,
        units: f64,
        life: Option<f64>,
    ) -> Promise;
    fn settle(namespace: &JsValue, account: &str, reservation: f64, used: f64) -> Promise;
    fn usage(namespace: &JsValue, account: &str) -> Promise;
    fn accounts(namespace: &JsValue, after: &str, most: usize) -> Promise;
}

/// The largest amount that JS counts exactly: nine million dollars.
const MOST: u64 = (1 << 53) - 1;

#[allow(clippy::cast_precision_loss)]
fn number(count: u64) -> f64 {
    count.min(MOST) as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn count(number: f64) -> u64 {
    // The cast saturates.
    number as u64
}

/// A duration may be longer than 32 bits of milliseconds.
fn milliseconds(duration: Duration) -> f64 {
    number(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// What has a position in a list of [`Window::ALL`] or [`Unit::ALL`].
fn at<T: Copy>(all: &[T], position: f64) -> Option<T> {
    usize::try_from(count(position)).ok().and_then(|position| all.get(position).copied())
}

fn position<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|it| it == one).unwrap_or_default()
}

fn exceeded(unit: Unit, numbers: &[f64]) -> Option<Exceeded> {
    let [window, limit, left, resets, reserved] = *numbers else { return None };
    let budget = Budget { window: at(&Window::ALL, window)?, unit, limit: count(limit) };
    let (left, resets_in_ms) = (count(left), count(resets));
    Some(Exceeded { budget, left, resets_in_ms, is_reserved: reserved > 0.0 })
}

fn failed(error: JsValue) -> LedgerError {
    LedgerError::Failed(reason(error))
}

fn malformed() -> LedgerError {
    LedgerError::Failed("its answer is malformed".to_owned())
}

fn numbers(value: JsValue) -> Vec<f64> {
    value.dyn_into::<js_sys::Float64Array>().map(|array| array.to_vec()).unwrap_or_default()
}

async fn text(promise: Promise) -> Result<String, LedgerError> {
    Ok(settled(promise).await.map_err(failed)?.as_string().unwrap_or_default())
}

impl Bindings {
    fn ledger(&self) -> Result<JsValue, LedgerError> {
        let namespace = self.binding(LEDGER);
        if namespace.is_object() { Ok(namespace) } else { Err(LedgerError::NotBound) }
    }

    /// Takes an amount at once, or reserves it for `life`.
    async fn taken(
        &self,
        account: &str,
        amount: Amount<'_>,
        life: Option<Duration>,
    ) -> Result<Result<Reservation, Exceeded>, LedgerError> {
        let Amount { budgets, unit, units } = amount;
        let mut listed = Vec::with_capacity(3 * budgets.len());
        for Budget { window, unit, limit } in budgets {
            let [window, unit] = [position(&Window::ALL, window), position(&Unit::ALL, unit)];
            listed.extend([number(window as u64), number(unit as u64), number(*limit)]);
        }
        let (unit_position, life) = (position(&Unit::ALL, &unit), life.map(milliseconds));
        let namespace = self.ledger()?;
        let taken = take(&namespace, account, &listed, unit_position, number(units), life);
        match &*numbers(settled(taken).await.map_err(failed)?) {
            [reservation] => Ok(Ok(Reservation(count(*reservation)))),
            numbers => exceeded(unit, numbers).map(Err).ok_or_else(malformed),
        }
    }
}

impl Ledger for Bindings {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            let claimed = claim(&self.ledger()?, key, milliseconds(life), self.request);
            Ok(settled(claimed).await.map_err(failed)?.is_truthy())
        })
    }

    fn raise<'a>(
        &'a self,
        key: &'a str,
        to: u64,
        life: Duration,
    ) -> BoxFuture<'a, Result<u64, LedgerError>> {
        Box::pin(async move {
            let raised = raise(&self.ledger()?, key, number(to), milliseconds(life));
            let before = settled(raised).await.map_err(failed)?.as_f64();
            before.map(count).ok_or_else(malformed)
        })
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
        Box::pin(async move {
            let (ledger, reservation) = (self.ledger()?, number(reservation.0));
            let end = settle(&ledger, account, reservation, number(used));
            settled(end).await.map(drop).map_err(failed)
        })
    }

    fn read_usage<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<String, LedgerError>> {
        Box::pin(async move { text(usage(&self.ledger()?, account)).await })
    }

    fn read_accounts<'a>(
        &'a self,
        after: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<String, LedgerError>> {
        Box::pin(async move { text(accounts(&self.ledger()?, after, most)).await })
    }
}
