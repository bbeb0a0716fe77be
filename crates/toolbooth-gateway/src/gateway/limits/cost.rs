//! What a request costs: it is reserved from the caller's budgets before a model is asked, and settled by the tokens that
//! the provider has counted.

use std::time::Duration;

use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::relay::chat::Chat;
use crate::gateway::relay::plan::Target;
use crate::wire::Usage;
use toolbooth::budget::Unit;
use toolbooth::call::{Purse, PurseReservation, Rejection};
use toolbooth::json::{self, Value};

/// The price of a model, in nano-dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    pub input: u64,
    pub output: u64,
    /// That of input that the provider has cached.
    pub cached: u64,
    /// That of input that the provider writes into its cache.
    pub cache_write: u64,
    /// The same for input that it keeps there for an hour, and not only minutes.
    pub long_cache_write: u64,
    /// Whether that covers all that the provider charges for, and not only tokens.
    pub includes_extras: bool,
}

const MILLION: u128 = 1_000_000;
/// The most tokens that an image or a sound has, however well it is compressed, and whether the provider fetches it or not.
const IMAGE_TOKENS: u64 = 100_000;
/// The most tokens that a file or a video has: as many as the largest models read at once.
const FILE_TOKENS: u64 = 1_000_000;
/// The most values of a body that are counted. More than a request may have, with the tools of this server.
const MAX_VALUES: usize = 1 << 20;
/// How much longer than the longest answer a reservation lasts.
const MARGIN: Duration = Duration::from_secs(60);

/// What was reserved for an answer.
#[derive(Debug)]
pub(in crate::gateway) struct Hold {
    reservation: PurseReservation,
    units: u64,
    price: Price,
}

/// The most tokens of a request.
pub(in crate::gateway) struct MostTokens {
    pub(in crate::gateway) input: u64,
    /// The limit of the output, if there is one.
    pub(in crate::gateway) output: Option<u64>,
    /// Whether the provider may keep the input in its cache for an hour.
    pub(in crate::gateway) keeps_long: bool,
}

impl Price {
    /// What these tokens cost, rounded up to a nano-dollar: those of input that are neither read from a cache nor written into it, those
    /// that are read, written and written for an hour, and those of the output.
    fn of(self, tokens: [u64; 5]) -> u64 {
        let prices =
            [self.input, self.cached, self.cache_write, self.long_cache_write, self.output];
        let costs = tokens.into_iter().zip(prices).fold(0_u128, |sum, (tokens, price)| {
            sum.saturating_add(u128::from(tokens).saturating_mul(price.into()))
        });
        u64::try_from(costs.div_ceil(MILLION)).unwrap_or(u64::MAX)
    }

    /// The most that a request can cost.
    fn most(self, input: u64, output: u64, keeps_long: bool) -> u64 {
        let long = if keeps_long { self.long_cache_write } else { 0 };
        let highest = self.input.max(self.cached).max(self.cache_write).max(long);
        Self { input: highest, ..self }.of([input, 0, 0, 0, output])
    }

    /// What an answer has cost; `None` if the provider has not counted it.
    fn of_usage(self, usage: &Usage) -> Option<u64> {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let others = usage.total_tokens.saturating_sub(usage.prompt_tokens);
        let output = usage.completion_tokens.max(others);
        let rest = usage.prompt_tokens - cached;
        let written = usage.cache_write_tokens.min(rest);
        let long = usage.long_cache_write_tokens.min(written);
        // Some providers count only what they got.
        (output > 0).then(|| self.of([rest - written, cached, written - long, long, output]))
    }
}

/// The most tokens of a request in a provider's format.
fn most_tokens(body: &[u8]) -> MostTokens {
    let mut left = MAX_VALUES;
    let text = str::from_utf8(body).unwrap_or_default();
    let value = json::parse_within(text, &mut left).unwrap_or_default();
    // A token has at least one byte.
    let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
    MostTokens {
        input: bytes.saturating_add(media_tokens(&value)),
        output: output_limit(&value),
        keeps_long: keeps_long(&value),
    }
}

