//! A parser for Server-Sent Events that may be cut at any byte.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

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

impl SseEvent<'_> {
    /// Whether its data is only a sign of life, which SDKs take for an answer that is no JSON: nothing, `null`, or a comment that a proxy
    /// has made the data.
    pub(crate) fn is_keep_alive(&self) -> bool {
        let data = self.data.as_deref().map(str::trim);
        data.is_some_and(|data| matches!(data, "" | "null") || data.starts_with(':'))
    }

    /// The event as clients get it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self.is_cut {
            false => self.raw.to_vec(),
            // Without a blank line, what follows, such as an error, would be a part of this event.
            true => [self.raw.trim_ascii_end(), b"\n\n"].concat(),
        }
    }
}

/// Why a stream cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SseError {
    /// An event is larger than [`MAX_EVENT_BYTES`].
    TooLarge,
    NotUtf8,
}

/// Collects bytes until an event is complete. Each byte is searched once.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    buffer: Vec<u8>,
    /// Where the current event begins. The other positions are relative to it.
    start: usize,
    /// Where its current line begins.
    line: usize,
    /// How far it has been searched for the end of that line.
    scanned: usize,
    /// Its `event` field, and its `data` fields.
    name: Range<usize>,
    data: Vec<Range<usize>>,
    /// Whether it has been returned.
    is_read: bool,
    ended: bool,
    /// Whether the byte order mark that a stream may begin with has been looked for.
    begun: bool,
}

impl SseParser {
    /// Adds the next bytes, unless the current event is too large.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        self.leave_event();
        self.buffer.drain(..self.start);
        self.start = 0;
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
        self.leave_event();
        while let Some(line) = self.next_line() {
            if line.is_empty() {
                self.is_read = true;
                break;
            }
            self.field(line);
        }
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        if self.ended && !self.is_read && !rest.is_empty() {
            // All complete events were returned before the end.
            let line = self.line..rest.len();
            (self.line, self.scanned, self.is_read) = (line.end, line.end, true);
            self.field(line);
        }
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let raw = if self.is_read { rest.get(..self.line).unwrap_or_default() } else { rest };
        if raw.len() > MAX_EVENT_BYTES {
            return Err(SseError::TooLarge);
        }
        if !self.is_read {
            return Ok(None);
        }
        let text = str::from_utf8(raw).map_err(|_| SseError::NotUtf8)?;
        let value = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        let data = match self.data.as_slice() {
            [] => None,
            [one] => Some(value(one).into()),
            all => Some(all.iter().map(value).collect::<Vec<_>>().join("\n").into()),
        };
        Ok(Some(SseEvent { name: value(&self.name), data, raw, is_cut: self.ended }))
    }

    /// The next event begins where the one that was returned ends.
    fn leave_event(&mut self) {
        if std::mem::take(&mut self.is_read) {
            self.start += self.line;
            (self.line, self.scanned, self.name) = (0, 0, 0..0);
            self.data.clear();
        }
    }

    /// The next complete line of the current event, without its end.
    fn next_line(&mut self) -> Option<Range<usize>> {
        let event = self.buffer.get(self.start..)?;
        let rest = event.get(self.scanned..)?;
        let Some(found) = memchr2(b'\n', b'\r', rest) else {
            self.scanned = event.len();
            return None;
        };
        let end = self.scanned + found;
        let next = match event.get(end..) {
            Some([b'\r', b'\n', ..]) => end + 2,
            // A line feed may follow in the next bytes.
            Some([b'\r']) if !self.ended => {
                self.scanned = end;
                return None;
            }
            _ => end + 1,
        };
        let line = self.line..end;
        (self.line, self.scanned) = (next, next);
        Some(line)
    }

    /// Reads a line: comments, `id`, `retry` and fields that the standard does not define mean nothing.
    fn field(&mut self, mut line: Range<usize>) {
        let event = self.buffer.get(self.start..).unwrap_or_default();
        if !std::mem::replace(&mut self.begun, true) && event.starts_with("\u{feff}".as_bytes()) {
            line.start = 3;
        }
        let text = event.get(line.clone()).unwrap_or_default();
        let name = text.split(|byte| *byte == b':').next().unwrap_or_default();
        line.start += name.len();
        line.start += match text.get(name.len()..) {
            Some([b':', b' ', ..]) => 2,
            Some([b':', ..]) => 1,
            _ => 0,
        };
        match name {
            b"data" => self.data.push(line),
            b"event" => self.name = line,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
