// The definitions of a project's tools.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { IS_PACKED } from "./packed.js";
import { jsonOf } from "./texts.js";

/** The shipped toolkits, as they are packed with this command, or in the repository of Toolbooth. */
const SHIPPED = fileURLToPath(new URL(IS_PACKED ? "../toolkits" : "../../../toolkits", import.meta.url));

/** The folder with the toolkits of a crate: `tools`, or else the crate's own folder. */
export function catalogue(crate = ".") {
  return existsSync(join(crate, "tools")) ? join(crate, "tools") : crate;
}

/** Every definition, sorted by file; those of the shipped toolkits come last. */
export function definitions(crate) {
  return filesOfAll(/@[^/\\]+\.json$/, crate).map(jsonOf);
}

/** The files of the toolkits of a crate, also of those that its `toolkits.json` enables, whose names match. */
export function filesOfAll(pattern, crate) {
  const list = join(catalogue(crate), "toolkits.json");
  const enabled = existsSync(list) ? jsonOf(list) : [];
  const shipped = files(pattern, SHIPPED).filter((file) => enabled.includes(basename(dirname(file))));
  return [...files(pattern, catalogue(crate)), ...shipped];
}

/** The variables and secrets of the operator that the tools read: those of functions, and those in toolkit.json. */
export function variablesOfTools(crate) {
  const ofFunctions = definitions(crate).flatMap(({ variables = [] }) => variables);
  const shared = filesOfAll(/(^|[/\\])toolkit\.json$/, crate).map(jsonOf);
  return [...new Set([...ofFunctions, ...shared.flatMap(({ variables = {} }) => Object.keys(variables))])];
}

/** The names of the texts and secrets in toolkit.json, which may be empty if they are those of a basic authentication. */
export function textsOfTools(crate) {
  const shared = filesOfAll(/(^|[/\\])toolkit\.json$/, crate).map(jsonOf);
  const all = shared.flatMap(({ variables = {} }) => Object.entries(variables));
  return all.filter(([, { kind }]) => ["secret", "text"].includes(kind)).map(([name]) => name);
}

/** The files of all toolkits whose names match, sorted. */
export function files(pattern, folder = catalogue()) {
  // A toolkit can be a link to a folder, which a recursive listing does not follow.
  const isFolder = (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory();
  return readdirSync(folder)
    .filter(isFolder)
    .flatMap((toolkit) => readdirSync(join(folder, toolkit)).map((name) => join(toolkit, name)))
    .filter((file) => pattern.test(file))
    .sort()
    .map((file) => join(folder, file));
}
