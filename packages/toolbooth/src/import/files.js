// The files of an imported toolkit: its definitions, `toolkit.json`, and `import.json`, which has what was generated.
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../process.js";
import { textOf } from "../texts.js";
import { isObject } from "./nodes.js";

const RECORD = "import.json";
const TOOLKIT = "toolkit.json";

/** The folder of a toolkit. */
export class ToolkitFiles {
  #versions = new Map();

  constructor(folder, toolkit) {
    this.folder = join(folder, toolkit.toLowerCase());
    this.record = { tools: {} };
    this.variables = {};
    if (!existsSync(this.folder)) return;
    if (!lstatSync(this.folder).isDirectory() || !existsSync(join(this.folder, RECORD))) {
      throw new Failure(`${this.folder} exists, and was not imported: choose a different name with --toolkit`);
    }
    this.record = { ...this.#read(RECORD), tools: this.#tools(this.#read(RECORD).tools) };
    if (this.record.toolkit !== toolkit) throw new Failure(`${this.folder} was imported as the toolkit ${this.record.toolkit}: use --toolkit ${this.record.toolkit}, or choose a different name`);
    if (existsSync(join(this.folder, TOOLKIT))) this.variables = this.#read(TOOLKIT).variables ?? {};
    for (const file of readdirSync(this.folder)) {
      const [, tool, version] = /^([A-Za-z][A-Za-z0-9]*)@(\d+\.\d+\.\d+)\.json$/.exec(file) ?? [];
      if (tool && (!this.#versions.has(tool) || isLater(version, this.#versions.get(tool)))) this.#versions.set(tool, version);
    }
  }

  #tools(tools) {
    const isEntry = (one) => isObject(one) && isObject(one.definition) && typeof one.operation === "string";
    if (!isObject(tools) || !Object.values(tools).every(isEntry)) throw new Failure(`${join(this.folder, RECORD)} is not what an import writes: restore it, or delete the folder`);
    return tools;
  }

  #read(file) {
    const path = join(this.folder, file);
    try {
      const value = JSON.parse(textOf(path));
      if (isObject(value)) return value;
    } catch (error) {
      throw new Failure(`${path} cannot be read: ${error.message}`);
    }
    throw new Failure(`${path} is not an object`);
  }

  /** The latest definition of a tool, without its id and version: `{ version, definition }`, or undefined. */
  latest(tool) {
    const version = this.#versions.get(tool);
    if (version === undefined) return undefined;
    const { id: _, version: __, ...definition } = this.#read(`${tool}@${version}.json`);
    return { version, definition };
  }

  path(tool, version) {
    return join(this.folder, `${tool}@${version}.json`);
  }

  /** Writes a definition, and deletes that of the version `before`, if there is one. */
  write(toolkit, tool, version, { name, title, description, ...rest }, before) {
    mkdirSync(this.folder, { recursive: true });
    const definition = { id: `${toolkit}.${tool}@${version}`, name, ...(title !== undefined && { title }), description, version, ...rest };
    writeFileSync(this.path(tool, version), `${JSON.stringify(definition, null, 2)}\n`);
    if (before !== undefined && before !== version) rmSync(this.path(tool, before));
  }

  writeVariables(variables) {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(join(this.folder, TOOLKIT), `${JSON.stringify({ variables }, null, 2)}\n`);
  }

  /** One line for each tool, so that a change of one is a change of one line. */
  writeRecord({ toolkit, document, slim, variables, tools }) {
    const lines = Object.entries(tools).map(([tool, entry]) => `    ${JSON.stringify(tool)}: ${JSON.stringify(entry)}`);
    const head = [["toolkit", toolkit], ["document", document], ["slim", slim], ["variables", variables]].filter(([, value]) => value !== undefined).map(([name, value]) => `  "${name}": ${JSON.stringify(value)},\n`);
    writeFileSync(join(this.folder, RECORD), `{\n${head.join("")}  "tools": {\n${lines.join(",\n")}\n  }\n}\n`);
  }
}

function isLater(one, other) {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number));
  const at = a.findIndex((number, index) => number !== b[index]);
  return at !== -1 && a[at] > b[at];
}
