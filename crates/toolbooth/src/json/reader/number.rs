//! Numbers.

use serde_json::Number;

use super::{EOF_IN_VALUE, Fault, Reader};

impl Reader<'_, '_> {
    /// Reads a number: whole ones as they are while 64 bits hold them, all others as the double that
    /// is nearest. So is `-0`, which no whole number is.
    pub(super) fn number(&mut self) -> Result<Number, Fault> {
        let start = self.at;
        let negative = self.byte() == b'-';
        if negative {
            self.at += 1;
        }
        let whole = self.whole()?;
        match (self.byte(), whole) {
            (b'.' | b'e' | b'E', _) | (_, None) => self.double(start),
            (_, Some(whole)) if !negative => Ok(whole.into()),
            (_, Some(whole)) => match 0_i64.checked_sub_unsigned(whole) {
                Some(whole) if whole < 0 => Ok(whole.into()),
                _ => self.double(start),
            },
        }
    }

    /// The digits before the point; nothing when 64 bits do not hold what they say.
    fn whole(&mut self) -> Result<Option<u64>, Fault> {
        let first = self.digit()?;
        let mut whole = Some(u64::from(first));
        if first == 0 && self.byte().is_ascii_digit() {
            return Err(self.unexpected("invalid number", EOF_IN_VALUE));
        }
        while let digit @ b'0'..=b'9' = self.byte() {
            let digit = u64::from(digit - b'0');
            // `checked_mul` would multiply with 128 bits.
            let fits = |whole: &u64| (*whole, digit) <= (u64::MAX / 10, u64::MAX % 10);
            whole = whole.filter(fits).map(|whole| whole * 10 + digit);
            self.at += 1;
        }
        Ok(whole)
    }

    /// Reads on to the end of a number that begins at `start`.
    fn double(&mut self, start: usize) -> Result<Number, Fault> {
        if self.byte() == b'.' {
            self.at += 1;
            self.digit()?;
            while self.byte().is_ascii_digit() {
                self.at += 1;
            }
        }
        if let b'e' | b'E' = self.byte() {
            self.exponent(start)?;
        }
        // Not `str::parse`, whose table of powers is ten kilobytes in the Worker.
        self.since(start).parse().map_err(|_| self.past("number out of range"))
    }

    fn exponent(&mut self, start: usize) -> Result<(), Fault> {
        let zero = !self.since(start).bytes().any(|byte| matches!(byte, b'1'..=b'9'));
        self.at += 1;
        let sign = self.byte();
        if let b'+' | b'-' = sign {
            self.at += 1;
        }
        let mut exponent = i32::from(self.digit()?);
        while let digit @ b'0'..=b'9' = self.byte() {
            self.at += 1;
            let add =
                |exponent: i32| exponent.checked_mul(10)?.checked_add(i32::from(digit - b'0'));
            exponent = match add(exponent) {
                Some(exponent) => exponent,
                // However many digits follow, the number has no end.
                None if !zero && sign != b'-' => return Err(self.past("number out of range")),
                None => i32::MAX,
            };
        }
        Ok(())
    }

    /// A digit must come.
    fn digit(&mut self) -> Result<u8, Fault> {
        match self.byte() {
            digit @ b'0'..=b'9' => {
                self.at += 1;
                Ok(digit - b'0')
            }
            _ => Err(self.unexpected("invalid number", EOF_IN_VALUE)),
        }
    }
}
