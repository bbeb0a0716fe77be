//! The servers, browsers and providers of all tests.

#[allow(dead_code, unreachable_pub, reason = "the tests of the server share it")]
pub(crate) mod contract;
pub(crate) mod harness;
pub(crate) mod provider;

use toolbooth::Capability;
use toolbooth::capabilities::{CORE, MCP, REST, USAGE, XAIBO};
use toolbooth_gateway::{GATEWAY, PROVIDERS};

use crate::{ACCOUNT, CHALLENGES, SIGN_IN};

pub(crate) static CAPABILITIES: &[&Capability] =
    &[&CORE, &XAIBO, &REST, &MCP, &PROVIDERS, &GATEWAY, &SIGN_IN, &ACCOUNT, &CHALLENGES, &USAGE];
