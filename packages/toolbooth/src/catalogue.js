// The definitions of a project's tools.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The folder with the toolkits of a crate: `tools`, or else the crate's own folder. */
export function catalogue(crate = ".") {
  return existsSync(join(crate, "tools")) ? join(crate, "tools") : crate;
}

/** Every definition, sorted by file. */
export function definitions(crate) {
  return files(/@[^/\\]+\.json$/, catalogue(crate)).map((file) => JSON.parse(readFileSync(file, "utf8")));
}

/** The variables and secrets of the operator that the tools read: those of functions, and those in toolkit.json. */
export function variablesOfTools(crate) {
  const ofFunctions = definitions(crate).flatMap(({ variables = [] }) => variables);
  const shared = files(/(^|[/\\])toolkit\.json$/, catalogue(crate)).map((file) => JSON.parse(readFileSync(file, "utf8")));
  return [...new Set([...ofFunctions, ...shared.flatMap(({ variables = {} }) => Object.keys(variables))])];
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
