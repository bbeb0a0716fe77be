//! A parser for Server-Sent Events that may be cut at any byte.

use std::borrow::Cow;
use std::ops::Range;

/// The largest event, in bytes. A picture in a Gemini answer is one event.
pub(crate) const MAX_EVENT_BYTES: usize = 8 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent<'a> {
    /// The `event` field; empty if there is none.
    pub name: &'a str,
    /// The `data` fields, joined by line feeds; `None` if there are none (comments).
    pub data: Option<Cow<'a, str>>,
    /// The event as it was sent, up to and including the blank line.
    pub raw: &'a [u8],
    /// Whether the stream ended before the blank line that completes an event.
    pub is_cut: bool,
}

/// Why a stream cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SseError {
    /// An event is larger than [`MAX_EVENT_BYTES`].
    TooLarge,
    NotUtf8,
}

/// Collects bytes until an event is complete.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    buffer: Vec<u8>,
    /// Where the current event begins.
    start: usize,
    /// Where its current line begins.
    line: usize,
    /// How far the buffer has been searched for the end of that line.
    scanned: usize,
    ended: bool,
    /// Whether the byte order mark that a stream may begin with has been looked for.
    begun: bool,
}

impl SseParser {
    /// Adds the next bytes, unless the current event is too large.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.line -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.buffer.len() > MAX_EVENT_BYTES {
            return Err(SseError::TooLarge);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The stream has ended: what is left is the last event, although no blank line follows.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    pub(crate) fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, SseError> {
        let Some(range) = self.next_range() else {
            let is_large = self.buffer.len() - self.start > MAX_EVENT_BYTES;
            return if is_large { Err(SseError::TooLarge) } else { Ok(None) };
        };
        let raw = self.buffer.get(range).unwrap_or_default();
        if raw.len() > MAX_EVENT_BYTES {
            return Err(SseError::TooLarge);
        }
        let mut text = str::from_utf8(raw).map_err(|_| SseError::NotUtf8)?;
        if !self.begun {
            self.begun = true;
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        // All complete events were returned before the end.
        Ok(Some(SseEvent { is_cut: self.ended, ..parse(text, raw) }))
    }

    /// The bytes of the next complete event.
    fn next_range(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = self.buffer.get(self.scanned..).unwrap_or_default();
            let Some(found) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.scanned = self.buffer.len();
                return self.last_range();
            };
            let end = self.scanned + found;
            let mut next = end + 1;
            if self.buffer.get(end) == Some(&b'\r') {
                match self.buffer.get(next) {
                    Some(b'\n') => next += 1,
                    Some(_) => {}
                    // A line feed may follow in the next bytes.
                    None if !self.ended => {
                        self.scanned = end;
                        return None;
                    }
                    None => {}
                }
            }
            let is_blank = end == self.line;
            self.line = next;
            self.scanned = next;
            if is_blank {
                let range = self.start..next;
                self.start = next;
                return Some(range);
            }
        }
    }

    /// What is left when the stream has ended.
    fn last_range(&mut self) -> Option<Range<usize>> {
        let range = self.start..self.buffer.len();
        if !self.ended || range.is_empty() {
            return None;
        }
        self.start = range.end;
        self.line = range.end;
        Some(range)
    }
}

fn parse<'a>(text: &'a str, raw: &'a [u8]) -> SseEvent<'a> {
    let mut event = SseEvent { name: "", data: None, raw, is_cut: false };
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after.strip_prefix("\r\n").or(after.strip_prefix(['\n', '\r'])).unwrap_or_default();
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut event.data {
                None => event.data = Some(value.into()),
                Some(data) => {
                    let data = data.to_mut();
                    data.push('\n');
                    data.push_str(value);
                }
            },
            "event" => event.name = value,
            // Comments, `id`, `retry`, and fields that the standard does not define.
            _ => {}
        }
    }
    event
}

#[cfg(test)]
mod tests;
