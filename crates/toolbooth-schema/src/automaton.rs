//! Patterns as finite automata, built at build time.

#[cfg(feature = "build")]
mod build;

/// A deterministic finite automaton over the bytes of a string. It finds a pattern anywhere in it, in one step
/// per byte.
///
/// State 0 means that the pattern can no longer match, state 1 that it has matched. In the states from 2 to
/// `ending` - 1 it matches if the string ends there.
#[derive(Debug, Clone, Copy)]
pub struct Automaton {
    /// The first state.
    pub start: u16,
    /// The first state in which the string may not end.
    pub ending: u16,
    /// Where the transitions of each state begin, and a last entry for the end.
    pub offsets: &'static [u32],
    /// The last byte of each transition's range, ascending to 255; a range begins after the previous one.
    pub lasts: &'static [u8],
    /// The target state of each transition.
    pub targets: &'static [u16],
}

/// The pattern can no longer match.
const DEAD: u16 = 0;
/// The pattern has matched.
const FOUND: u16 = 1;

impl Automaton {
    /// Whether the pattern occurs in `text`.
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

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.offsets.len() * 4 + self.lasts.len() + self.targets.len() * 2
    }
}
