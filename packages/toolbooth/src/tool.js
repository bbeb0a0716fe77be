// Creates a tool: its definition, its function and, for a new toolkit, the `mod` line in lib.rs.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./process.js";

const VERSION = "0.1.0";
// Words that are names in Rust only as r#word, and those that are never names.
const KEYWORDS =
  "abstract as async await become box break const continue do dyn else enum extern false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return static struct trait true try type typeof unsafe unsized use virtual where while yield".split(" ");
const NO_NAMES = ["crate", "self", "super"];

/**
 * Creates the tool `id`, such as `Greeter.Hello`, in the catalogue of a folder. `http`: it sends a request to a service.
 * `scopes`: what the caller's key or token must have, separated by commas.
 */
export function tool(id = "", { folder = "tools", http: isHttp = false, scopes: list = "" } = {}) {
  const parts = /^([A-Za-z][A-Za-z0-9]*)\.([A-Za-z][A-Za-z0-9]*)$/.exec(id);
  if (!parts) fail(`The id must have the form Toolkit.Tool, such as Greeter.Hello, not "${id}"`);
  const [, toolkit, tool] = parts;
  const scopes = list.split(",").filter((scope) => scope !== "");
  const wrongScope = scopes.find((scope) => !/^[!#-[\]-~]+$/.test(scope) || scope === "*");
  if (wrongScope) fail(`The scopes must be separated by commas, such as mail:read,mail:send, not "${wrongScope}"`);

  const names = rustNames(toolkit, tool);
  const { folderName, module, handler } = names;
  const definition = join(folder, folderName, `${tool}@${VERSION}.json`);
  const code = join(folder, folderName, "mod.rs");
  const library = join(folder, "lib.rs");
  if (!existsSync(library)) fail(`There is no ${library}: run this command in the folder of a project`);
  if (existsSync(definition)) fail(`${definition} already exists`);
  const declared = readFileSync(library, "utf8");
  const isNew = !existsSync(code);
  const isTaken = folderName === "types" || new RegExp(`^(pub )?mod ${module};`, "m").test(declared);
  if (isNew && isTaken) fail(`${library} already has a module ${module}: choose another toolkit`);
  const before = isNew ? `//! ${toolkit}.\n` : readFileSync(code, "utf8");
  if (new RegExp(`\\bfn ${handler}\\b`).test(before)) fail(`${code} already has a function ${handler}`);

  replaceLink(join(folder, folderName));
  mkdirSync(join(folder, folderName), { recursive: true });
  writeFileSync(definition, definitionOf({ toolkit, tool, scopes, isHttp, ...names }));
  const text = `${withImports(before, isHttp, `use crate::types::${module}::${handler};`)}${isHttp ? remote(names) : local(names)}`;
  writeFileSync(code, formatted(text, folder));

  const withModules = isNew ? withModule(declared, folderName, module) : declared;
  const { text: next, notes } = isHttp ? withVariable(withModules, library, names) : { text: withModules, notes: [] };
  if (next !== declared) writeFileSync(library, formatted(next, folder));
  if (isHttp) notes.push(...addFake(join(folder, "tests.rs"), names));

  console.log(`Wrote ${definition} and ${handler} in ${code}.`);
  for (const note of notes) console.log(note);
  console.log("Edit both, then run the tests: they include the examples of the definition.");
}

/** Replaces a link to a toolkit that other catalogues share by a copy. */
function replaceLink(folder) {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const shared = realpathSync(folder);
  rmSync(folder);
  cpSync(shared, folder, { recursive: true });
}

/** The names of the tool's folder, module, function and variable. */
function rustNames(toolkit, tool) {
  const folderName = toolkit.toLowerCase();
  const snake = tool
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
  for (const name of [folderName, snake]) {
    if (NO_NAMES.includes(name)) fail(`Rust allows no module or function called ${name}: choose another id`);
  }
  const raw = (name) => (KEYWORDS.includes(name) ? `r#${name}` : name);
  const constant = `${snake.toUpperCase()}_URL`;
  return {
    folderName,
    module: raw(folderName),
    handler: raw(snake),
    fake: `fake_${snake}`,
    // The variable with the service's address, and its default.
    constant,
    variable: `${folderName.toUpperCase()}_${constant}`,
    service: `https://${folderName}.example`,
  };
}

function definitionOf({ toolkit, tool, scopes, isHttp, variable }) {
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
  return `{
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
`;
}

const local = ({ handler }) => `
/// Greets a person by name.
pub(crate) async fn ${handler}(input: ${handler}::Input, _: &Context<'_>) -> Result<${handler}::Output, ToolError> {
    Ok(format!("Hello, {}!", input.name))
}
`;

const remote = ({ handler, constant, variable, service, fake }) => `
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
pub(crate) fn ${fake}(_: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse::new(200, r#"{"greeting":"Hello, Ada!"}"#))
}
`;

// How to recognize each import, and its line.
const IMPORTS = [[/^use toolbooth::.*\bContext\b/m, "use toolbooth::{Context, ToolError};"]];
const HTTP_IMPORTS = [
  [/^use toolbooth::address::.*\bbase_address\b/m, "use toolbooth::address::base_address;"],
  [/^use toolbooth::host::.*\bHttpRequest\b/m, "use toolbooth::host::HttpRequest;"],
  [/\buse toolbooth::host::.*\bHttpError\b/m, "#[cfg(test)]\nuse toolbooth::host::{HttpError, HttpResponse};"],
  [/^use toolbooth::tool::.*\bVariable\b/m, "use toolbooth::tool::Variable;"],
  [/^use toolbooth::url::.*\bpath_segment\b/m, "use toolbooth::url::path_segment;"],
];

/** Inserts the imports that are missing, below the leading comments and modules; rustfmt sorts them. */
function withImports(text, isHttp, types) {
  const imports = [...(isHttp ? HTTP_IMPORTS : []), ...IMPORTS];
  const lines = imports.filter(([present]) => !present.test(text)).map(([, line]) => `${line}\n`).join("");
  const head = /^(?:\/\/!.*\n)*\n?(?:(?:#\[cfg\(test\)\]\n)?(?:pub(?:\(crate\))? )?mod (?:r#)?\w+;\n)*/.exec(text)[0];
  const rest = text.slice(head.length).trimStart();
  const outside = /^(?:(?:#\[cfg\(test\)\]\n)?use (?!crate::)[^;]*;\n)*/.exec(rest)[0];
  const inside = rest.slice(outside.length).trimStart();
  const gap = /^use crate::/.test(inside) ? "" : "\n";
  return `${head.trimEnd()}\n\n${outside}${lines}\n${types}\n${gap}${inside}`;
}

/** Inserts a `mod` line in alphabetical order; modules of tests do not count. The first one gets its own paragraph. */
function withModule(text, name, module) {
  const modules = [...text.matchAll(/(?<!#\[cfg\(test\)\]\n)^mod (?:r#)?([a-z0-9_]+);\n/gm)];
  const next = modules.find(([, other]) => other > name);
  const last = modules.at(-1);
  const head = /^(?:(?:\/\/!|#!).*\n|\n)*/.exec(text)[0].length;
  const at = next?.index ?? (last ? last.index + last[0].length : head);
  return `${text.slice(0, at)}mod ${module};\n${last ? "" : "\n"}${text.slice(at)}`;
}

/** Adds the tool's variable to VARIABLES in lib.rs; if there is no such list, returns what to do by hand. */
function withVariable(text, library, { module, constant }) {
  const path = `${module}::${constant}`;
  const list = /^(const VARIABLES: &\[Variable\] =\s*&\[)(.*?)(\];)/ms;
  const names = list.exec(text)?.[2].split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (!names) return { text, notes: [`Add ${path} to VARIABLES in ${library}.`] };
  return { text: text.replace(list, (_, start, __, end) => `${start}${[...names, path].join(", ")}${end}`), notes: [] };
}

/** Lets the tests use the fake of the tool's service. Returns what to do by hand. */
function addFake(tests, { module, fake, service }) {
  const text = existsSync(tests) ? readFileSync(tests, "utf8") : "";
  const services = /^pub\(crate\) fn world\([^{]*\{\n/m;
  if (!services.test(text)) return [`Let the tests answer its requests with ${module}::${fake}.`];
  const route = `    if request.url.starts_with("${service}/") {
        return crate::${module}::${fake}(request);
    }
`;
  writeFileSync(tests, text.replace(services, (start) => `${start}${route}`));
  return [];
}

/** The line breaks depend on the length of the names. Without rustfmt, `cargo fmt` does this later. */
function formatted(rust, folder) {
  const { status, stdout } = spawnSync("rustfmt", ["--edition", "2024"], { cwd: folder, input: rust, encoding: "utf8" });
  return status === 0 ? stdout : rust;
}

function fail(message) {
  throw new Failure(message, 2);
}
