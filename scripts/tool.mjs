// Creates a tool: its definition, its function and, for a new toolkit, the `mod` line in lib.rs.
//   node scripts/tool.mjs Greeter.Hello [catalogue folder]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = "0.1.0";
const [id = "", folder = "tools"] = process.argv.slice(2);

const parts = /^([A-Za-z][A-Za-z0-9]*)\.([A-Za-z][A-Za-z0-9]*)$/.exec(id);
if (!parts) fail(`ID must have the form Toolkit.Tool, such as ID=Greeter.Hello, not "${id}"`);
const [, toolkit, tool] = parts;

const module = toolkit.toLowerCase();
const handler = tool
  .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
  .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
  .toLowerCase();
const definition = join(folder, module, `${tool}@${VERSION}.json`);
const code = join(folder, module, "mod.rs");
const library = join(folder, "lib.rs");
if (existsSync(definition)) fail(`${definition} already exists`);

const isNew = !existsSync(code);
const before = isNew ? `//! ${toolkit}.\n` : readFileSync(code, "utf8");
if (new RegExp(`\\bfn ${handler}\\b`).test(before)) fail(`${code} already has a function ${handler}`);

mkdirSync(join(folder, module), { recursive: true });
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
  "output_schema": { "type": "string", "description": "The greeting." },
  "annotations": { "read_only": true, "destructive": false, "idempotent": true, "open_world": false },
  "examples": [{ "input": { "name": "Ada" }, "value": "Hello, Ada!" }]
}
`,
);

const imports = [
  [/^use serde::.*\bDeserialize\b/m, "use serde::Deserialize;"],
  [/^use toolbooth::.*\bContext\b/m, "use toolbooth::{Context, ToolError};"],
];
const missing = imports.filter(([present]) => !present.test(before)).map(([, line]) => line).join("\n");
writeFileSync(
  code,
  `${insertImports(before, missing)}
#[derive(Deserialize)]
pub(crate) struct ${tool} {
    name: String,
}

/// Greets a person by name.
pub(crate) async fn ${handler}(input: ${tool}, _: &Context<'_>) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", input.name))
}
`,
);

if (isNew) {
  const text = readFileSync(library, "utf8");
  const modules = [...text.matchAll(/^mod ([a-z0-9_]+);\n/gm)].filter(([, name]) => name !== "tests");
  const next = modules.find(([, name]) => name > module);
  const last = modules.at(-1);
  const at = next ? next.index : last ? last.index + last[0].length : text.length;
  writeFileSync(library, `${text.slice(0, at)}mod ${module};\n${text.slice(at)}`);
}

console.log(`Wrote ${definition} and ${handler} in ${code}.`);
console.log("Edit both, then run: make check");

// Inserts the imports below the leading comments.
function insertImports(text, lines) {
  if (lines === "") return text;
  const head = /^(?:\/\/!.*\n)*\n?/.exec(text)[0];
  return `${head.trimEnd()}\n\n${lines}\n${text.slice(head.length)}`;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
