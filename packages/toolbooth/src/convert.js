// Writes definitions from descriptions of tools in other forms: those of earlier drafts of JSON Schema, of MCP, and of model providers.
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { EXPECTED, toolsOf } from "./convert/forms.js";
import { definitionFrom, UNWRITTEN } from "./convert/definition.js";
import { VERSION } from "./definition.js";
import { isToolkit, toolkitOf, toolOf } from "./import/names.js";
import { snakeCase } from "./names.js";
import { Failure } from "./process.js";
import { scriptOf } from "./scripts.js";
import { jsonOf } from "./texts.js";
import { replaceLink } from "./tool.js";
import { addConfiguration } from "./types.js";

const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Converts the tools in the file `from` into definitions in the catalogue of a folder. `toolkit`: theirs, unless they have an id. `ts`: writes
 * functions in TypeScript, which are still to be filled in. `replace`: replaces definitions that exist.
 */
export function convert({ from, folder = "tools", toolkit: given, ts = false, replace = false, "dry-run": isDryRun = false }) {
  if (from === undefined) throw new Failure("Name the file: toolbooth definition --from tools.json", 2);
  if (given !== undefined && !isToolkit(given)) throw new Failure(`The toolkit must have a name of 1 to 20 letters and digits, such as GitHub, not "${given}"`, 2);
  if (!existsSync(join(folder, "lib.rs"))) throw new Failure(`There is no ${join(folder, "lib.rs")}: run this command in the folder of a project`, 2);
  const document = read(from);
  const { tools, left } = toolsOf(document);
  if (tools.length === 0) throw new Failure([`${from} has no tool: expected ${EXPECTED}`, ...left.map(({ place, reason }) => `  ${place} ${reason}`)].join("\n"));
  const toolkit = given ?? toolkitOf(basename(from).replace(/(?:@[\d.]+)?\.\w+$/, ""));
  if (toolkit === undefined && tools.some(({ id }) => id === undefined)) throw new Failure("The name of the file does not name a toolkit: add --toolkit, such as --toolkit GitHub", 2);

  const taken = new Set();
  for (const tool of tools) {
    const id = tool.id ?? [toolkit, nameIn(toolkit, tool.name, (name) => taken.has(`${toolkit}.${name}`)), VERSION];
    const name = `${id[0]}.${id[1]}`;
    taken.add(name);
    const notes = new Set();
    const definition = definitionFrom(tool, id, (place, text) => notes.add(`  ${place} ${text}`), document);
    if (write({ id, definition, form: tool.form, folder, ts, replace, isDryRun })) for (const note of notes) print(note);
  }
  if (ts && !isDryRun) addConfiguration(folder);
  for (const { place, reason } of left) print(`Left out: ${place} ${reason}`);
}

/** The name in a toolkit of the tool that other programs call `name`: `github_create_issue` is `CreateIssue` of GitHub. */
function nameIn(toolkit, name, isTaken) {
  const own = name.toLowerCase().startsWith(toolkit.toLowerCase()) ? name.slice(toolkit.length).replace(/^[^A-Za-z0-9]+/, "") : "";
  const operationId = own !== "" && /^[^A-Za-z0-9]/.test(name.slice(toolkit.length)) ? own : name;
  return toolOf(toolkit, { method: "tool", path: name, operationId }, isTaken);
}

function read(file) {
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (size === undefined) throw new Failure(`There is no file ${file}`, 2);
  if (size > MAX_BYTES) throw new Failure(`${file} has more than ${MAX_BYTES / 1024 / 1024} MiB`, 2);
  return jsonOf(file);
}

/** Writes a definition, unless there is one that stays. Returns whether it is written, or would be. */
function write({ id: [toolkit, tool, version], definition, form, folder, ts, replace, isDryRun }) {
  const file = join(folder, toolkit.toLowerCase(), `${tool}@${version}.json`);
  const exists = existsSync(file);
  if (exists && !replace) {
    print(`Kept ${file}, which exists: --replace replaces it`);
    return false;
  }
  print(`${isDryRun ? "Would write" : exists ? "Replaced" : "Wrote"} ${file}${form === "definition" ? "" : `, from a tool in the form of ${form === "function" ? "OpenAI's functions" : form}`}`);
  if (isDryRun) return true;
  replaceLink(dirname(file));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(definition, null, 2)}\n`);
  if (!ts || definition.http || definition.service || scriptOf(file)) return true;
  const code = join(dirname(file), `${snakeCase(tool)}.ts`);
  writeFileSync(code, stub(snakeCase(tool)));
  print(`Wrote ${code}: the function, which you still have to write`);
  return true;
}

const stub = (name) => `import { tool, ToolError } from "toolbooth";
import type { Input, Output } from "./${name}.types.js";

export default tool<Input, Output>(() => {
  // Replace this line, and the examples of the definition.
  throw new ToolError(${JSON.stringify(UNWRITTEN)});
});
`;

/** Prints a line that may have names of the file: it may have no escape sequences. */
const print = (line) => console.log(line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " "));
