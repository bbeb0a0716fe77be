//! Patterns as automata.

/// A deterministic automaton over the bytes of a text, which finds a pattern anywhere in it.
///
/// One step a byte, whatever the pattern and the text. State 0 is that of no way back, state 1 that
/// of having found it; the states from 2 to before `ending` have found it if the text ends there.
#[derive(Debug, Clone, Copy)]
pub struct Automaton {
    /// Where it begins.
    pub start: u16,
    /// The first state in which the text may not end.
    pub ending: u16,
    /// Where the steps of each state begin; one more entry says where the last ones end.
    pub offsets: &'static [u32],
    /// The last byte of each step's range, rising to 255; the range begins after the one before.
    pub lasts: &'static [u8],
    /// The state that each step leads to.
    pub targets: &'static [u16],
}

/// The state of no way back.
const DEAD: u16 = 0;
/// The state of having found the pattern.
const FOUND: u16 = 1;

impl Automaton {
    /// Whether the pattern is found in `text`.
    pub(crate) fn finds(&self, text: &str) -> bool {
        let mut state = self.start;
        for byte in text.bytes() {
            if state <= FOUND {
                break;
            }
            state = self.step(state, byte).unwrap_or(DEAD);
        }
        state != DEAD && state < self.ending
    }

    fn step(&self, state: u16, byte: u8) -> Option<u16> {
        let at = usize::from(state);
        let (first, end) = (*self.offsets.get(at)?, *self.offsets.get(at + 1)?);
        let (first, end) = (usize::try_from(first).ok()?, usize::try_from(end).ok()?);
        let lasts = self.lasts.get(first..end)?;
        self.targets.get(first + lasts.partition_point(|last| *last < byte)).copied()
    }

    /// The bytes that it takes.
    pub fn size(&self) -> usize {
        self.offsets.len() * 4 + self.lasts.len() + self.targets.len() * 2
    }
}
