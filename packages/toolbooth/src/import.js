// Imports the operations of an API's description as tools: definitions with `http`, without any code.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { readCatalogue } from "./import/catalogue.js";
import { Documents, own } from "./import/nodes.js";
import { ToolkitFiles } from "./import/files.js";
import { isToolkit, toolkitOf, toolkitOfHost } from "./import/names.js";
import { readDocuments } from "./import/read.js";
import { report } from "./import/report.js";
import { differences, firstVersion, levelOf, raised, withEdits } from "./import/update.js";
import { Failure } from "./process.js";
import { isOfWorker } from "./variables.js";

/**
 * Imports the document at `source`, a path or an address, into the catalogue of a folder. `toolkit`: its name. `include`: tags, ids of
 * operations and paths, separated by commas. `auth`: `provider:github` or `secret:NAME`, for documents without security.
 * `dry-run`: writes nothing. `keep`: the versions before stay. `slim`: large inputs are made smaller. `verbose`: prints every place.
 */
export async function importDocument(source, { folder = "tools", toolkit: given, include = "", auth: credentials, "dry-run": isDryRun = false, keep: isKept = false, slim: wantsSlim = false, verbose = false } = {}) {
  if (!source) throw new Failure("Name a document: toolbooth import openapi.json", 2);
  const auth = authOf(credentials);
  if (given !== undefined && !isToolkit(given)) throw new Failure(`The toolkit must have a name of 1 to 20 letters and digits, such as GitHub, not "${given}"`, 2);
  if (!existsSync(join(folder, "lib.rs"))) throw new Failure(`There is no ${join(folder, "lib.rs")}: run this command in the folder of a project`, 2);
  const progress = progressLine();
  progress("Reading the document");
  const read = await readDocuments(source);
  const toolkit = given ?? nameOfToolkit(new Documents(read));
  if (toolkit === undefined) throw new Failure("The document has no title to name the toolkit after: add --toolkit, such as --toolkit GitHub", 2);

  const files = new ToolkitFiles(folder, toolkit);
  // Once slim, a toolkit stays so until the member is deleted in import.json.
  const isSlim = wantsSlim || files.record.slim === true;
  const items = include.split(",").map((item) => item.trim()).filter(Boolean);
  const catalogue = readCatalogue({ read, toolkit, include: items, auth, previous: files.record.tools, isSlim, progress: (done, all) => progress(`Reading operations: ${done} of ${all}`, done, all) });
  const variables = Object.fromEntries([...catalogue.servers.variables, ...catalogue.credentials.variables]);

  const changes = plan(files, catalogue);
  if (!isDryRun && catalogue.tools.size > 0) {
    for (const [at, { tool, before, version, definition, kind }] of changes.entries()) {
      if (kind === "added" || kind === "changed") files.write(toolkit, tool, version, definition, isKept ? undefined : before);
      progress(`Writing definitions: ${at + 1} of ${changes.length}`, at + 1, changes.length);
    }
    const generated = { ...files.record.variables, ...variables };
    files.writeVariables(withEdits(files.record.variables ?? {}, files.variables, generated, () => {}));
    const foreign = changes.filter(({ kind }) => kind === "foreign").map(({ tool }) => tool);
    const entries = [...catalogue.tools].filter(([tool]) => !foreign.includes(tool));
    const tools = Object.fromEntries([...Object.entries(files.record.tools), ...entries].sort(([one], [other]) => (one < other ? -1 : 1)));
    files.writeRecord({ toolkit, document: nameOf(source), slim: isSlim || undefined, variables: generated, tools });
  }
  progress(undefined);
  report({ catalogue, changes, files, toolkit, isDryRun, verbose });
  if (catalogue.tools.size === 0) throw new Failure("Nothing was imported.");
}

/** A toolkit's name from the title of a document, or else from the host of the service. */
function nameOfToolkit({ root: { value } }) {
  const url = own(own(value, "servers")?.[0], "url") ?? (own(value, "host") && `https://${own(value, "host")}`);
  return toolkitOf(own(own(value, "info"), "title")) ?? toolkitOfHost(url);
}

function authOf(text) {
  if (text === undefined) return undefined;
  const [, kind, name] = /^(provider|secret):(.+)$/.exec(text) ?? [];
  if (kind === "provider" && /^[a-z][a-z0-9-]*$/.test(name)) return { provider: name };
  if (kind === "secret" && /^[A-Z][A-Z0-9_]*$/.test(name) && !isOfWorker(name)) return { secret: name };
  throw new Failure(`The value of --auth must be provider:github or secret:NAME_OF_A_SECRET, not "${text}"`, 2);
}

/** The document's name for `import.json`: no folder of this machine, and nothing of an address that may be secret. */
function nameOf(source) {
  if (!/^https?:/i.test(source)) return basename(source);
  const { origin, pathname } = new URL(source);
  return `${origin}${pathname}`;
}

/**
 * What becomes of each tool: `{ tool, kind, version, before, definition, places, conflicts }`. `kind` is `added`, `changed`,
 * `unchanged`, `deleted` (its file was deleted, and stays so), `foreign` (its file was not imported) or `gone` (the document has no
 * such operation any more).
 */
function plan(files, { tools, all, names, version: first }) {
  const changes = [];
  for (const [tool, { operation, definition: next }] of tools) {
    const recorded = own(files.record.tools, tool);
    const generated = recorded?.definition;
    const moved = recorded && recorded.operation !== operation ? { from: recorded.operation, to: operation } : undefined;
    const current = files.latest(tool);
    if (current === undefined) changes.push(generated === undefined ? { tool, kind: "added", version: firstVersion(first), definition: next } : { tool, kind: "deleted" });
    else if (generated === undefined) changes.push({ tool, kind: "foreign" });
    else {
      const conflicts = [];
      const definition = withEdits(generated, current.definition, next, (place) => conflicts.push(place));
      const level = levelOf(current.definition, definition);
      const change = { tool, before: current.version, version: raised(current.version, level), definition, conflicts };
      changes.push({ ...change, moved, kind: level === "none" ? "unchanged" : "changed", level, places: differences(current.definition, definition) });
    }
  }
  for (const [tool, { operation }] of Object.entries(files.record.tools)) {
    const current = all.has(operation) || names.has(tool) ? undefined : files.latest(tool);
    if (current) changes.push({ tool, kind: "gone", version: current.version });
  }
  return changes;
}

/** Prints a line that replaces itself, if this is a terminal. `undefined` deletes it. */
function progressLine() {
  let last = 0;
  return (text, done = 0, all = 0) => {
    if (!process.stderr.isTTY) return;
    if (text !== undefined && done < all && Date.now() - last < 100) return;
    last = Date.now();
    process.stderr.write(`\r\u001b[K${text ?? ""}`);
  };
}
