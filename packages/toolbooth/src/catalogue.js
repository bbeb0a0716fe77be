// The definitions of a project's tools.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Every definition, sorted by file: in the folder `tools` of a crate, or else in the crate's own folders. */
export function definitions(crate = ".") {
  const folder = existsSync(join(crate, "tools")) ? join(crate, "tools") : crate;
  // A toolkit can be a link to a folder, which a recursive listing does not follow.
  const isFolder = (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory();
  return readdirSync(folder)
    .filter(isFolder)
    .flatMap((toolkit) => readdirSync(join(folder, toolkit)).map((name) => join(toolkit, name)))
    .filter((file) => /@[^/\\]+\.json$/.test(file))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
}
