//! References: only recursive schemas have them. All others are written where they are used.

use std::fmt;
#[cfg(feature = "build")]
use std::sync::OnceLock;

use crate::Schema;

/// What `$ref` leads to.
#[derive(Clone, Copy)]
pub enum Reference {
    /// A schema that is a static.
    Static(&'static Schema),
    /// A schema that is being compiled: it refers to itself before it is there.
    #[cfg(feature = "build")]
    Late(&'static OnceLock<Schema>),
}

impl Reference {
    /// The schema.
    pub(crate) fn schema(self) -> &'static Schema {
        match self {
            Self::Static(schema) => schema,
            #[cfg(feature = "build")]
            Self::Late(schema) => schema.get().unwrap_or(&Schema { keywords: &[] }),
        }
    }
}

/// Without the schema, which may contain this reference.
impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reference")
    }
}
