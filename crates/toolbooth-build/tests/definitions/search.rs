//! The search: what definitions say about it, and what it finds among a thousand tools.

use std::cell::RefCell;

use serde_json::json;
use toolbooth_build::{Build, Source, compile, search_index};

use crate::sample::{assert_problems, catalogue, define, problems, slugify};

#[test]
fn names_of_the_search_and_what_is_always_listed() {
    for name in ["search_tools", "call_tool"] {
        let expected = format!(
            "tools/calculator/Add@1.0.0.json: name: is {name:?}, which is the name of a tool of the search"
        );
        assert_problems(name, &json!({"/name": name}), &[&expected]);
    }
    assert_problems("always", &json!({"/listed": "always"}), &[]);
    assert_problems("search", &json!({"/listed": "search"}), &[]);
    assert_problems(
        "never",
        &json!({"/listed": "never"}),
        &[
            "tools/calculator/Add@1.0.0.json: listed: is \"never\", but the tool completes no argument: nobody would find it",
        ],
    );
    assert_problems(
        "no such word",
        &json!({"/listed": "sometimes"}),
        &[
            "tools/calculator/Add@1.0.0.json: listed: unknown variant `sometimes`, expected one of `always`, `search`, `never`",
        ],
    );
    let mut source = catalogue();
    for number in 10..23 {
        let mut definition = slugify("1.0.0");
        definition["id"] = json!(format!("Many.Tool{number}@1.0.0"));
        definition["name"] = json!(format!("Many_Tool{number}"));
        definition["listed"] = json!("always");
        definition["http"] = json!({"method": "GET", "base": "MANY_URL", "path": "/"});
        definition["input_schema"] = json!({"type": "object", "additionalProperties": false});
        definition["examples"] = json!([]);
        define(&mut source, &definition);
    }
    source.files.insert("many/toolkit.json".to_owned(), MANY.to_owned());
    let message = "tools/many/Tool22@1.0.0.json: listed: is \"always\" for more than 12 tools: a list of a large catalogue stays short";
    assert_eq!(problems(&source), [message]);
}

const MANY: &str =
    r#"{"variables": {"MANY_URL": {"kind": "base", "default": "https://many.example"}}}"#;

#[test]
fn an_older_version_is_not_found() {
    let mut source = catalogue();
    define(&mut source, &slugify("1.10.0"));
    define(&mut source, &slugify("2.0.0"));
    let found = search_index(&source).0.find("slug of a text", 5, &|_| true);
    assert_eq!(found, [3], "Text.Slugify@2.0.0 is the last");
    let rust = compile(&source).unwrap().files.swap_remove(0).1;
    let rust = String::from_utf8(rust).unwrap();
    assert!(rust.contains("(\"slugify\", b\"\\x03"), "the postings are those of the index");
}

/// Systems, what they have, and what can be done with it, each with other words for the description.
const SYSTEMS: [(&str, &str); 5] = [
    ("Shop", "the online store"),
    ("Clinic", "the medical practice"),
    ("Library", "the lending house"),
    ("Garage", "the car workshop"),
    ("School", "the campus office"),
];
const THINGS: [(&str, &str); 25] = [
    ("Order", "purchase"),
    ("Invoice", "bill"),
    ("Customer", "person"),
    ("Product", "article"),
    ("Shipment", "parcel"),
    ("Refund", "repayment"),
    ("Coupon", "voucher"),
    ("Review", "opinion"),
    ("Appointment", "date"),
    ("Prescription", "medicine"),
    ("Room", "place"),
    ("Employee", "worker"),
    ("Schedule", "plan"),
    ("Report", "summary"),
    ("Document", "file"),
    ("Message", "note"),
    ("Subscription", "contract"),
    ("Payment", "transfer"),
    ("Supplier", "vendor"),
    ("Warehouse", "depot"),
    ("Ticket", "request"),
    ("Comment", "remark"),
    ("Label", "mark"),
    ("Reminder", "alarm"),
    ("Vehicle", "car"),
];
const ACTIONS: [(&str, &str); 8] = [
    ("List", "Returns several"),
    ("Get", "Returns one"),
    ("Create", "Adds one"),
    ("Update", "Changes one"),
    ("Delete", "Removes one"),
    ("Archive", "Puts one away"),
    ("Export", "Writes several into a file"),
    ("Approve", "Accepts one"),
];

#[test]
fn nineteen_of_twenty_queries_find_their_tool_among_a_thousand() {
    let mut source = Source { name: "tools".to_owned(), ..Source::default() };
    let mut queries = Vec::new();
    for (system, place) in SYSTEMS {
        for (thing, other) in THINGS {
            for (action, does) in ACTIONS {
                define(
                    &mut source,
                    &json!({
                        "id": format!("{system}.{thing}{action}@1.0.0"),
                        "name": format!("{system}_{thing}{action}"),
                        "description": format!("{does}: {other} of {place}."),
                        "version": "1.0.0",
                        "input_schema": {"type": "object", "properties": {"id": {"type": "string", "description": "Which."}}},
                        "output_schema": null,
                        "examples": [{"input": {}, "value": null}]
                    }),
                );
                // What a person would say, in an order of its own, with the plural.
                queries.push((
                    format!("{system}.{thing}{action}@1.0.0"),
                    format!("{action} the {thing}s in my {system}"),
                ));
            }
        }
    }
    let (index, ids) = search_index(&source);
    assert_eq!(ids.len(), 1000);
    let finds = |(id, query): &&(String, String)| {
        index.find(query, 5, &|_| true).iter().any(|at| ids[*at] == *id)
    };
    let found = queries.iter().filter(finds).count();
    assert!(found >= 950, "recall@5 is {found} of 1,000");
    let said = RefCell::new(Vec::new());
    let say = |checked, all| said.borrow_mut().push((checked, all));
    // Its tools have no functions, which is reported after the definitions are checked.
    assert!(Build::default().compile_with(&source, &say).is_err());
    assert_eq!(said.take(), (1..10).map(|it| (it * 100, 1000)).collect::<Vec<_>>());
}
