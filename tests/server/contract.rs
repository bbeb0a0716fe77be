//! Validates a response against the OpenAPI contracts in docs/contracts, like tests/support/contract.mjs.
//!
//! A contract describes every response of its paths, so a new protocol needs no change here.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Registry, Validator};
use serde_json::Value;

/// A response, with the method and the path of its request.
pub struct Answer<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub status: u16,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    fn text(&self) -> Result<&'a str, String> {
        str::from_utf8(self.body).map_err(|error| format!("the body is not UTF-8: {error}"))
    }

    /// The path whose contract describes the response. At the root, the body selects the protocol.
    fn contract_path(&self) -> String {
        let path = self.path;
        if self.method != "POST" || !["/call", "/tools/call"].contains(&path) {
            return path.to_owned();
        }
        match serde_json::from_slice(self.body) {
            // Only JSON-RPC has notifications.
            _ if self.status == 204 => "/opentool/call".to_owned(),
            Ok(Value::Array(_)) => "/opentool/call".to_owned(),
            Ok(Value::Object(body)) if body.contains_key("jsonrpc") => "/opentool/call".to_owned(),
            Ok(Value::Object(body)) => match body.get("$schema").and_then(Value::as_str) {
                Some(schema) if schema.starts_with("otc:") => format!("/otc{path}"),
                Some(_) => format!("/oxp/1.0{path}"),
                None => path.to_owned(),
            },
            _ => path.to_owned(),
        }
    }
}

/// Validates a response against the contract of its path.
///
/// # Errors
/// The first violation of the contract.
pub fn check(answer: &Answer<'_>) -> Result<(), String> {
    for (name, value) in answer.headers {
        let same = |(other, _): &&(&str, &str)| other.eq_ignore_ascii_case(name);
        ensure(answer.headers.iter().filter(same).count() == 1, || format!("{name} is repeated"))?;
        let plain = !value.contains(char::is_control);
        ensure(plain, || format!("{name} has a control character: {value:?}"))?;
    }
    let Answer { method, path, status, .. } = answer;
    let Some(contracts) = &*CONTRACTS else { return Ok(()) };
    contracts.check(answer).map_err(|error| format!("{method} {path} answered {status}: {error}"))
}

/// The method and path of every operation in the contracts; `x` replaces a path parameter.
#[allow(dead_code, reason = "the tests of crates/toolbooth take the paths from the index")]
pub fn operations() -> impl Iterator<Item = (String, String)> {
    CONTRACTS.iter().flat_map(|contracts| &contracts.mounts).flat_map(|(prefix, contract)| {
        members(&contract.document, "/paths").flat_map(move |(path, item)| {
            let segments =
                path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
            let path = format!("{prefix}{}", segments.collect::<Vec<_>>().join("/"));
            members(item, "").map(move |(method, _)| (method.to_uppercase(), path.clone()))
        })
    })
}

/// `None` in the published package, which has no contracts.
static CONTRACTS: LazyLock<Option<Contracts>> = LazyLock::new(|| {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    (!package.join("Cargo.toml.orig").exists()).then(|| Contracts::read(package))
});

struct Contracts {
    /// By descending length of the prefix.
    mounts: Vec<(String, Arc<Contract>)>,
    registry: Registry<'static>,
    /// By the URI of the schema.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// An OpenAPI document.
struct Contract {
    uri: String,
    document: Value,
}

impl Contracts {
    fn read(package: &Path) -> Self {
        let mut folders = package.ancestors().map(|root| root.join("docs/contracts"));
        let folder = folders.find(|folder| folder.is_dir()).expect("docs/contracts");
        let mut mounts = Vec::new();
        let mut registry = Registry::new();
        for entry in std::fs::read_dir(folder).expect("docs/contracts") {
            let path = entry.expect("a contract").path();
            let text = std::fs::read(&path).expect("a contract");
            let document: Value = serde_json::from_slice(&text).expect("a contract in JSON");
            let uri = format!("contract:///{}", path.file_name().unwrap_or_default().display());
            registry = registry.add(&uri, document.clone()).expect("a contract with valid schemas");
            let contract = Arc::new(Contract { uri, document });
            for server in contract.document["servers"].as_array().into_iter().flatten() {
                let prefix = server["url"].as_str().unwrap_or_default().trim_end_matches('/');
                mounts.push((prefix.to_owned(), Arc::clone(&contract)));
            }
        }
        mounts.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        let registry = registry.prepare().expect("contracts whose references resolve");
        Self { mounts, registry, validators: Mutex::default() }
    }

