// Creates a tool: its definition, its function and, for a new toolkit, the `mod` line in lib.rs.
//   [HTTP=1] [SCOPES=a,b] node scripts/tool.mjs Greeter.Hello [catalogue folder]
// HTTP=1: the tool sends a request to a service. SCOPES: what the caller's key or token must have.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = "0.1.0";
// Words that are names in Rust only as r#word, and those that are none at all.
const KEYWORDS =
  "abstract as async await become box break const continue do dyn else enum extern false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return static struct trait true try type typeof unsafe unsized use virtual where while yield".split(" ");
const NO_NAMES = ["crate", "self", "super"];

const [id = "", folder = "tools"] = process.argv.slice(2);
const isHttp = (process.env.HTTP ?? "") !== "";
const scopes = (process.env.SCOPES ?? "").split(",").filter((scope) => scope !== "");

const parts = /^([A-Za-z][A-Za-z0-9]*)\.([A-Za-z][A-Za-z0-9]*)$/.exec(id);
if (!parts) fail(`ID must have the form Toolkit.Tool, such as ID=Greeter.Hello, not "${id}"`);
const [, toolkit, tool] = parts;
const wrongScope = scopes.find((scope) => !/^[!#-[\]-~]+$/.test(scope) || scope === "*");
if (wrongScope) fail(`SCOPES must be scopes separated by commas, such as SCOPES=mail:read,mail:send, not "${wrongScope}"`);

const folderName = toolkit.toLowerCase();
const snake = tool
  .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
  .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
  .toLowerCase();
for (const name of [folderName, snake]) {
  if (NO_NAMES.includes(name)) fail(`Rust allows no module or function called ${name}: choose another ID`);
}
const raw = (name) => (KEYWORDS.includes(name) ? `r#${name}` : name);
const module = raw(folderName);
const handler = raw(snake);
const definition = join(folder, folderName, `${tool}@${VERSION}.json`);
const code = join(folder, folderName, "mod.rs");
const library = join(folder, "lib.rs");
const declared = readFileSync(library, "utf8");
if (existsSync(definition)) fail(`${definition} already exists`);

const isNew = !existsSync(code);
const isTaken = folderName === "types" || new RegExp(`^(pub )?mod ${module};`, "m").test(declared);
if (isNew && isTaken) fail(`${library} already has a module ${module}: choose another toolkit`);
const before = isNew ? `//! ${toolkit}.\n` : readFileSync(code, "utf8");
if (new RegExp(`\\bfn ${handler}\\b`).test(before)) fail(`${code} already has a function ${handler}`);

// A service of the tool with HTTP=1: the variable with its address.
const constant = `${snake.toUpperCase()}_URL`;
const variable = `${folderName.toUpperCase()}_${constant}`;
const service = `https://${folderName}.example`;

const greeting = `{ "type": "string", "description": "The greeting." }`;
const output = isHttp
  ? `{
    "type": "object",
    "properties": { "greeting": ${greeting} },
    "required": ["greeting"],
    "additionalProperties": false
  }`
  : greeting;
const value = isHttp ? `{ "greeting": "Hello, Ada!" }` : `"Hello, Ada!"`;
const members = [
  ...(scopes.length > 0 ? [`  "scopes": ${JSON.stringify(scopes).replaceAll(",", ", ")},\n`] : []),
  ...(isHttp ? [`  "variables": ["${variable}"],\n`] : []),
];

mkdirSync(join(folder, folderName), { recursive: true });
writeFileSync(
  definition,
  `{
  "id": "${toolkit}.${tool}@${VERSION}",
  "name": "${toolkit}_${tool}",
  "description": "Greets a person by name. Replace this: say what the tool does and when to use it.",
  "version": "${VERSION}",
  "input_schema": {
    "type": "object",
    "properties": {
      "name": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The name of the person to greet." }
    },
    "required": ["name"],
    "additionalProperties": false
  },
  "output_schema": ${output},
${members.join("")}  "annotations": { "read_only": true, "destructive": false, "idempotent": true, "open_world": ${isHttp} },
  "examples": [{ "input": { "name": "Ada" }, "value": ${value} }]
}
`,
);

const local = `
/// Greets a person by name.
pub(crate) async fn ${handler}(input: ${handler}::Input, _: &Context<'_>) -> Result<${handler}::Output, ToolError> {
    Ok(format!("Hello, {}!", input.name))
}
`;
const remote = `
/// The base URL of the service.
pub(crate) const ${constant}: Variable = Variable::new("${variable}", "${service}", base_address);

/// Greets a person by name.
pub(crate) async fn ${handler}(input: ${handler}::Input, context: &Context<'_>) -> Result<${handler}::Output, ToolError> {
    let url = format!("{}/greetings/{}", context.variable("${variable}"), path_segment(&input.name)?);
    let response = context.send(HttpRequest::get(url)).await?;
    match response.status {
        200 => response.json().ok_or_else(|| ToolError::new("The service returned an invalid response")),
        404 => Err(ToolError::new("The service does not know this person")),
        429 | 500.. => Err(ToolError::new("The service is not available").retryable()),
        status => Err(ToolError::new("The service rejected the request")
            .developer_message(format!("It returned {status}."))),
    }
}

/// A fake of the service, for the tests.
#[cfg(test)]
pub(crate) fn fake_${snake}(_: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse { status: 200, retry_after_ms: None, body: br#"{"greeting":"Hello, Ada!"}"#.to_vec() })
}
`;
const imports = [
  ...(isHttp
    ? [
        [/^use toolbooth::address::.*\bbase_address\b/m, "use toolbooth::address::base_address;"],
        [/^use toolbooth::host::.*\bHttpRequest\b/m, "use toolbooth::host::HttpRequest;"],
        [/\buse toolbooth::host::.*\bHttpError\b/m, "#[cfg(test)]\nuse toolbooth::host::{HttpError, HttpResponse};"],
        [/^use toolbooth::tool::.*\bVariable\b/m, "use toolbooth::tool::Variable;"],
        [/^use toolbooth::url::.*\bpath_segment\b/m, "use toolbooth::url::path_segment;"],
      ]
    : []),
  [/^use toolbooth::.*\bContext\b/m, "use toolbooth::{Context, ToolError};"],
];
const missing = imports.filter(([present]) => !present.test(before)).map(([, line]) => line).join("\n");
const types = `use crate::types::${module}::${handler};`;
writeFileSync(code, formatted(`${insertImports(before, missing, types)}${isHttp ? remote : local}`));

let next = declared;
if (isNew) {
  const modules = [...next.matchAll(/^mod (?:r#)?([a-z0-9_]+);\n/gm)].filter(([, name]) => name !== "tests");
  const later = modules.find(([, name]) => name > folderName);
  const last = modules.at(-1);
  const at = later ? later.index : last ? last.index + last[0].length : next.length;
  next = `${next.slice(0, at)}mod ${module};\n${next.slice(at)}`;
}
const notes = [];
if (isHttp) {
  const path = `${module}::${constant}`;
  const list = /^(const VARIABLES: &\[Variable\] =\s*&\[)(.*?)(\];)/ms;
  const names = list.exec(next)?.[2].split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (names) next = next.replace(list, (_, start, __, end) => `${start}${[...names, path].join(", ")}${end}`);
  else notes.push(`Add ${path} to VARIABLES in ${library}.`);

  const tests = join(folder, "tests.rs");
  const text = existsSync(tests) ? readFileSync(tests, "utf8") : "";
  const world = /^pub\(crate\) fn world\([^{]*\{\n/m;
  const fake = `    if request.url.starts_with("${service}/") {
        return crate::${module}::fake_${snake}(request);
    }
`;
  if (world.test(text)) writeFileSync(tests, text.replace(world, (start) => `${start}${fake}`));
  else notes.push(`Let the tests answer its requests with ${module}::fake_${snake}.`);
}
if (next !== declared) writeFileSync(library, formatted(next));
console.log(`Wrote ${definition} and ${handler} in ${code}.`);
for (const note of notes) console.log(note);
console.log("Edit both, then run: make check");

// Inserts the imports below the leading comments and modules; rustfmt sorts them.
function insertImports(text, lines, types) {
  const head = /^(?:\/\/!.*\n)*\n?(?:(?:#\[cfg\(test\)\]\n)?(?:pub(?:\(crate\))? )?mod (?:r#)?\w+;\n)*/.exec(text)[0];
  const rest = text.slice(head.length).trimStart();
  const outside = /^(?:(?:#\[cfg\(test\)\]\n)?use (?!crate::)[^;]*;\n)*/.exec(rest)[0];
  const inside = rest.slice(outside.length).trimStart();
  const gap = /^use crate::/.test(inside) ? "" : "\n";
  return `${head.trimEnd()}\n\n${outside}${lines}${lines ? "\n" : ""}\n${types}\n${gap}${inside}`;
}

// The line breaks depend on the length of the names. Without rustfmt, `make check` says what to format.
function formatted(rust) {
  const { status, stdout } = spawnSync("rustfmt", ["--edition", "2024"], { cwd: folder, input: rust, encoding: "utf8" });
  return status === 0 ? stdout : rust;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
