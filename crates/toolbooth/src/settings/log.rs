//! What the log contains: `LOG` and `LOG_SAMPLE`.

use super::reader::{Row, VariableDoc, VariableReader};
use crate::json::{self, Value};

/// What the log contains. Problems of the server and of its tools are always logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSettings {
    /// `LOG`: which events.
    pub detail: LogDetail,
    /// `LOG_SAMPLE`: how many of the calls that succeed.
    pub sample: SampleRate,
}

/// Which events are logged, apart from problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogDetail {
    /// None.
    Off,
    /// Calls that fail and credentials that are rejected.
    Errors,
    /// All calls, and the life of grants.
    Calls,
}

/// A part of all calls: between 0, none, and 2^32, all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRate(pub u64);

impl SampleRate {
    /// All calls.
    pub const ALL: Self = Self(1 << 32);

    /// Parses a number from 0 to 1. JSON's parser is part of the Worker anyway, `str::parse` would add its own.
    fn parse(text: &str) -> Option<Self> {
        let Ok(Value::Number(rate)) = json::parse(text) else { return None };
        let rate = rate.as_f64().filter(|rate| (0.0..=1.0).contains(rate))?;
        // Neither negative nor larger than 2^32.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(Self((rate * 4_294_967_296.0) as u64))
    }
}

static LOG: Row<LogDetail> = Row::new(
    "LOG",
    "`calls`: a line for every call, and for rejected credentials, challenges and grants. \
     `errors`: only for calls that fail and credentials that are rejected. `off`: none of these. \
     Problems of the server and its tools are always logged | `calls` | the default applies",
    LogDetail::Calls,
    |text| match text {
        "off" => Ok(LogDetail::Off),
        "errors" => Ok(LogDetail::Errors),
        "calls" => Ok(LogDetail::Calls),
        _ => Err("must be off, errors or calls".to_owned()),
    },
);
static LOG_SAMPLE: Row<SampleRate> = Row::new(
    "LOG_SAMPLE",
    "the part of the successful calls that is logged, a number from 0 to 1. Other events are \
     always logged | `1`, all | the default applies",
    SampleRate::ALL,
    |text| SampleRate::parse(text).ok_or_else(|| "must be a number from 0 to 1".to_owned()),
);

pub(super) static DOCS: &[VariableDoc] = &[LOG.doc(), LOG_SAMPLE.doc()];

impl LogSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        Self { detail: reader.get(&LOG), sample: reader.get(&LOG_SAMPLE) }
    }
}
