//! Values by their types: what capabilities read and create when a server starts.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Values by their types.
#[derive(Default, Clone)]
pub struct Extensions(Vec<Arc<dyn Any + Send + Sync>>);

impl Extensions {
    /// Adds a value.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.push(Arc::new(value));
    }

    /// The first value of this type, if there is one.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.all().next()
    }

    /// All values of this type.
    pub fn all<T: 'static>(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|value| value.downcast_ref())
    }
}

/// Shows no value: they may be secret.
impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.len())
    }
}
