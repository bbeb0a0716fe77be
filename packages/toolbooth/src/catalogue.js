// The definitions of a project's tools.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Every definition, sorted by file: in the folder `tools` of a crate, or else in the crate's own folders. */
export function definitions(crate = ".") {
  const folder = existsSync(join(crate, "tools")) ? join(crate, "tools") : crate;
  return readdirSync(folder, { recursive: true })
    .filter((file) => /^[^/\\]+[/\\][^/\\]+@[^/\\]+\.json$/.test(file))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
}
