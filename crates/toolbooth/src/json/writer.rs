//! JSON written from its beginning to its end, as `serde_json` writes it.
//!
//! `serde_json` goes through a generic layer for each byte that it looks at, which a compiler that
//! keeps the bundle small does not take away: here a text costs a look at each of its bytes, and a
//! copy of each stretch that stands for itself.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// A text of JSON that grows at its end.
#[derive(Debug)]
pub(crate) struct Writer(String);

/// The JSON of a value, as `serde_json` writes it.
///
/// Whatever goes into the Worker uses this, not `to_string`: one way of writing is in the bundle.
pub fn text(value: &Value) -> String {
    let mut writer = Writer::new();
    writer.value(value);
    writer.0
}

impl Writer {
    /// An empty text with room for what most answers are, which then need not move as they grow.
    pub(crate) fn new() -> Self {
        Self(String::with_capacity(512))
    }

    /// Adds what is JSON already, or a piece of it.
    pub(crate) fn json(&mut self, piece: &str) -> &mut Self {
        self.0.push_str(piece);
        self
    }

    /// Adds the name of a member, of which nothing is escaped, after a comma unless it is the first.
    pub(crate) fn member(&mut self, name: &str) -> &mut Self {
        if !self.0.ends_with('{') {
            self.json(",");
        }
        self.json("\"").json(name).json("\":")
    }

    /// Adds a string.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.0.push('"');
        let mut rest = text;
        while let Some((plain, byte)) = split(&mut rest) {
            self.0.push_str(plain);
            self.escape(byte);
        }
        self.0.push_str(rest);
        self.0.push('"');
        self
    }

    /// Adds a value.
    pub(crate) fn value(&mut self, value: &Value) -> &mut Self {
        match value {
            Value::Null => self.json("null"),
            Value::Bool(true) => self.json("true"),
            Value::Bool(false) => self.json("false"),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.array(items, |writer, item| {
                writer.value(item);
            }),
            Value::Object(members) => {
                self.0.push('{');
                let mut comma = "";
                for (name, value) in members {
                    self.json(comma).string(name).json(":").value(value);
                    comma = ",";
                }
                self.json("}")
            }
        }
    }

    /// Adds a whole number that is not negative.
    pub(crate) fn whole(&mut self, number: u64) -> &mut Self {
        if number > 9 {
            self.whole(number / 10);
        }
        self.0.extend(char::from_digit((number % 10) as u32, 10));
        self
    }

    /// Adds a whole number.
    pub(crate) fn integer(&mut self, number: i64) -> &mut Self {
        if number < 0 {
            self.json("-");
        }
        self.whole(number.unsigned_abs())
    }

    /// Adds a number.
    pub(super) fn number(&mut self, number: &Number) -> &mut Self {
        match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => self.whole(whole),
            (_, Some(whole)) => self.integer(whole),
            _ => self.double(number.as_f64().unwrap_or_default()),
        }
    }

    /// Adds the shortest text that means the number, which is finite.
    fn double(&mut self, number: f64) -> &mut Self {
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(number);
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                self.json(digits).json("e+").json(exponent)
            }
            _ => self.json(text),
        }
    }

    /// Adds an array of what `one` writes of each item.
    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut one: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.0.push('[');
        let mut comma = "";
        for item in items {
            one(self.json(comma), item);
            comma = ",";
        }
        self.json("]")
    }

    /// Adds an array of strings.
    pub(crate) fn strings<T: AsRef<str>>(&mut self, texts: &[T]) -> &mut Self {
        self.array(texts, |writer, text| {
            writer.string(text.as_ref());
        })
    }

    /// The text.
    pub(crate) fn end(self) -> String {
        self.0
    }

    fn escape(&mut self, byte: u8) {
        self.0.push('\\');
        match byte {
            b'"' | b'\\' => self.0.push(byte.into()),
            b'\n' => self.0.push('n'),
            b'\r' => self.0.push('r'),
            b'\t' => self.0.push('t'),
            0x08 => self.0.push('b'),
            0x0c => self.0.push('f'),
            _ => {
                let _ = write!(self.0, "u{byte:04x}");
            }
        }
    }
}

/// Takes off a text all up to the first byte that must be escaped, and that byte.
fn split<'a>(text: &mut &'a str) -> Option<(&'a str, u8)> {
    let mut at = 0;
    let byte = loop {
        match *text.as_bytes().get(at)? {
            byte @ (..b' ' | b'"' | b'\\') => break byte,
            _ => at += 1,
        }
    };
    let plain = text.get(..at)?;
    *text = text.get(at + 1..)?;
    Some((plain, byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::server::tests::properties::any_json;

    #[test]
    fn texts_and_pieces() {
        let all: String =
            (0..=0x7f_u8).map(char::from).chain("é\u{2028}\u{1f600}".chars()).collect();
        for value in [json!(all), json!(""), json!("\\"), json!({ all: [[], {}] })] {
            assert_eq!(text(&value), value.to_string());
        }
        let mut writer = Writer::new();
        writer.json("{\"a\":").string("b\n").json(",\"c\":").array([1, 2], |writer, item| {
            writer.value(&json!(item));
        });
        writer.member("d").whole(u64::MAX).json("}");
        assert_eq!(writer.end(), r#"{"a":"b\n","c":[1,2],"d":18446744073709551615}"#);
        let mut writer = Writer::new();
        writer.json("{").member("a").integer(i64::MIN).member("b").json("{").member("c").integer(0);
        writer.json("}").member("d").string("{").member("e").integer(10).json("}");
        assert_eq!(writer.end(), r#"{"a":-9223372036854775808,"b":{"c":0},"d":"{","e":10}"#);
    }

    fn assert_written(double: f64) {
        for double in [double, -double] {
            let value = json!(double);
            assert_eq!(text(&value), value.to_string(), "{:x}", double.to_bits());
        }
    }

    #[test]
    fn doubles() {
        let odd = [0.0, 1.0, 0.1, 0.3, 1.5, 5e-324, f64::MIN_POSITIVE, f64::MAX, f64::EPSILON];
        let powers = (-324..=308).map(|power| format!("1e{power}").parse().unwrap());
        let twos = (0..=2046).map(|exponent: u64| f64::from_bits(exponent << 52));
        let wholes = [1 << 53, u64::MAX, i64::MAX.unsigned_abs()].map(|whole| whole as f64);
        for double in odd.into_iter().chain(powers).chain(twos).chain(wholes) {
            for near in [double.next_down(), double, double.next_up()] {
                if near.is_finite() {
                    assert_written(near);
                }
            }
        }
        for (double, expected) in [
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (1e-5, "0.00001"),
            (1e-7, "1e-7"),
            (1.25e-9, "1.25e-9"),
        ] {
            assert_eq!(text(&json!(double)), expected);
        }
    }

    proptest! {
        #[test]
        fn values_are_written_as_serde_json_writes_them(value in any_json()) {
            prop_assert_eq!(text(&value), value.to_string());
        }

        #[test]
        fn texts_are_written_as_serde_json_writes_them(words in any::<String>()) {
            let words = json!(words);
            prop_assert_eq!(text(&words), words.to_string());
        }

        #[test]
        fn doubles_are_written_as_serde_json_writes_them(
            all in prop::collection::vec(any::<u64>(), 256),
        ) {
            all.into_iter().map(f64::from_bits).filter(|it| it.is_finite()).for_each(assert_written);
        }
    }
}
