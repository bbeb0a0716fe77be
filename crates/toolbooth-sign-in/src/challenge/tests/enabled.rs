//! Which tools the page says that a grant enables.

use super::*;
use toolbooth::Server;
use toolbooth::catalog::{Authorization, Catalog, Tool, Version};

/// A provider and the scopes of it that a tool requires.
type Required = (&'static str, &'static [&'static str]);

/// What the page says of a catalogue of these tools with this variable. `Echo.Private` asks for
/// `send`, and the provider's own scope is `offline`. Tools of `Paid` require the scope `paid`.
fn named(tools: &[(&'static str, &[Required])], variable: (&str, &str)) -> String {
    let tool = |(id, required): &(&'static str, &[Required])| {
        let (name, version) = id.split_once('@').unwrap();
        let (toolkit, tool) = name.split_once('.').unwrap();
        let required = required.iter().map(|(id, scopes)| Authorization { id, scopes });
        Tool {
            toolkit,
            tool,
            version: Version::parse(version).unwrap(),
            title: [("Private", "Use an account"), ("Copy", "Copy a mail")]
                .iter()
                .find_map(|(known, title)| (*known == tool).then_some(*title)),
            scopes: if toolkit == "Paid" { &["paid"] } else { &[] },
            authorization: required.collect::<Vec<_>>().leak(),
            ..toolbooth::testing::echo::private()
        }
    };
    let tools: &[Tool] = tools.iter().map(tool).collect::<Vec<_>>().leak();
    let catalog = Box::leak(Box::new(Catalog { tools, ..*toolbooth::testing::echo::CATALOG }));
    let harness = start_with(&[variable]);
    let asked = start().challenge();
    let page = ready(harness.ask_at(
        &Server::new(catalog, crate::tests::CAPABILITIES, &harness.host),
        ("GET", &asked.url),
        &[],
        "",
    ));
    let page = text(&page);
    let (_, rest) = page.split_once("<dt>For the tool</dt>").unwrap();
    let (tools, _) = rest.split_once("<dt>Permissions at").unwrap();
    let tools = tools.replace("</dt>", ": ").replace("</li>", ", ");
    tools.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

#[test]
fn the_page_names_every_tool_that_the_grant_enables() {
    let tools: &[(&str, &[Required])] = &[
        ("Disk.List@1.0.0", &[("disk", &["send"])]),
        ("Echo.Private@1.0.0", &[("mail", &["send"])]),
        ("Echo.Private@2.0.0", &[("mail", &["send"])]),
        ("Echo.Say@1.0.0", &[]),
        ("Mail.Copy@1.0.0", &[("disk", &["x"]), ("mail", &["send"])]),
        ("Mail.Read@1.0.0", &[("mail", &["read"])]),
        ("Mail.Read@2.0.0", &[("mail", &["read", "send"])]),
        ("Mail.Send@1.0.0", &[("mail", &["send"])]),
        ("Mail.Send@1.1.0", &[("mail", &["offline", "send"])]),
        ("Mail.Watch@1.0.0", &[("mail", &[])]),
    ];
    let also = "Other tools that can then use this access: ";
    for (allowed, expected) in [
        ("Mail.*,Disk.*,Echo.*", format!("{also}Copy a mail (Mail.Copy), Mail.Send, Mail.Watch, ")),
        ("Mail.Send@1.1.0,Mail.Read,Disk.*", format!("{also}Mail.Send, ")),
        ("Echo.*", String::new()),
    ] {
        let page = named(tools, ("TOOL_ALLOWLIST", allowed));
        assert_eq!(page, format!("Use an account (Echo.Private){expected}"), "{allowed}");
    }
}

#[test]
fn the_page_names_no_tool_that_the_application_may_not_call() {
    let tools: &[(&str, &[Required])] = &[
        ("Echo.Private@1.0.0", &[("mail", &["send"])]),
        ("Mail.Send@1.0.0", &[("mail", &["send"])]),
        ("Mail.Watch@1.0.0", &[("mail", &[])]),
        ("Paid.Send@1.0.0", &[("mail", &["send"])]),
    ];
    for (members, expected) in [
        (r#""scopes":[]"#, "Mail.Send, Mail.Watch, "),
        (r#""scopes":["paid"]"#, "Mail.Send, Mail.Watch, Paid.Send, "),
        (r#""scopes":["*"],"tools":["Echo.*","Paid.*","Mail_Watch"]"#, "Paid.Send, "),
        (r#""scopes":[],"tools":["Echo.*","Paid.*","Mail.Watch"]"#, "Mail.Watch, "),
        (r#""scopes":["*"],"tools":["Echo.Private"]"#, ""),
    ] {
        let keys = format!(
            r#"[{{"name":"Calendar",{members},"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}}]"#
        );
        let also =
            if expected.is_empty() { "" } else { "Other tools that can then use this access: " };
        let page = named(tools, ("API_KEYS", &keys));
        assert_eq!(page, format!("Use an account (Echo.Private){also}{expected}"), "{members}");
    }
}

#[test]
fn a_page_of_a_large_catalogue_folds_most_of_its_tools() {
    let ids: Vec<&str> = (100..200).map(|at| &*format!("Mail.Do{at}@1.0.0").leak()).collect();
    let all: Vec<(&str, &[Required])> =
        ids.iter().map(|id| (*id, &[("mail", &["send"] as &[_])] as &[_])).collect();
    for (count, more) in [(10, ""), (11, "and 1 more"), (100, "and 90 more")] {
        let named = named(&all[..count], ("TOOL_ALLOWLIST", "Mail.*"));
        assert_eq!(named.matches("Mail.Do").count(), count, "{named}");
        let (shown, folded) = named.split_once("Mail.Do109, ").unwrap();
        assert_eq!(shown.matches("Mail.Do").count(), 9, "{named}");
        assert!(folded.starts_with(more), "{named}");
    }
}
