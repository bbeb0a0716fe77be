// Creates a tool: its definition, its function and, for a new toolkit, the `mod` line in lib.rs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./process.js";

const VERSION = "0.1.0";

/** Creates the tool `id`, such as `Greeter.Hello`, in the catalogue of a folder. */
export function tool(id = "", folder = "tools") {
  const parts = /^([A-Za-z][A-Za-z0-9]*)\.([A-Za-z][A-Za-z0-9]*)$/.exec(id);
  if (!parts) throw new Failure(`The id must have the form Toolkit.Tool, such as Greeter.Hello, not "${id}"`, 2);
  const [, toolkit, tool] = parts;

  const module = toolkit.toLowerCase();
  const handler = tool
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
  const definition = join(folder, module, `${tool}@${VERSION}.json`);
  const code = join(folder, module, "mod.rs");
  const library = join(folder, "lib.rs");
  if (existsSync(definition)) throw new Failure(`${definition} already exists`, 2);

  const isNew = !existsSync(code);
  const before = isNew ? `//! ${toolkit}.\n` : readFileSync(code, "utf8");
  if (new RegExp(`\\bfn ${handler}\\b`).test(before)) throw new Failure(`${code} already has a function ${handler}`, 2);

  mkdirSync(join(folder, module), { recursive: true });
  writeFileSync(definition, definitionOf(id, toolkit, tool));
  writeFileSync(code, `${withImports(before)}\n${functionOf(tool, handler)}`);

  if (isNew) {
    const text = readFileSync(library, "utf8");
    writeFileSync(library, withModule(text, module));
  }

  console.log(`Wrote ${definition} and ${handler} in ${code}.`);
  console.log("Edit both, then run the tests: they include the examples of the definition.");
}

/** Inserts a `mod` line in alphabetical order; modules of tests do not count. The first one gets its own paragraph. */
function withModule(text, module) {
  const modules = [...text.matchAll(/(?<!#\[cfg\(test\)\]\n)^mod ([a-z0-9_]+);\n/gm)];
  const next = modules.find(([, name]) => name > module);
  const last = modules.at(-1);
  const head = /^(?:(?:\/\/!|#!).*\n|\n)*/.exec(text)[0].length;
  const at = next?.index ?? (last ? last.index + last[0].length : head);
  return `${text.slice(0, at)}mod ${module};\n${last ? "" : "\n"}${text.slice(at)}`;
}

const definitionOf = (id, toolkit, tool) => `{
  "id": "${id}@${VERSION}",
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
`;

const functionOf = (tool, handler) => `#[derive(Deserialize)]
pub(crate) struct ${tool} {
    name: String,
}

/// Greets a person by name.
pub(crate) async fn ${handler}(input: ${tool}, _: &Context<'_>) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", input.name))
}
`;

const IMPORTS = [
  [/^use serde::.*\bDeserialize\b/m, "use serde::Deserialize;"],
  [/^use toolbooth::.*\bContext\b/m, "use toolbooth::{Context, ToolError};"],
];

/** Inserts the imports that are missing, below the leading comments. */
function withImports(text) {
  const lines = IMPORTS.filter(([present]) => !present.test(text)).map(([, line]) => line);
  if (lines.length === 0) return text;
  const head = /^(?:\/\/!.*\n)*\n?/.exec(text)[0];
  return `${head.trimEnd()}\n\n${lines.join("\n")}\n${text.slice(head.length)}`;
}
