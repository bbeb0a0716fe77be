//! The capabilities of the servers in tests.

use toolbooth::Capability;
use toolbooth::capabilities::{CORE, MCP, REST, XAIBO};
use toolbooth_gateway::{GATEWAY, PROVIDERS};

use crate::{ACCOUNT, CHALLENGES, SIGN_IN};

pub(crate) static CAPABILITIES: &[&Capability] =
    &[&CORE, &XAIBO, &REST, &MCP, &PROVIDERS, &GATEWAY, &SIGN_IN, &ACCOUNT, &CHALLENGES];
