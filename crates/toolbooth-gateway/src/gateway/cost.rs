//! What a request costs: it is reserved from the caller's budgets before a model is asked, and settled by the tokens that
//! the provider has counted.

use std::time::Duration;

use super::{Chat, ErrorKind, GatewayError, Result, Target};
use crate::wire::Usage;
use toolbooth::budget::Unit;
use toolbooth::call::Rejection;
use toolbooth::host::Reservation;
use toolbooth::json::{self, Value};

/// The price of a model, in nano-dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    pub input: u64,
    pub output: u64,
    /// That of input that the provider has cached.
    pub cached: u64,
}

const MILLION: u128 = 1_000_000;
/// The tokens of an image or a file of which the request has only the address: more than any image has.
const REFERRED_TOKENS: u64 = 100_000;
/// How much longer than the longest answer a reservation lasts.
const MARGIN: Duration = Duration::from_secs(60);

/// What was reserved for an answer.
#[derive(Debug)]
pub(super) struct Hold {
    reservation: Reservation,
    units: u64,
    price: Price,
}

impl Price {
    /// What these tokens cost, rounded up to a nano-dollar.
    fn of(self, input: u64, cached: u64, output: u64) -> u64 {
        let cost = |tokens: u64, price: u64| u128::from(tokens).saturating_mul(price.into());
        let costs = cost(input, self.input)
            .saturating_add(cost(cached, self.cached))
            .saturating_add(cost(output, self.output));
        u64::try_from(costs.div_ceil(MILLION)).unwrap_or(u64::MAX)
    }

    /// The most that a request can cost.
    fn most(self, input: u64, output: u64) -> u64 {
        Self { input: self.input.max(self.cached), ..self }.of(input, 0, output)
    }

    /// What an answer has cost; `None` if the provider has counted nothing.
    fn of_usage(self, usage: &Usage) -> Option<u64> {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let others = usage.total_tokens.saturating_sub(usage.prompt_tokens);
        let output = usage.completion_tokens.max(others);
        (usage.prompt_tokens > 0 || output > 0)
            .then(|| self.of(usage.prompt_tokens - cached, cached, output))
    }
}

/// The most input tokens of a request in a provider's format, and the limit of its output tokens, if it has one.
fn most_tokens(body: &[u8]) -> (u64, Option<u64>) {
    let value = json::parse_bytes(body).unwrap_or_default();
    let count = |value: Option<&Value<'_>>| value?.as_number()?.as_u64();
    let config = value.get("generationConfig");
    let limit = count(value.get("max_completion_tokens"))
        .or_else(|| count(value.get("max_tokens")))
        .or_else(|| count(config.and_then(|it| it.get("maxOutputTokens"))));
    // A token has at least one byte.
    let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
    (bytes.saturating_add(references(&value).saturating_mul(REFERRED_TOKENS)), limit)
}

/// How many images and files the provider gets by their addresses or ids.
fn references(value: &Value<'_>) -> u64 {
    match value {
        Value::Array(values) => values.iter().map(references).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| reference(name, value)).sum(),
        _ => 0,
    }
}

fn reference(name: &str, value: &Value<'_>) -> u64 {
    match (name, value.as_str()) {
        ("url" | "image_url" | "file_url" | "fileUri", Some(url)) => {
            u64::from(!url.starts_with("data:"))
        }
        ("file_id", Some(_)) => 1,
        _ => references(value),
    }
}

impl From<Rejection> for GatewayError {
    /// A limit of the caller is reached, or cannot be counted.
    fn from(rejection: Rejection) -> Self {
        let kind = match &rejection {
            Rejection::BudgetExceeded(_) => ErrorKind::BudgetExceeded,
            Rejection::TooManyRequests { .. } => ErrorKind::RateLimited,
            _ => ErrorKind::Unavailable,
        };
        let retry_after_ms = rejection.retry_after().map(|seconds| u64::from(seconds) * 1000);
        Self { retry_after_ms, ..Self::new(kind, rejection.describe().to_string()) }
    }
}

