//! What a tool says while it runs: how far it is, and what the client may want to know.
//!
//! On Workers an answer leaves in one piece, so that notes are told together with what came of the
//! call, before it, and no sooner.

use std::cell::RefCell;

use crate::text::cut;

/// The most notes that one run keeps; those after them are dropped.
const MOST: usize = 100;
/// The most characters of a note's text.
const LONGEST: usize = 1_000;

/// A note of a run, for a client that asked to be told. Protocols without a place for it drop it.
#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    /// How far the tool is.
    Progress {
        /// How much is done; each time more than the time before.
        done: f64,
        /// How much there is, if the tool knows.
        total: Option<f64>,
        /// What it does, in words; empty if there is nothing to say.
        message: String,
    },
    /// Something that happened.
    Event {
        /// How much it matters.
        level: LoggingLevel,
        /// What happened.
        text: String,
    },
}

/// How much an event matters to the client; the later ones matter more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoggingLevel {
    /// To whoever looks for a fault.
    Debug,
    /// To whoever wants to follow.
    Info,
    /// The tool goes on, but not as one would wish.
    Warning,
    /// A part of the work is not done.
    Error,
}

/// The notes of one run, bounded in number and size.
#[derive(Debug, Default)]
pub(crate) struct Notifications(RefCell<Vec<Notification>>);

impl Notifications {
    /// Notes progress, if it is some: `done` is finite and more than the time before.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let mut notes = self.0.borrow_mut();
        let before = notes.iter().rev().find_map(|note| match note {
            Notification::Progress { done, .. } => Some(*done),
            Notification::Event { .. } => None,
        });
        if notes.len() < MOST && done.is_finite() && before.is_none_or(|before| before < done) {
            let total = total.filter(|total| total.is_finite());
            notes.push(Notification::Progress { done, total, message: cut(message, LONGEST) });
        }
    }

    pub(crate) fn event(&self, level: LoggingLevel, text: &str) {
        let mut notes = self.0.borrow_mut();
        if notes.len() < MOST {
            notes.push(Notification::Event { level, text: cut(text, LONGEST) });
        }
    }

    pub(crate) fn take(&self) -> Vec<Notification> {
        self.0.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_goes_on_and_is_a_number() {
        let notes = Notifications::default();
        let given = [0.0, 0.0, f64::NAN, 0.5, 0.25, f64::INFINITY, 2.0];
        for done in given {
            notes.progress(done, Some(f64::INFINITY), "");
            notes.event(LoggingLevel::Debug, "between");
        }
        let kept: Vec<f64> = notes
            .take()
            .into_iter()
            .filter_map(|note| match note {
                Notification::Progress { done, total, .. } => {
                    assert_eq!(total, None);
                    Some(done)
                }
                Notification::Event { .. } => None,
            })
            .collect();
        assert_eq!(kept, [0.0, 0.5, 2.0]);
    }

    #[test]
    fn notes_are_bounded() {
        let notes = Notifications::default();
        let long = "é".repeat(LONGEST + 1);
        notes.progress(1.0, None, &long);
        for _ in 0..MOST {
            notes.event(LoggingLevel::Info, &long);
        }
        notes.progress(2.0, None, "");
        let kept = notes.take();
        assert_eq!(kept.len(), MOST);
        for note in kept {
            let (Notification::Progress { message: text, .. } | Notification::Event { text, .. }) =
                note;
            assert_eq!(text, format!("{}…", "é".repeat(LONGEST)));
        }
    }
}
