//! The proof for MCP's registry that the operator owns the domain: `GET /.well-known/mcp-registry-auth`.

use base64ct::{Base64, Encoding};

use crate::call::{Rejection, RequestContext};
use crate::route::{Page, PageError};
use crate::settings::{Row, Settings, VariableDoc, VariableReader};

/// `MCP_REGISTRY_AUTH`.
static MCP_REGISTRY_AUTH: Row<Option<Proof>> = Row::new(
    "MCP_REGISTRY_AUTH",
    "the public key of the domain, which `/.well-known/mcp-registry-auth` serves to MCP's \
     [registry](OPERATING.md#list-the-server-in-mcps-registry): \
     `v=MCPv1; k=ed25519; p=<key in base64>`, or `k=ecdsap384` | not set: 404 | 404, with a \
     warning in the log",
    None,
    |text| if text.is_empty() { Ok(None) } else { parse(text).map(Some) },
);

pub(super) static DOCS: &[VariableDoc] = &[MCP_REGISTRY_AUTH.doc()];

/// The line with the public key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Proof(String);

pub(super) fn read(settings: &mut Settings, reader: &mut VariableReader<'_>) {
    match reader.check(&MCP_REGISTRY_AUTH) {
        Ok(()) => settings.extensions.insert(reader.get(&MCP_REGISTRY_AUTH)),
        Err(problem) => reader.reject(problem),
    }
}

/// The names and the lengths in bytes of public keys.
const KEYS: [(&str, usize); 2] = [("ed25519", 32), ("ecdsap384", 49)];

/// A private key in the usual formats is longer, and never served.
fn parse(text: &str) -> Result<Proof, String> {
    let is_key = |(name, length): (&str, usize)| {
        let key = text.strip_prefix("v=MCPv1; k=")?.strip_prefix(name)?.strip_prefix("; p=")?;
        Base64::decode_vec(key).ok().filter(|bytes| bytes.len() == length)
    };
    match KEYS.into_iter().find_map(is_key) {
        Some(_) => Ok(Proof(text.to_owned())),
        None => Err("must be v=MCPv1; k=ed25519; p=<32 bytes in base64>, or k=ecdsap384 with a \
                     compressed point of 49 bytes"
            .to_owned()),
    }
}

/// The proof; 404 if there is none.
pub(super) fn proof(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let proof = context.pipeline.settings.extensions.get::<Option<Proof>>();
    let Some(Proof(line)) = proof.and_then(Option::as_ref) else {
        return Err(Rejection::NOT_FOUND.into());
    };
    Ok(Page::of_type("text/plain; charset=utf-8", line.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs() {
        let ed25519 = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbL";
        let short = format!("v=MCPv1; k=ed25519; p={}", "A".repeat(43));
        let key = format!("v=MCPv1; k=ed25519; p={}=", "A".repeat(43));
        let point = format!("v=MCPv1; k=ecdsap384; p={}A==", "A".repeat(65));
        for (text, valid) in [
            (key.as_str(), true),
            (&point, true),
            (&format!("{key}\n"), false),
            (&short, false),
            (&key.replace("ed25519", "ecdsap384"), false),
            (&point.replace("ecdsap384", "ed25519"), false),
            (&key.replace("MCPv1", "MCPv2"), false),
            (&format!("v=MCPv1; k=ed25519; p={ed25519}"), false),
            ("-----BEGIN PRIVATE KEY-----", false),
        ] {
            assert_eq!(parse(text).is_ok(), valid, "{text}");
        }
    }
}
