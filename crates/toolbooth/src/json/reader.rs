//! JSON's grammar (RFC 8259), read in one pass.
//!
//! The words of a fault and its place are those of `serde_json`: the tests hold this reader to it. Its
//! own reader is made of layers that are only quick where they are inlined, which a Worker that is
//! built for size has no room for.

mod number;
mod string;

use std::borrow::Cow;

use super::members::Member;
use super::{MAX_DEPTH, MAX_VALUES, Object, Value};
use crate::names::order;
use crate::text::excerpt;

const EOF_IN_VALUE: &str = "EOF while parsing a value";
const EOF_IN_LIST: &str = "EOF while parsing a list";
const EOF_IN_OBJECT: &str = "EOF while parsing an object";

/// What is wrong, and how many bytes had been read when that was seen.
pub(super) struct Fault {
    pub(super) reason: Cow<'static, str>,
    pub(super) end: usize,
}

/// A text and how much of it has been read.
pub(super) struct Reader<'t, 'l> {
    text: &'t str,
    at: usize,
    /// How many more values may be read.
    left: &'l mut usize,
    /// Of the arrays that have not ended yet, the innermost last, so that none grows by moving.
    items: Vec<Value<'t>>,
    /// The same of objects.
    members: Vec<Member<'t>>,
}

impl<'t, 'l> Reader<'t, 'l> {
    pub(super) fn new(text: &'t str, left: &'l mut usize) -> Self {
        Self { text, at: 0, left, items: Vec::new(), members: Vec::with_capacity(16) }
    }

