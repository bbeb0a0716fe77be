// Creates a tool: its definition, its function and, for a new toolkit, the `mod` line in lib.rs.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { files } from "./catalogue.js";
import { definitionOf, summary, VERSION } from "./definition.js";
import { describeTool } from "./described.js";
import { addDatabase, databaseBinding } from "./database.js";
import { snakeCase } from "./names.js";
import { Failure } from "./process.js";
import { writeScript } from "./scripted.js";
import { textOf } from "./texts.js";
import { isOfWorker } from "./variables.js";

const TODO = "TODO: what the tool does, and when to use it.";
/** The build allows more only if it is told to. */
const MAX_DESCRIPTION = 1024;
// Words that are names in Rust only as r#word, and those that are never names.
const KEYWORDS =
  "abstract as async await become box break const continue do dyn else enum extern false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return static struct trait true try type typeof unsafe unsized use virtual where while yield".split(" ");
const NO_NAMES = ["crate", "self", "super"];

/**
 * Creates the tool `id`, such as `Greeter.Hello`, in the catalogue of a folder. `description`: what it does, for models.
 * `read-only`: it changes nothing. `http`: its function sends a request to a service; `definition`: its definition describes such a
 * request, and it has no function; `secret`: with this secret of the operator.
 * `d1`: it uses a table of a database in D1. `ts`: its function is in TypeScript. `scopes`: what the caller's key or token must have, separated by commas.
 */
