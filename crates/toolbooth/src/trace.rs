//! Trace context (W3C Trace Context): parses `traceparent` and continues the trace.
//!
//! `tracestate` and `baggage` are not read: only `traceparent` is passed on, because the others can contain data
//! of callers.

/// The header, and the member of MCP's `_meta`.
pub const TRACEPARENT: &str = "traceparent";

/// The trace that a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// The id of the trace: 32 hexadecimal digits.
    trace_id: String,
    /// The id of the caller's span: 16 hexadecimal digits.
    parent_id: String,
    /// Whether the caller records the trace (bit 0), and whether the trace id is random (bit 1).
    flags: u8,
}

/// The flags that version 00 and its successor define. The others must be passed on as zero.
const KNOWN_FLAGS: u8 = 0b11;

impl TraceContext {
    /// Parses the value of a `traceparent`; `None` if it is invalid (Trace Context, 3.2.2).
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '-');
        let version = hex(parts.next()?, 2)?;
        let (trace_id, parent_id) = (hex(parts.next()?, 32)?, hex(parts.next()?, 16)?);
        let flags = hex(parts.next()?, 2)?;
        // Later versions may have more fields.
        let has_more = parts.next().is_some();
        let is_zero = |id: &str| id.bytes().all(|byte| byte == b'0');
        if version == "ff" || version == "00" && has_more || is_zero(trace_id) || is_zero(parent_id)
        {
            return None;
        }
        Some(Self {
            trace_id: trace_id.to_owned(),
            parent_id: parent_id.to_owned(),
            flags: u8::from_str_radix(flags, 16).ok()? & KNOWN_FLAGS,
        })
    }
}

/// `text` if it has `length` lower-case hexadecimal digits.
fn hex(text: &str, length: usize) -> Option<&str> {
    let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == length && text.bytes().all(is_hex)).then_some(text)
}

/// The span of one call: a part of the caller's trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    context: TraceContext,
    id: String,
}

impl Span {
    /// A span with a random id.
    pub fn new(context: TraceContext, random: [u8; 16]) -> Self {
        let [id @ .., _, _, _, _, _, _, _, _] = random;
        // Zero is not a valid id.
        Self { context, id: format!("{:016x}", u64::from_be_bytes(id).max(1)) }
    }

    /// The id of the trace.
    pub fn trace_id(&self) -> &str {
        &self.context.trace_id
    }

    /// The id of the caller's span.
    pub fn parent_id(&self) -> &str {
        &self.context.parent_id
    }

    /// The id of this span.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The `traceparent` of requests that the call sends.
    pub fn traceparent(&self) -> String {
        let Self { context: TraceContext { trace_id, flags, .. }, id } = self;
        format!("00-{trace_id}-{id}-{flags:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    #[test]
    fn valid_and_invalid_parents() {
        let zeros = "0".repeat(32);
        for (text, flags) in [
            (format!("00-{TRACE}-{PARENT}-01"), Some("01")),
            (format!("00-{TRACE}-{PARENT}-00"), Some("00")),
            (format!("00-{TRACE}-{PARENT}-03"), Some("03")),
            (format!("00-{TRACE}-{PARENT}-ff"), Some("03")),
            (format!("01-{TRACE}-{PARENT}-01"), Some("01")),
            (format!("cc-{TRACE}-{PARENT}-01-later-fields"), Some("01")),
            (format!("00-{TRACE}-{PARENT}-01-more"), None),
            (format!("00-{TRACE}-{PARENT}-01-"), None),
            (format!("00-{TRACE}-{PARENT}-01 "), None),
            (format!(" 00-{TRACE}-{PARENT}-01"), None),
            (format!("00-{TRACE}-{PARENT}-1"), None),
            (format!("00-{TRACE}-{PARENT}"), None),
            (format!("00-{TRACE}-{PARENT}-+1"), None),
            (format!("ff-{TRACE}-{PARENT}-01"), None),
            (format!("0-{TRACE}-{PARENT}-01"), None),
            (format!("00-{zeros}-{PARENT}-01"), None),
            (format!("00-{TRACE}-{}-01", &zeros[..16]), None),
            (format!("00-{}-{PARENT}-01", TRACE.to_uppercase()), None),
            (format!("00-{}-{PARENT}-01", &TRACE[1..]), None),
            (format!("00-{TRACE}-{PARENT}-01, 00-{TRACE}-{PARENT}-01"), None),
            ("canary".to_owned(), None),
            (String::new(), None),
        ] {
            let span = TraceContext::parse(&text).map(|context| Span::new(context, [7; 16]));
            let expected = flags.map(|flags| format!("00-{TRACE}-0707070707070707-{flags}"));
            assert_eq!(span.map(|span| span.traceparent()), expected, "{text}");
        }
    }

    #[test]
    fn a_span_continues_the_trace() {
        let context = TraceContext::parse(&format!("00-{TRACE}-{PARENT}-01")).unwrap();
        let span = Span::new(context.clone(), [0xab; 16]);
        assert_eq!(
            (span.trace_id(), span.parent_id(), span.id()),
            (TRACE, PARENT, "abababababababab")
        );
        assert_eq!(Span::new(context, [0; 16]).id(), "0000000000000001");
    }
}