    /// One value, and nothing after it.
    pub(super) fn document(mut self) -> Result<Value<'t>, Fault> {
        let value = self.value(MAX_DEPTH)?;
        self.token();
        if self.at < self.text.len() {
            self.at += 1;
            return Err(self.past("trailing characters"));
        }
        Ok(value)
    }

    /// A value that may nest `room` levels deep.
    fn value(&mut self, room: usize) -> Result<Value<'t>, Fault> {
        let Some(left) = self.left.checked_sub(1) else { return Err(self.too_many()) };
        *self.left = left;
        match self.token() {
            b'"' => self.string().map(Value::String),
            b'{' => self.object(room),
            b'[' => self.array(room),
            b'-' | b'0'..=b'9' => self.number().map(Value::Number),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => Err(self.unexpected("expected value", EOF_IN_VALUE)),
        }
    }

    fn array(&mut self, room: usize) -> Result<Value<'t>, Fault> {
        self.at += 1;
        let Some(room) = room.checked_sub(1) else { return Err(self.too_deep(b']')) };
        let first = self.items.len();
        if self.token() == b']' {
            self.at += 1;
            return Ok(Value::Array(Vec::new()));
        }
        if self.at == self.text.len() {
            return Err(self.past(EOF_IN_LIST));
        }
        loop {
            let item = self.value(room)?;
            self.items.push(item);
            match self.token() {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Value::Array(self.items.split_off(first)));
                }
                _ => return Err(self.unexpected("expected `,` or `]`", EOF_IN_LIST)),
            }
            if self.token() == b']' {
                return Err(self.unexpected("trailing comma", EOF_IN_VALUE));
            }
        }
    }

    fn object(&mut self, room: usize) -> Result<Value<'t>, Fault> {
        let start = self.at;
        self.at += 1;
        let Some(room) = room.checked_sub(1) else { return Err(self.too_deep(b'}')) };
        let first = self.members.len();
        match self.token() {
            b'"' => {}
            b'}' => {
                self.at += 1;
                return Ok(Value::Object(Object::default()));
            }
            _ => return Err(self.unexpected("key must be a string", EOF_IN_OBJECT)),
        }
        loop {
            let name = self.string()?;
            if self.token() != b':' {
                return Err(self.unexpected("expected `:`", EOF_IN_OBJECT));
            }
            self.at += 1;
            let value = self.value(room)?;
            self.members.push((name, value));
            match self.token() {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    let object = Object::of(self.members.split_off(first));
                    return object.map(Value::Object).ok_or_else(|| self.repeated(start, room));
                }
                _ => return Err(self.unexpected("expected `,` or `}`", EOF_IN_OBJECT)),
            }
            match self.token() {
                b'"' => {}
                b'}' => return Err(self.unexpected("trailing comma", EOF_IN_VALUE)),
                _ => return Err(self.unexpected("key must be a string", EOF_IN_VALUE)),
            }
        }
    }

    /// Reads an object again, which begins at `start` and has a key twice, to tell which key comes again
    /// first, and where.
    #[cold]
    fn repeated(&mut self, start: usize, room: usize) -> Fault {
        // Values that are read again do not count, neither here nor in the texts that follow.
        let left = std::mem::replace(self.left, MAX_VALUES);
        let fault = self.first_repeated(start, room);
        *self.left = left;
        fault
    }

    fn first_repeated(&mut self, start: usize, room: usize) -> Fault {
        self.at = start;
        let mut keys = Vec::new();
        // Each key stands behind `{` or `,`, before a colon and a value: all of this was there before.
        while self.token() != b'}' {
            self.at += 1;
            self.token();
            match self.string() {
                Ok(key) => keys.push((key, self.at)),
                Err(fault) => return fault,
            }
            self.token();
            self.at += 1;
            if let Err(fault) = self.value(room) {
                return fault;
            }
        }
        keys.sort_unstable_by(|(one, at), (other, end)| order(one, other).then(at.cmp(end)));
        let again = keys.windows(2).filter_map(|pair| match pair {
            [(one, _), (other, end)] if one == other => Some((*end, other)),
            _ => None,
        });
        let Some((end, key)) = again.min_by_key(|(end, _)| *end) else { return self.past("") };
        let reason = format!("the key \"{}\" is repeated", excerpt(key));
        self.at = end;
        self.leave(b'}');
        self.past(reason)
    }

    fn word(&mut self, word: &str, value: Value<'t>) -> Result<Value<'t>, Fault> {
        for byte in word.bytes() {
            if self.byte() != byte {
                return Err(self.unexpected("expected ident", EOF_IN_VALUE));
            }
            self.at += 1;
        }
        Ok(value)
    }

    /// The next byte; NUL at the end, which no grammar of JSON expects anywhere.
    #[inline(always)]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Skips white space: the byte that the next token begins with.
    #[inline(always)]
    fn token(&mut self) -> u8 {
        match self.byte() {
            byte if byte > b' ' => byte,
            _ => self.skip(),
        }
    }

    #[inline(never)]
    fn skip(&mut self) -> u8 {
        while let b' ' | b'\n' | b'\r' | b'\t' = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// What has been read since `start`.
    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The next byte is not what it should be, or there is none.
    #[cold]
    fn unexpected(&self, reason: &'static str, at_the_end: &'static str) -> Fault {
        match self.at < self.text.len() {
            true => Fault { reason: Cow::Borrowed(reason), end: self.at + 1 },
            false => self.past(at_the_end),
        }
    }

    /// What has been read is wrong.
    #[cold]
    fn past(&self, reason: impl Into<Cow<'static, str>>) -> Fault {
        Fault { reason: reason.into(), end: self.at }
    }

    #[cold]
    fn too_many(&self) -> Fault {
        self.past(format!("more than {MAX_VALUES} values"))
    }

    #[cold]
    fn too_deep(&mut self, close: u8) -> Fault {
        self.leave(close);
        self.past(format!("nested deeper than {MAX_DEPTH} levels"))
    }

    /// Before it says where it is, `serde_json` looks for the end of what it refuses.
    fn leave(&mut self, close: u8) {
        let next = self.token();
        if next == close {
            self.at += 1;
        } else if next == b',' && close == b']' {
            self.at += 1;
            self.token();
        }
    }
}