export function tool(id = "", { folder = "tools", description: given = TODO, "read-only": isReadOnly = false, http: isHttp = false, definition: isDescribed = false, d1: isD1 = false, ts: isScript = false, secret, scopes: list = "" } = {}) {
  if (id === "") fail("Name the tool, such as Greeter.Hello");
  const parts = /^([A-Za-z][A-Za-z0-9]*)\.([A-Za-z][A-Za-z0-9]*)$/.exec(id);
  if (!parts) fail(`The id must have the form Toolkit.Tool, such as Greeter.Hello, not "${id}"`);
  const [, toolkit, tool] = parts;
  const description = given.trim();
  if (description === "" || [...description].length > MAX_DESCRIPTION || /\p{Cc}/u.test(description)) {
    fail(`The description must be a line of 1 to ${MAX_DESCRIPTION} characters`);
  }
  if (isHttp && isD1) fail("A tool begins with either --http or --d1: choose one, and add the other by hand");
  if (isDescribed && (isHttp || isD1)) fail("A tool begins with one of --definition, --http and --d1");
  if (isDescribed && isScript) fail("A tool with --definition has no function: leave --ts out");
  if (secret !== undefined && !isHttp && !isDescribed) fail("A tool sends its secret to a service: add --http or --definition");
  if (secret !== undefined && !/^[A-Z][A-Z0-9_]*$/.test(secret)) fail(`The secret must have a name such as STOCK_KEY, not "${secret}"`);
  if (secret !== undefined && isOfWorker(secret)) fail(`The Worker itself uses the name ${secret}: choose a different name for the secret`);
  const scopes = list.split(",").filter((scope) => scope !== "");
  const wrongScope = scopes.find((scope) => !/^[!#-[\]-~]+$/.test(scope) || scope === "*");
  if (wrongScope) fail(`The scopes must be separated by commas, such as mail:read,mail:send, not "${wrongScope}"`);

  const names = rustNames(toolkit, tool);
  const { folderName, module, handler, variable } = names;
  if (isHttp && isOfWorker(variable)) fail(`The Worker itself uses the name ${variable} of the variable with the service's address: choose a different id`);
  if (secret === variable) fail(`${variable} is the variable with the service's address: choose a different name for the secret`);
  const definition = join(folder, folderName, `${tool}@${VERSION}.json`);
  const code = join(folder, folderName, "mod.rs");
  const library = join(folder, "lib.rs");
  if (!existsSync(library)) fail(`There is no ${library}: run this command in the folder of a project`);
  if (existsSync(definition)) fail(`${definition} already exists`);
  const declared = textOf(library);
  if (isDescribed) {
    replaceLink(join(folder, folderName));
    return describeTool({ toolkit, tool, version: VERSION, description, isReadOnly, scopes, secret, folder: join(folder, folderName), file: definition });
  }
  const isNew = !existsSync(code);
  if (isScript) {
    if (!isNew && hasFunction(textOf(code), handler)) fail(`${code} already has a function ${handler}`);
    replaceLink(join(folder, folderName));
    return writeScript({ toolkit, tool, description, isReadOnly, scopes, isHttp, isD1, secret, folder, file: definition, ...names });
  }
  const isTaken = folderName === "types" || new RegExp(`^(pub )?mod ${module};`, "m").test(declared);
  if (isNew && isTaken) fail(`${library} already has a module ${module}: choose a different toolkit`);
  const before = isNew ? `//! ${toolkit}.\n` : textOf(code);
  if (hasFunction(before, handler)) fail(`${code} already has a function ${handler}`);

  replaceLink(join(folder, folderName));
  mkdirSync(join(folder, folderName), { recursive: true });
  const isDeclared = secret && files(/\.rs$/, folder).some((file) => textOf(file).includes(`Variable::secret("${secret}")`));
  const binding = isD1 ? databaseBinding() : undefined;
  const table = `${folderName}_items`;
  const shared = isHttp && !isNew ? sharedIn(before, code, secret) : undefined;
  const stub = { toolkit, tool, description, isReadOnly, scopes, isHttp, binding, table, isDeclared, ...names, secret, ...shared };
  writeFileSync(definition, definitionOf(stub));
  const answered = shared ? withAnswer(before, stub) : before;
  const body = shared ? sending(stub) : isHttp ? `${service(stub)}${sending(stub)}${fakeOf(stub)}` : isD1 ? stored(stub) : local(stub);
  const text = `${withImports(answered, { ...stub, isHttp: isHttp && !shared, ...(shared && { secret: undefined }), sends: isHttp }, `use crate::types::${module}::${handler};`)}${body}`;
  writeFileSync(code, formatted(text, folder));

  const withModules = isNew ? withModule(declared, folderName, module) : declared;
  const { text: next, notes } = isHttp && !shared ? withVariables(withModules, library, stub) : { text: withModules, notes: [] };
  if (next !== declared) writeFileSync(library, formatted(next, folder));
  if (isHttp && !shared) notes.push(...addFake(join(folder, "tests.rs"), names));
  if (shared) notes.push(`It sends its request with send_request in ${code}, to the address in ${shared.variable}, as the other tools of ${toolkit} do.`);
  if (isHttp && !shared) {
    const lines = [`${variable}=https://…`, ...(secret ? [`${secret}=…`] : [])];
    notes.push("Add to .dev.vars, which the development server reads when you save it:", ...lines.map((line) => `  ${line}`));
    notes.push(`For a deployed Worker, set ${variable} in wrangler.toml${secret ? `, and run npx wrangler secret put ${secret}` : ""}.`);
  }
  if (isD1) {
    notes.push(...addDatabase(table, folder));
    notes.push("The tests create the tables in migrations/. For the development server, create them with:", `  npx wrangler d1 migrations apply ${binding} --local`);
    notes.push("For a deployed Worker, do the same with --remote after the first deployment.");
  }

  console.log(`Wrote ${definition} and ${handler} in ${code}.`);
  for (const note of notes) console.log(note);
  console.log("Edit both, then run the tests: they include the examples of the definition.");
}

const hasFunction = (code, name) => new RegExp(`\\bfn ${name}\\b`).test(code);

/** Replaces a link to a toolkit that other catalogues share by a copy. */
export function replaceLink(folder) {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const shared = realpathSync(folder);
  rmSync(folder);
  cpSync(shared, folder, { recursive: true });
}

/** The names of the tool's folder, module, function and variable. */
function rustNames(toolkit, tool) {
  const folderName = toolkit.toLowerCase();
  const snake = snakeCase(tool);
  for (const name of [folderName, snake]) {
    if (NO_NAMES.includes(name)) fail(`Rust does not allow a module or function called ${name}: choose a different id`);
  }
  const raw = (name) => (KEYWORDS.includes(name) ? `r#${name}` : name);
  return {
    folderName,
    module: raw(folderName),
    handler: raw(snake),
    snake,
    // The tools of a toolkit share the variable with the service's address.
    variable: `${folderName.toUpperCase()}_URL`,
    service: `https://${folderName}.example`,
  };
}

const local = ({ handler, description }) => `
/// ${summary(description)}
pub(crate) async fn ${handler}(input: ${handler}::Input, _: &Context<'_>) -> Result<${handler}::Output, ToolError> {
    // Replace this line.
    Ok(input.text)
}
`;

const stored = ({ handler, description, binding, table, isReadOnly }) => `
/// ${summary(description)}
pub(crate) async fn ${handler}(input: ${handler}::Input, context: &Context<'_>) -> Result<${handler}::Output, ToolError> {
    let id = async {
        let database = context.env().d1("${binding}")?;
        let statement = database.prepare("${isReadOnly ? `SELECT id FROM ${table} WHERE text = ?1` : `INSERT OR IGNORE INTO ${table} (text) VALUES (?1) RETURNING id`}");
        statement.bind(&[input.text.into()])?.first::<u64>(Some("id")).await
    };
    let id = id.await.map_err(|error: Error| context.platform_error(&error))?;
    id.ok_or_else(|| ToolError::new("${isReadOnly ? "There is no such item" : "This item is already stored"}"))
}
`;

/** What the tools of a toolkit that call its service share. */
const service = ({ variable, service: address, secret, isDeclared }) => `
/// The base URL of the service.
pub(crate) const SERVICE_URL: Variable = Variable::new("${variable}", "${address}", ${secret ? "secure_base_address" : "base_address"});
${secret && !isDeclared ? `/// The key of the service.\npub(crate) const ${secret}: Variable = Variable::secret("${secret}");\n` : ""}
/// Sends a request to a path of the service.
async fn send_request(context: &Context<'_>, path: &str) -> Result<HttpResponse, ToolError> {
    let url = format!("{}{path}", context.variable(SERVICE_URL.name()));
${secret ? `    let key = context.server_secret("${secret}").map(Secret::expose).unwrap_or_default();
    let headers = vec![("authorization", format!("Bearer {key}").into())];
    let response = context.send(HttpRequest { headers, ..HttpRequest::get(url) }).await?;` : "    let response = context.send(HttpRequest::get(url)).await?;"}
    match response.status {
        200 => Ok(response),
        404 => Err(ToolError::new("There is no such item")),
        429 | 500.. => Err(ToolError::new("The service is not available").retryable()),
        status => Err(ToolError::new("The service rejected the request")
            .developer_message(format!("It returned {status}."))),
    }
}
`;

/** The path of a tool at the service. */
const pathOf = ({ snake }) => `/${snake}/`;

const sending = (stub) => `
/// ${summary(stub.description)}
pub(crate) async fn ${stub.handler}(input: ${stub.handler}::Input, context: &Context<'_>) -> Result<${stub.handler}::Output, ToolError> {
    let response = send_request(context, &format!("${pathOf(stub)}{}", path_segment(&input.id)?)).await?;
    response.json().ok_or_else(|| ToolError::new("The service returned an invalid response"))
}
`;

const answerOf = (stub) => `("${pathOf(stub)}", r#"{"name":"Ada"}"#)`;
const ANSWERS = /^    let answers = \[/m;

const fakeOf = (stub) => `
/// A fake of the service, for the tests.
#[cfg(test)]
pub(crate) fn fake_service(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
${stub.secret ? `    let has_key = |(name, value): &(&str, _)| *name == "authorization" && value == "Bearer example-${stub.secret}";
    if !request.headers.iter().any(has_key) {
        return Ok(HttpResponse::new(401, ""));
    }
` : ""}    // How the paths begin, and what the service answers.
    let answers = [${answerOf(stub)}];
    let path = request.url.strip_prefix("${stub.service}").unwrap_or_default();
    let answer = answers.iter().find(|(start, _)| path.starts_with(start));
    Ok(answer.map_or_else(|| HttpResponse::new(404, ""), |(_, body)| HttpResponse::new(200, *body)))
}
`;

/**
 * The variable and the secret with which the toolkit's other tools call their service; undefined if there are none. The new tool uses
 * the same: a second fake of one address would never be asked.
 */
function sharedIn(text, code, secret) {
  const [, variable] = /\bSERVICE_URL: Variable\s*=\s*Variable::new\(\s*"(\w+)"/.exec(text) ?? [];
  if (variable === undefined || !hasFunction(text, "send_request") || !ANSWERS.test(text)) return undefined;
  const [, known] = /fn send_request\b[^]*?\bserver_secret\("(\w+)"\)/.exec(text) ?? [];
  if (secret !== undefined && secret !== known) fail(`send_request in ${code}, which the toolkit's tools share, sends ${known ? `the secret ${known}` : "no secret"}: leave --secret out, and change it there`);
  return { variable, secret: known };
}

/** The text with one more answer of the fake. */
const withAnswer = (text, stub) => text.replace(ANSWERS, (start) => `${start}${answerOf(stub)}, `);

// How to recognize each import, and its line.
const IMPORTS = [[/^use toolbooth::.*\bContext\b/m, "use toolbooth::{Context, ToolError};"]];
const HTTP_IMPORTS = [
  [/^use toolbooth::host::.*\bHttpRequest\b/m, "use toolbooth::host::HttpRequest;"],
  [/^use toolbooth::host::.*\bHttpResponse\b/m, "use toolbooth::host::HttpResponse;"],
  [/\buse toolbooth::host::.*\bHttpError\b/m, "#[cfg(test)]\nuse toolbooth::host::HttpError;"],
  [/^use toolbooth::tool::.*\bVariable\b/m, "use toolbooth::tool::Variable;"],
];
const PATH_IMPORTS = [[/^use toolbooth::url::.*\bpath_segment\b/m, "use toolbooth::url::path_segment;"]];

const OPEN_IMPORTS = [[/^use toolbooth::address::.*\bbase_address\b/m, "use toolbooth::address::base_address;"]];
const SECRET_IMPORTS = [
  [/^use toolbooth::address::.*\bsecure_base_address\b/m, "use toolbooth::address::secure_base_address;"],
  [/^use toolbooth::tool::.*\bSecret\b/m, "use toolbooth::tool::Secret;"],
];

const D1_IMPORTS = [
  [/^use toolbooth_worker::.*\bContextExt\b/m, "use toolbooth_worker::ContextExt;"],
  [/^use toolbooth_worker::worker::.*\bError\b/m, "use toolbooth_worker::worker::Error;"],
];

/** Inserts the imports that are missing, below the leading comments and modules; rustfmt sorts them. */
function withImports(text, { isHttp, binding, secret, sends }, types) {
  const imports = [...(sends ? PATH_IMPORTS : []), ...(binding ? D1_IMPORTS : []), ...(secret ? SECRET_IMPORTS : isHttp ? OPEN_IMPORTS : []), ...(isHttp ? HTTP_IMPORTS : []), ...IMPORTS];
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

/** Adds the tool's variables to VARIABLES in lib.rs; if there is no such list, returns what to do by hand. */
function withVariables(text, library, { module, secret, isDeclared }) {
  const paths = ["SERVICE_URL", ...(secret && !isDeclared ? [secret] : [])].map((name) => `${module}::${name}`);
  const list = /^const VARIABLES: &\[Variable\] =\s*&\[/m;
  if (!list.test(text)) return { text, notes: [`Add ${paths.join(" and ")} to VARIABLES in ${library}.`] };
  // First: the others may end with a comment.
  return { text: text.replace(list, (start) => `${start}${paths.join(", ")}, `), notes: [] };
}

/** Lets the tests use the fake of the tool's service. Returns what to do by hand. */
function addFake(tests, { module, service }) {
  const text = existsSync(tests) ? textOf(tests) : "";
  const services = /^pub\(crate\) fn fake_services\([^{]*\{\n/m;
  // A second route would hide the first one.
  if (text.includes(`"${service}/"`)) return [`${tests} already answers requests to ${service}: let that answer them with ${module}::fake_service, or add its paths there.`];
  if (!services.test(text)) return [`Let the tests answer its requests with ${module}::fake_service.`];
  const route = `    if request.url.starts_with("${service}/") {
        return crate::${module}::fake_service(request);
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
