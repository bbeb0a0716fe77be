//! Errors of MiniMax, which come with the status 200 and without an answer.

use crate::wire::fields::count;
use toolbooth::json::Value;

/// The code of an error, if an answer is one.
pub(in crate::gateway::format) fn code(value: &Value<'_>) -> Option<u64> {
    count(value.get("base_resp")?.get("status_code")).filter(|code| *code != 0)
}

/// The status that fits it, as in MiniMax's reference (platform.minimax.io, "Error Codes", September 2026).
pub(in crate::gateway::format) fn status(code: u64) -> u16 {
    match code {
        1001 => 504,
        1002 | 1039 | 1041 => 429,
        1004 | 2049 => 401,
        1008 => 402,
        1026 | 2013 => 400,
        _ => 500,
    }
}