/// Whether a request asks the provider to keep some of it in a cache for longer than Anthropic's usual five minutes.
fn keeps_long(value: &Value<'_>) -> bool {
    match value {
        Value::Array(values) => values.iter().any(keeps_long),
        Value::Object(members) => members.iter().any(|(name, value)| {
            name == "ttl" && value.as_str() != Some("5m") || keeps_long(value)
        }),
        _ => false,
    }
}

/// The limit of the output tokens. Of several the largest, because a provider may know only one of them; `None` if one of them
/// limits nothing.
fn output_limit(body: &Value<'_>) -> Option<u64> {
    let config = body.get("generationConfig");
    let limits = [
        body.get("max_completion_tokens"),
        body.get("max_tokens"),
        body.get("max_output_tokens"),
        config.and_then(|it| it.get("maxOutputTokens")),
    ];
    let mut most = None;
    for limit in limits.into_iter().flatten().filter(|limit| !matches!(limit, Value::Null)) {
        let limit = limit.as_number()?.as_u64().filter(|limit| *limit > 0)?;
        most = most.max(Some(limit));
    }
    most
}

/// The most tokens of the images, sounds, files and videos of a request beside its bytes: those are few if they are well compressed, or
/// if the provider fetches them.
fn media_tokens(value: &Value<'_>) -> u64 {
    let each = |sum: u64, tokens: u64| sum.saturating_add(tokens);
    match value {
        Value::Array(values) => values.iter().map(media_tokens).fold(0, each),
        Value::Object(members) => {
            members.iter().map(|(name, value)| tokens_of(name, value)).fold(0, each)
        }
        _ => 0,
    }
}

fn tokens_of(name: &str, value: &Value<'_>) -> u64 {
    match (name, value) {
        // No media, but what tools get and return. The conversation of Responses is an array.
        ("input", Value::Object(_)) | ("args" | "response" | "tools", _) => 0,
        ("image_url" | "input_audio" | "audio_url", Value::String(_) | Value::Object(_)) => {
            IMAGE_TOKENS
        }
        // A part of Anthropic or Gemini, which says what it is only within.
        ("source" | "inlineData", Value::Object(part)) => {
            let kind = part.get("media_type").or_else(|| part.get("mimeType"));
            let is_image =
                kind.and_then(Value::as_str).is_some_and(|kind| kind.starts_with("image/"));
            if is_image { IMAGE_TOKENS } else { FILE_TOKENS }
        }
        ("file" | "fileData", Value::Object(_)) | ("file_id" | "file_data", Value::String(_)) => {
            FILE_TOKENS
        }
        (name, Value::String(_) | Value::Object(_)) if name.ends_with("_url") => FILE_TOKENS,
        _ => media_tokens(value),
    }
}

/// Whether a provider has rejected a request before its model has worked. A time that is over, and most errors of the provider itself,
/// say nothing about that.
fn is_free(status: u16) -> bool {
    matches!(status, 400..=407 | 409..=499 | 503 | 529)
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
        Self::new(kind, rejection.describe().to_string()).retry_after(retry_after_ms)
    }
}

impl Chat<'_> {
    /// Reserves the most that an answer to this body can cost. `None` if no budget counts it: there is none in dollars, or
    /// the caller pays the provider.
    pub(in crate::gateway) async fn reserve(
        &self,
        target: &Target<'_>,
        body: &[u8],
    ) -> Result<Option<Hold>> {
        let life = self.time_left()?.saturating_add(self.plan.timeout);
        let purse = self.sender.context().purse();
        Hold::reserve(&purse, target, &|| most_tokens(body), life).await
    }

    /// Settles what was reserved for an answer by the tokens that the provider has counted. Without them, it counts as used.
    pub(in crate::gateway) async fn settle(&mut self, usage: Option<&Usage>) {
        let used = self.hold.as_ref().and_then(|hold| hold.price.of_usage(usage?));
        Hold::settle(self.hold.take(), &self.sender.context().purse(), used).await;
    }
}

