//! The variables of all capabilities.

use crate::CAPABILITIES;
use toolbooth::capability::Capabilities;
use toolbooth::settings::VariableDoc;
use toolbooth::testing::{FakeHost, repository, settings};

/// `UPDATE_DOCS=1 cargo test -p server-tests configuration` writes the rows.
#[test]
fn the_configuration_is_documented() {
    const FILE: &str = "docs/CONFIGURATION.md";
    let Some(documentation) = repository::text(FILE) else { return };
    let mut lines: Vec<String> = documentation.lines().map(str::to_owned).collect();
    for VariableDoc { name, doc } in Capabilities(CAPABILITIES).variable_docs() {
        let start = format!("| `{name}`");
        let row = lines.iter_mut().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("{FILE} has no row of {name}"));
        // The first cell also says whether it is a secret.
        let (first, _) = row[1..].split_once('|').unwrap();
        *row = format!("|{first}| {doc} |");
    }
    let written = lines.join("\n") + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(repository::path(FILE).unwrap(), &written).unwrap();
    } else {
        assert_eq!(
            written, documentation,
            "run UPDATE_DOCS=1 cargo test -p server-tests configuration"
        );
    }
}

/// A definition could send them to a service.
#[test]
fn no_tool_may_use_the_variables_of_the_worker() {
    let docs = Capabilities(CAPABILITIES).variable_docs();
    // Any name may be that of a model provider's key, such as STRIPE_API_KEY.
    let names = docs.iter().map(|it| it.name).filter(|name| !name.starts_with('<'));
    let usable: Vec<_> = names.filter(|name| !toolbooth_build::is_of_worker(name)).collect();
    assert_eq!(usable, [""; 0]);
}

#[test]
fn the_mcp_resource_exists_if_clients_can_find_out_where_to_get_a_token() {
    const JWT: (&str, &str) = ("AUTH", "api-key, jwt");
    const URL: (&str, &str) = ("PUBLIC_URL", "https://tools.example");
    const ISSUER: (&str, &str) = ("JWT_ISSUER", "https://login.example");
    for (variables, exists) in [
        (&[JWT, ISSUER, URL][..], true),
        (&[JWT, ISSUER], false),
        (&[JWT, URL], false),
        (&[JWT, URL, ("JWT_ISSUER", "login")], false),
        (&[("AUTH", "api-key"), ISSUER, URL], false),
        (&[("AUTH", ""), ISSUER, URL], false),
        (&[("AUTH", "sign-in"), URL], true),
        (&[("AUTH", "sign-in")], false),
    ] {
        let resource = settings(CAPABILITIES, &FakeHost::with(variables)).mcp_resource;
        assert_eq!(resource.is_some(), exists, "{variables:?}");
    }
}