impl Chat<'_> {
    /// Counts the request.
    pub(super) async fn count(&self) -> Result<()> {
        Ok(self.sender.context().purse().take(Unit::Requests, 1).await?)
    }

    /// Reserves the most that an answer to this body can cost. `None` if no budget counts it: there is none in dollars, or
    /// the caller pays the provider.
    pub(super) async fn reserve(&self, target: &Target<'_>, body: &[u8]) -> Result<Option<Hold>> {
        let purse = self.sender.context().purse();
        if target.is_paid_by_caller || !purse.limits(Unit::Usd) {
            return Ok(None);
        }
        let name = target.name();
        let Some(price) = target.price else {
            let message = format!(
                "The caller has a budget in USD, and MODELS has no price for {name}: the operator must set it"
            );
            return Err(GatewayError::new(ErrorKind::ModelWithoutPrice, message).at("model"));
        };
        let (input, output) = most_tokens(body);
        let Some(output) = output else {
            let message = format!(
                "max_tokens must be sent: the caller has a budget in USD, and neither its key nor MODELS limits the \
                 tokens of answers of {name}"
            );
            return Err(GatewayError::invalid("max_tokens", message));
        };
        let units = price.most(input, output);
        let life = self.time_left()?.saturating_add(self.plan.timeout).saturating_add(MARGIN);
        let reservation = purse.reserve(Unit::Usd, units, life).await?;
        Ok(reservation.map(|reservation| Hold { reservation, units, price }))
    }

    /// Settles what was reserved for an answer by the tokens that the provider has counted. Without them, it counts as used.
    pub(super) async fn settle(&mut self, usage: Option<&Usage>) {
        let Some(hold) = self.hold.take() else { return };
        let used = usage.and_then(|usage| hold.price.of_usage(usage)).unwrap_or(hold.units);
        self.sender.context().purse().settle(hold.reservation, used).await;
    }

    /// Settles what was reserved for an attempt that has failed. One that the provider has rejected costs nothing.
    pub(super) async fn settle_failed(&self, hold: Option<Hold>, error: &GatewayError) {
        let Some(hold) = hold else { return };
        let used = if error.provider_status.is_some() { 0 } else { hold.units };
        self.sender.context().purse().settle(hold.reservation, used).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price =
        Price { input: 2_500_000_000, output: 10_000_000_000, cached: 1_250_000_000 };

    #[test]
    fn what_tokens_cost() {
        for (price, tokens, expected) in [
            (PRICE, (1_000_000, 0, 0), 2_500_000_000),
            (PRICE, (0, 1_000_000, 1_000_000), 11_250_000_000),
            (PRICE, (1, 1, 1), 13_750),
            (PRICE, (0, 0, 0), 0),
            (Price { input: 1, output: 0, cached: 0 }, (1, 0, 0), 1),
            (Price { input: 1, output: 0, cached: 0 }, (1_000_001, 0, 0), 2),
            (
                Price { input: u64::MAX, output: u64::MAX, cached: u64::MAX },
                (u64::MAX, 9, 9),
                u64::MAX,
            ),
        ] {
            let (input, cached, output) = tokens;
            assert_eq!(price.of(input, cached, output), expected, "{price:?} {tokens:?}");
        }
        assert_eq!(PRICE.most(4, 5), 60_000);
        assert_eq!(Price { cached: 5_000_000_000, ..PRICE }.most(4, 5), 70_000);
    }

    #[test]
    fn what_an_answer_has_cost() {
        for (prompt_tokens, cached_tokens, completion_tokens, total_tokens, expected) in [
            (1000, 0, 100, 1100, Some(3_500_000)),
            (1000, 400, 100, 1100, Some(3_000_000)),
            (1000, 4000, 100, 1100, Some(2_250_000)),
            (1000, 0, 100, 1300, Some(5_500_000)),
            (0, 0, 100, 0, Some(1_000_000)),
            (0, 7, 0, 0, None),
        ] {
            let usage = Usage {
                prompt_tokens,
                completion_tokens,
                total_tokens,
                cached_tokens,
                ..Usage::default()
            };
            assert_eq!(PRICE.of_usage(&usage), expected, "{usage:?}");
        }
    }

    #[test]
    fn the_most_tokens_of_a_request() {
        for (body, referred, limit) in [
            (r#"{"max_tokens":5}"#, 0, Some(5)),
            (r#"{"max_completion_tokens":6,"max_tokens":5}"#, 0, Some(6)),
            (r#"{"generationConfig":{"maxOutputTokens":7}}"#, 0, Some(7)),
            ("{}", 0, None),
            (
                r#"{"messages":[{"image_url":{"url":"https://a.example/b.png"}},{"source":{"url":"http://a"}}]}"#,
                2,
                None,
            ),
            (
                r#"{"messages":[{"image_url":{"url":"data:image/png;base64,AAAA"}},{"text":"https://a"}]}"#,
                0,
                None,
            ),
            (r#"{"parts":[{"file":{"file_id":"f"}},{"fileData":{"fileUri":"gs://a"}}]}"#, 2, None),
        ] {
            let expected = (body.len() as u64 + referred * REFERRED_TOKENS, limit);
            assert_eq!(most_tokens(body.as_bytes()), expected, "{body}");
        }
    }
}