impl Hold {
    /// Reserves the most that a request can cost: the price of its input tokens, and of the limit of its output tokens, if it has
    /// one. `None` if no budget counts it: there is none in dollars, or the caller pays the provider.
    pub(in crate::gateway) async fn reserve(
        purse: &Purse<'_>,
        target: &Target<'_>,
        most_tokens: &dyn Fn() -> MostTokens,
        life: Duration,
    ) -> Result<Option<Self>> {
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
        let MostTokens { input, output, keeps_long } = most_tokens();
        let Some(output) = output else {
            let message = format!(
                "max_tokens must be a whole number above 0, because the caller has a budget in USD. It may be absent if the \
                 caller's key, or MODELS, limits the tokens of answers of {name}"
            );
            return Err(GatewayError::invalid("max_tokens", message));
        };
        let units = price.most(input, output, keeps_long);
        let reserved = purse.reserve(Unit::Usd, units, life.saturating_add(MARGIN)).await?;
        Ok(reserved.map(|reservation| Self { reservation, units, price }))
    }

    /// Settles what was reserved by what was used. If that is unknown, all of it counts.
    pub(in crate::gateway) async fn settle(
        hold: Option<Self>,
        purse: &Purse<'_>,
        used: Option<u64>,
    ) {
        let Some(hold) = hold else { return };
        purse.settle(hold.reservation, (Unit::Usd, used.unwrap_or(hold.units))).await;
    }

    /// Settles what was reserved for an attempt that has failed. One that the provider has rejected costs nothing, unless it has counted
    /// tokens.
    pub(in crate::gateway) async fn settle_failed(
        hold: Option<Self>,
        purse: &Purse<'_>,
        error: &GatewayError,
    ) {
        let used = match (&hold, &error.usage) {
            (Some(hold), Some(usage)) => hold.price.of_usage(usage),
            _ => error.provider_status.is_some_and(is_free).then_some(0),
        };
        Self::settle(hold, purse, used).await;
    }

