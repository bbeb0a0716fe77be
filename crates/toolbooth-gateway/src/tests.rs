//! The capabilities of the servers in tests.

use toolbooth::Capability;
use toolbooth::capabilities::{CORE, REST};

use crate::{GATEWAY, PROVIDERS};

pub(crate) static CAPABILITIES: &[&Capability] = &[&CORE, &REST, &PROVIDERS, &GATEWAY];
