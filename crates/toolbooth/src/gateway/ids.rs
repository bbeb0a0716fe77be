//! Ids of calls.

/// Makes ids that are unique within a request and unlikely to repeat elsewhere.
#[derive(Debug, Clone)]
pub struct IdSource {
    seed: [u8; 16],
    count: u32,
}

impl IdSource {
    /// Ids from sixteen random bytes.
    pub fn new(seed: [u8; 16]) -> Self {
        Self { seed, count: 0 }
    }

    /// The next id: `call_`, 24 hexadecimal digits, `_` and a number.
    pub fn next_id(&mut self) -> String {
        use std::fmt::Write;
        let mut id = "call_".to_owned();
        for byte in self.seed.iter().take(12) {
            let _ = write!(id, "{byte:02x}");
        }
        let _ = write!(id, "_{}", self.count);
        self.count = self.count.wrapping_add(1);
        id
    }
}
