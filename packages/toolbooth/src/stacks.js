// Names the files of the author in stacks, instead of the bundle that ran.
import { readFileSync, statSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "./process.js";

/** Where the bundle of the last deployment is kept. */
export const DEPLOYED = ".wrangler/deployed";
/** A place in a bundle, in a stack of V8. Cloudflare names it without a folder. */
const PLACE = /(?:file:\/\/[^\s"'()\\]+?|\bworker)\.js:\d+:\d+/g;
/** The source maps that have been read, by their files. */
const maps = new Map();

/**
 * The text, which may have stacks, with the places in the sources of each bundle that has a source map beside it. A place without a folder is
 * in the `bundle`.
 */
export const withSources = (text, bundle) => `${text}`.replace(PLACE, (place) => sourceOf(place, bundle) ?? place);

/** Prints a log of the deployed Worker with the places in the files of the project: that in a file, or what the command reads. */
export function stack(file) {
  const bundle = join(DEPLOYED, "worker.js");
  if (!statSync(`${bundle}.map`, { throwIfNoEntry: false })) throw new Failure(`There is no ${bundle}.map: toolbooth deploy writes it. Stacks can be read with that of their deployment only`);
  try {
    process.stdout.write(withSources(readFileSync(file ?? 0, "utf8"), bundle));
  } catch ({ message }) {
    throw new Failure(message);
  }
}

function sourceOf(place, bundle) {
  const [, name, line, column] = /^(.*):(\d+):(\d+)$/.exec(place);
  const path = bundle ?? (name.startsWith("file:") && fileURLToPath(name));
  if (!path) return undefined;
  try {
    const file = `${path}.map`;
    const { originalSource, originalLine, originalColumn } = mapIn(file)?.findEntry(line - 1, column - 1) ?? {};
    if (originalSource === undefined) return undefined;
    return `${relative(".", resolve(dirname(file), originalSource))}:${originalLine + 1}:${originalColumn + 1}`;
  } catch {
    // The map belongs to a bundle that is being replaced, or is none.
    return undefined;
  }
}

/** The source map in a file, if there is one. */
function mapIn(file) {
  const time = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (time === undefined) return undefined;
  if (maps.get(file)?.time !== time) maps.set(file, { time, map: new SourceMap(JSON.parse(readFileSync(file, "utf8"))) });
  return maps.get(file).map;
}