    fn check(&self, answer: &Answer<'_>) -> Result<(), String> {
        let path = answer.contract_path();
        let (contract, below) = self.contract(&path).ok_or("no contract has this path")?;
        let item = contract.item(below);
        let response = response(item, answer.method, answer.status)
            .ok_or_else(|| format!("{} has no such response", contract.uri))?;
        let described = contract.document.pointer(&format!("/components/responses/{response}"));
        let described = described.ok_or_else(|| format!("{} lacks {response}", contract.uri))?;
        for (name, header) in members(described, "/headers") {
            let pointer = header["$ref"].as_str().unwrap_or_default().trim_start_matches('#');
            let required = contract
                .document
                .pointer(pointer)
                .is_some_and(|header| header["required"].as_bool().unwrap_or_default());
            match answer.header(name) {
                Some(value) => {
                    let schema = format!("{}#{pointer}/schema", contract.uri);
                    self.validate(&schema, &value.into())
                        .map_err(|error| format!("{name}: {error}"))?;
                }
                None => ensure(!required, || format!("{name} is missing"))?,
            }
        }
        let Some(content) = described.get("content").filter(|_| answer.method != "HEAD") else {
            return ensure(answer.body.is_empty(), || "it has a body".to_owned());
        };
        let kind = answer.header("content-type").unwrap_or_default();
        let (kind, charset) = kind.split_once("; ").unwrap_or((kind, ""));
        let media = content.get(kind).ok_or_else(|| format!("its content type is {kind:?}"))?;
        let is_text = ["text/html", "text/plain"].contains(&kind);
        ensure((charset == "charset=utf-8") == is_text, || charset.to_owned())?;
        let schema = |name: &str| {
            let kind = kind.replace('/', "~1");
            format!("{}#/components/responses/{response}/content/{kind}/{name}", contract.uri)
        };
        match kind {
            "application/json" | "application/problem+json" => {
                self.validate(&schema("schema"), &json(answer.text()?)?)?
            }
            // `schema` describes one event, `x-stream` the whole text.
            "text/event-stream" => {
                self.validate(&schema("x-stream"), &answer.text()?.into())?;
                for event in answer.text()?.split("\n\n").filter(|event| !event.is_empty()) {
                    self.validate(&schema("schema"), &fields(event))?;
                }
            }
            _ => {}
        }
        if media.get("x-events").is_some() {
            let data = answer.text()?.lines().filter_map(|line| line.strip_prefix("data:"));
            let events = data.map(json).collect::<Result<Vec<_>, _>>()?;
            self.validate(&schema("x-events"), &events.into())?;
        }
        Ok(())
    }

    /// The contract of a path, and the path relative to its prefix. Among contracts with the same prefix,
    /// this is the one that contains the path, or else the one that describes 404.
    fn contract<'p>(&self, path: &'p str) -> Option<(&Contract, &'p str)> {
        let below = |prefix: &str| {
            let rest = path.strip_prefix(prefix)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        let longest = self.mounts.iter().find(|(prefix, _)| below(prefix).is_some());
        let (prefix, _) = longest.or(self.mounts.last())?;
        let rest = match below(prefix).unwrap_or(path) {
            "" if !prefix.is_empty() => "/",
            rest => rest,
        };
        let mounted = || self.mounts.iter().filter(|(other, _)| other == prefix);
        let not_found = "/components/responses/NotFound";
        let (_, contract) = mounted()
            .find(|(_, contract)| !contract.item(rest).is_null())
            .or_else(|| mounted().find(|(_, one)| one.document.pointer(not_found).is_some()))?;
        Some((contract, rest))
    }

    fn validate(&self, schema: &str, value: &Value) -> Result<(), String> {
        let mut validators = self.validators.lock().expect("no validator panics");
        let validator = Arc::clone(validators.entry(schema.to_owned()).or_insert_with(|| {
            let reference = serde_json::json!({ "$ref": schema });
            let options = jsonschema::options().with_registry(&self.registry);
            Arc::new(options.build(&reference).expect("a schema that compiles"))
        }));
        drop(validators);
        validator.validate(value).map_err(|error| format!("{}: {error}", error.instance_path()))
    }
}

impl Contract {
    /// The path item for a path: `/a/{b}` for `/a/x`. Null if there is none.
    fn item(&self, path: &str) -> &Value {
        let fits = |item: &str| {
            let variable = |part: &str| part.starts_with('{');
            // The id of a model may have slashes.
            if let Some(start) = item.strip_suffix("{model}") {
                return path.len() > start.len() && path.starts_with(start);
            }
            let pairs = || item.split('/').zip(path.split('/'));
            item.split('/').count() == path.split('/').count()
                && pairs().all(|(own, part)| own == part || variable(own) && !part.is_empty())
        };
        members(&self.document, "/paths")
            .find(|(item, _)| fits(item))
            .map_or(&Value::Null, |(_, item)| item)
    }
}

/// The name of the response to a method with a status, even if the contract has no such operation.
fn response(item: &Value, method: &str, status: u16) -> Option<String> {
    let operation = members(item, "").find(|(name, _)| name.to_uppercase() == method);
    let name = match (operation, item, status) {
        (Some((_, operation)), ..) => {
            let response = &operation["responses"][status.to_string()]["$ref"];
            response.as_str()?.rsplit('/').next()?
        }
        (None, _, 403) => "OriginNotAllowed",
        (None, Value::Null, 204) => "Options",
        (None, Value::Null, 404) => "NotFound",
        // Clients find out whether they need credentials by a method that is not allowed.
        (None, Value::Object(_), 401) => "Unauthenticated",
        (None, Value::Object(_), 405) => "MethodNotAllowed",
        _ => return None,
    };
    Some(name.to_owned())
}

/// The members of the object at a JSON pointer.
fn members<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = (&'v str, &'v Value)> {
    let object = value.pointer(pointer).and_then(Value::as_object);
    object.into_iter().flatten().map(|(name, member)| (name.as_str(), member))
}

/// The fields of an event of a stream: `{"event", "data"}`.
fn fields(event: &str) -> Value {
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), Value::from(value.strip_prefix(' ').unwrap_or(value))))
    };
    Value::Object(event.lines().filter_map(field).collect())
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

fn ensure(good: bool, error: impl FnOnce() -> String) -> Result<(), String> {
    if good { Ok(()) } else { Err(error()) }
}
