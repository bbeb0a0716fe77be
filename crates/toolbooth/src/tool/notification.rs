//! Notifications: progress and events that a tool reports while it runs.
//!
//! On Workers a response is sent at once, so notifications arrive together with the result, before it.

use std::cell::RefCell;

use crate::text::cut;

/// The most notifications of a run; later ones are dropped.
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

/// The notifications of one run, bounded in number and size.
#[derive(Debug, Default)]
pub(crate) struct Notifications(RefCell<Vec<Notification>>);

impl Notifications {
    /// Adds progress, if `done` is finite and has increased.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let before = self.0.borrow().iter().rev().find_map(|note| match note {
            Notification::Progress { done, .. } => Some(*done),
            Notification::Event { .. } => None,
        });
        if done.is_finite() && before.is_none_or(|before| before < done) {
            let total = total.filter(|total| total.is_finite());
            self.push(Notification::Progress { done, total, message: cut(message, LONGEST) });
        }
    }

    pub(crate) fn event(&self, level: LoggingLevel, text: &str) {
        self.push(Notification::Event { level, text: cut(text, LONGEST) });
    }

    fn push(&self, notification: Notification) {
        let mut notifications = self.0.borrow_mut();
        if notifications.len() < MOST {
            notifications.push(notification);
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