    /// What input alone has cost; `None` if the provider has not counted it.
    pub(in crate::gateway) fn cost_of_input(&self, usage: &Usage) -> Option<u64> {
        let tokens = usage.prompt_tokens;
        (tokens > 0).then(|| self.price.of([tokens, 0, 0, 0, 0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: 2_500_000_000,
        output: 10_000_000_000,
        cached: 1_250_000_000,
        cache_write: 5_000_000_000,
        long_cache_write: 8_000_000_000,
        includes_extras: false,
    };

    #[test]
    fn what_tokens_cost() {
        for (price, tokens, expected) in [
            (PRICE, [1_000_000, 0, 0, 0, 0], 2_500_000_000),
            (PRICE, [0, 0, 1_000_000, 0, 0], 5_000_000_000),
            (PRICE, [0, 0, 0, 1_000_000, 0], 8_000_000_000),
            (PRICE, [0, 1_000_000, 0, 0, 1_000_000], 11_250_000_000),
            (PRICE, [1, 1, 1, 1, 1], 26_750),
            (PRICE, [0, 0, 0, 0, 0], 0),
            (Price { input: 1, output: 0, cached: 0, ..PRICE }, [1, 0, 0, 0, 0], 1),
            (Price { input: 1, output: 0, cached: 0, ..PRICE }, [1_000_001, 0, 0, 0, 0], 2),
            (
                Price { input: u64::MAX, output: u64::MAX, cached: u64::MAX, ..PRICE },
                [u64::MAX, 9, 9, 9, 9],
                u64::MAX,
            ),
        ] {
            assert_eq!(price.of(tokens), expected, "{price:?} {tokens:?}");
        }
        let usual = Price { cache_write: 2_500_000_000, ..PRICE };
        assert_eq!(usual.most(4, 5, false), 60_000);
        assert_eq!(PRICE.most(4, 5, false), 70_000);
        assert_eq!(PRICE.most(4, 5, true), 82_000);
        assert_eq!(Price { cached: 5_000_000_000, ..usual }.most(4, 5, false), 70_000);
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
            (1000, 0, 0, 0, None),
            (1000, 0, 0, 1000, None),
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
        // What is written into the cache is a part of the input.
        for (cached_tokens, cache_write_tokens, long_cache_write_tokens, expected) in [
            (0, 400, 0, 4_500_000),
            (0, 400, 100, 4_800_000),
            (0, 400, 4000, 5_700_000),
            (600, 400, 0, 3_750_000),
            (600, 4000, 0, 3_750_000),
        ] {
            let usage = Usage {
                prompt_tokens: 1000,
                completion_tokens: 100,
                total_tokens: 1100,
                cached_tokens,
                cache_write_tokens,
                long_cache_write_tokens,
                ..Usage::default()
            };
            assert_eq!(PRICE.of_usage(&usage), Some(expected), "{usage:?}");
        }
    }

    #[test]
    fn the_most_tokens_of_a_request() {
        for (body, media, limit) in [
            (r#"{"max_tokens":5}"#, 0, Some(5)),
            (r#"{"max_completion_tokens":6,"max_tokens":5}"#, 0, Some(6)),
            (r#"{"max_completion_tokens":1,"max_tokens":100000}"#, 0, Some(100_000)),
            (r#"{"max_completion_tokens":null,"max_tokens":5}"#, 0, Some(5)),
            (r#"{"max_completion_tokens":1,"max_tokens":0}"#, 0, None),
            (r#"{"max_tokens":-1}"#, 0, None),
            (r#"{"max_tokens":"5"}"#, 0, None),
            (r#"{"generationConfig":{"maxOutputTokens":7}}"#, 0, Some(7)),
            (r#"{"max_output_tokens":8}"#, 0, Some(8)),
            (
                r#"{"input":[{"content":[{"type":"input_image","image_url":"https://a"}]}]}"#,
                IMAGE_TOKENS,
                None,
            ),
            ("{}", 0, None),
            (
                r#"[{"image_url":{"url":"https://a.example/b.png"}},{"image_url":"https://a"}]"#,
                2 * IMAGE_TOKENS,
                None,
            ),
            (
                r#"{"content":[{"image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
                IMAGE_TOKENS,
                None,
            ),
            (r#"{"input_audio":{"data":"AAAA","format":"mp3"}}"#, IMAGE_TOKENS, None),
            (r#"{"video_url":{"url":"https://a"}}"#, FILE_TOKENS, None),
            (r#"{"file":{"file_id":"f"}}"#, FILE_TOKENS, None),
            (r#"{"file":{"file_data":"data:application/pdf;base64,AAAA"}}"#, FILE_TOKENS, None),
            (
                r#"{"source":{"type":"base64","media_type":"image/png","data":"AAAA"}}"#,
                IMAGE_TOKENS,
                None,
            ),
            (r#"{"source":{"type":"url","url":"https://a"}}"#, FILE_TOKENS, None),
            (r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#, IMAGE_TOKENS, None),
            (r#"{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}"#, FILE_TOKENS, None),
            (r#"{"fileData":{"fileUri":"gs://a"}}"#, FILE_TOKENS, None),
            (r#"{"input":{"source":{"url":"a"}},"args":{"file":{}},"text":"https://a"}"#, 0, None),
            (r#"{"tools":[{"properties":{"image_url":{"type":"string"}}}]}"#, 0, None),
        ] {
            let most = most_tokens(body.as_bytes());
            assert_eq!((most.input, most.output), (body.len() as u64 + media, limit), "{body}");
        }
        let many = format!(r#"{{"a":[{}0],"max_tokens":5}}"#, "0,".repeat(100_000));
        let most = most_tokens(many.as_bytes());
        assert_eq!((most.input, most.output), (many.len() as u64, Some(5)));
        for (body, expected) in [
            (r#"{"system":[{"cache_control":{"type":"ephemeral"}}]}"#, false),
            (r#"{"cache_control":{"type":"ephemeral","ttl":"5m"}}"#, false),
            (r#"{"messages":[{"content":[{"cache_control":{"ttl":"1h"}}]}]}"#, true),
        ] {
            assert_eq!(most_tokens(body.as_bytes()).keeps_long, expected, "{body}");
        }
    }

    #[test]
    fn which_errors_of_a_provider_are_free() {
        for (statuses, expected) in [
            (&[400, 401, 404, 413, 429, 503, 529][..], true),
            (&[200, 408, 500, 502, 504, 524], false),
        ] {
            for status in statuses {
                assert_eq!(is_free(*status), expected, "{status}");
            }
        }
    }
}
