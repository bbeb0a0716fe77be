//! Notifications: progress and events that a tool reports while it runs.

use std::cell::{Cell, RefCell};

use crate::text::cut;

/// The most notifications that wait for their client; later ones are dropped.
const MOST: usize = 100;
/// The most characters of a notification's text.
const LONGEST: usize = 1_000;

/// A notification for the client. Protocols without notifications drop it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// Progress.
    Progress {
        /// How much is done; it increases with each notification.
        done: f64,
        /// How much there is to do, if the tool knows.
        total: Option<f64>,
        /// A message for people; it may be empty.
        message: String,
    },
    /// An event.
    Event {
        /// Its severity.
        level: LoggingLevel,
        /// What happened.
        text: String,
    },
}

/// The severity of an event, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For debugging.
    Debug,
    /// Normal operation.
    Info,
    /// The tool continues, but not as expected.
    Warning,
    /// A part of the work failed.
    Error,
}

/// The notifications of a call that nobody has taken yet, bounded in number and size.
#[derive(Debug, Default)]
pub struct Notifications {
    waiting: RefCell<Vec<Notification>>,
    /// The latest progress.
    done: Cell<Option<f64>>,
}

impl Notifications {
    /// Adds progress, if `done` is finite and has increased.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        if done.is_finite() && self.done.get().is_none_or(|before| before < done) {
            self.done.set(Some(done));
            let total = total.filter(|total| total.is_finite());
            self.push(Notification::Progress { done, total, message: cut(message, LONGEST) });
        }
    }

    pub(crate) fn event(&self, level: LoggingLevel, text: &str) {
        self.push(Notification::Event { level, text: cut(text, LONGEST) });
    }

    fn push(&self, notification: Notification) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() < MOST {
            waiting.push(notification);
        }
    }

    /// Takes those that wait.
    pub fn take(&self) -> Vec<Notification> {
        self.waiting.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_increases_and_is_finite() {
        let notifications = Notifications::default();
        let given = [0.0, 0.0, f64::NAN, 0.5, 0.25, f64::INFINITY, 2.0];
        for done in given {
            notifications.progress(done, Some(f64::INFINITY), "");
            notifications.event(LoggingLevel::Debug, "between");
        }
        let kept: Vec<f64> = notifications
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
        // Also after the client has got the earlier ones.
        for (done, expected) in [(1.0, 0), (2.0, 0), (3.0, 1)] {
            notifications.progress(done, None, "");
            assert_eq!(notifications.take().len(), expected, "{done}");
        }
    }

    #[test]
    fn notifications_are_bounded() {
        let notifications = Notifications::default();
        let long = "é".repeat(LONGEST + 1);
        notifications.progress(1.0, None, &long);
        for _ in 0..MOST {
            notifications.event(LoggingLevel::Info, &long);
        }
        notifications.progress(2.0, None, "");
        let kept = notifications.take();
        assert_eq!(kept.len(), MOST);
        for note in kept {
            let (Notification::Progress { message: text, .. } | Notification::Event { text, .. }) =
                note;
            assert_eq!(text, format!("{}…", "é".repeat(LONGEST)));
        }
    }
}
