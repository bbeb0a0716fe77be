//! Strings.

use std::borrow::Cow;

use super::{Fault, Reader};

const EOF_IN_STRING: &str = "EOF while parsing a string";
const ONES: u64 = u64::MAX / 255;

impl<'t> Reader<'t, '_> {
    /// Reads a string from its opening quote to behind the closing one.
    pub(super) fn string(&mut self) -> Result<Cow<'t, str>, Fault> {
        self.at += 1;
        let start = self.at;
        self.plain();
        if self.byte() == b'"' {
            let text = self.since(start);
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        self.escaped(start).map(Cow::Owned)
    }

    /// The rest of a string that is not as it is written.
    fn escaped(&mut self, mut start: usize) -> Result<String, Fault> {
        let mut text = String::new();
        loop {
            text.push_str(self.since(start));
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                _ => {
                    let reason = "control character (\\u0000-\\u001F) found while parsing a string";
                    return Err(self.unexpected(reason, EOF_IN_STRING));
                }
            }
            start = self.at;
            self.plain();
        }
    }

    /// Goes on to the next quote, backslash or control character, or to the end.
    fn plain(&mut self) {
        let mut rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        // Eight at a time. A byte's highest bit is left where it is one of them, and perhaps in bytes
        // behind it: subtracting borrows.
        while let Some((eight, others)) = rest.split_first_chunk() {
            let eight = u64::from_le_bytes(*eight);
            let (quotes, escapes) = (eight ^ (ONES * 0x22), eight ^ (ONES * 0x5c));
            let stops = (eight.wrapping_sub(ONES * 0x20) & !eight)
                | (quotes.wrapping_sub(ONES) & !quotes)
                | (escapes.wrapping_sub(ONES) & !escapes);
            let stops = stops & (ONES << 7);
            if stops != 0 {
                self.at += stops.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
            rest = others;
        }
        while self.byte() >= b' ' && !matches!(self.byte(), b'"' | b'\\') {
            self.at += 1;
        }
    }

    /// What a backslash and what follows it stand for.
    fn escape(&mut self) -> Result<char, Fault> {
        let character = match self.byte() {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.character();
            }
            _ => return Err(self.unexpected("invalid escape", EOF_IN_STRING)),
        };
        self.at += 1;
        Ok(character)
    }

    /// Four digits behind `\u`, and twice that where UTF-16 needs two numbers for a character.
    fn character(&mut self) -> Result<char, Fault> {
        let mut unit = self.unit()?;
        if let 0xd800..0xdc00 = unit {
            for expected in *b"\\u" {
                if self.byte() != expected {
                    return Err(self.unexpected("unexpected end of hex escape", EOF_IN_STRING));
                }
                self.at += 1;
            }
            unit = match self.unit()? {
                low @ 0xdc00..0xe000 => 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
                _ => unit,
            };
        }
        char::from_u32(unit).ok_or_else(|| self.past("lone leading surrogate in hex escape"))
    }

    fn unit(&mut self) -> Result<u32, Fault> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let Some(digits) = rest.first_chunk::<4>() else {
            self.at = self.text.len();
            return Err(self.past(EOF_IN_STRING));
        };
        self.at += 4;
        let unit = digits
            .iter()
            .try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?));
        unit.ok_or_else(|| self.past("invalid escape"))
    }
}
