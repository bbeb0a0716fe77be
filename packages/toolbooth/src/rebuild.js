// Rebuilds a Worker when its files change.
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { replaceWorker } from "./build.js";
import { Failure } from "./process.js";

/** The time between two looks at the files, in milliseconds. */
const INTERVAL = 150;
/** Files that Rust depends on only if it includes them. */
const BUNDLED = /\.(tsx?|js|html|css|svg|png|jpe?g|gif|webp|woff2)$/;
/** The error that responses name after a failed build. */
export const BUILD_FAILED = "build_failed";

/** Yields at once, and after every change of the `watched` files and folders. */
export async function* changes(watched) {
  for (let seen; ; await sleep(INTERVAL)) {
    let files = snapshot(watched);
    if (files === seen) continue;
    // Wait until an editor, or git, has written everything.
    for (let before; before !== files; files = snapshot(watched)) {
      before = files;
      await sleep(INTERVAL / 3);
    }
    seen = files;
    yield;
  }
}

/**
 * Builds now and after every change of the `watched` files and folders: with `compile`, and then with the function `bundle` that it returns,
 * which is enough if only functions in TypeScript and views have changed. It also returns what the Rust `includes`: a set of absolute paths.
 * After a failed build, the Worker in the folder `out` responds with the error. Yields after each build whether it succeeded.
 */
export async function* rebuild(watched, out, compile) {
  let compiled, bundle, includes;
  for await (const _ of changes(watched)) {
    const start = performance.now();
    let succeeded = true;
    try {
      const files = new Map(filesIn(watched));
      const isCode = (path) => !BUNDLED.test(path) || includes.has(resolve(path));
      const isChanged = ([path, state]) => !compiled.has(path) || (compiled.get(path) !== state && isCode(path));
      if (!compiled || files.size < compiled.size || [...files].some(isChanged)) {
        compiled = undefined;
        ({ bundle, includes } = await compile());
        compiled = files;
      }
      await bundle();
      console.log(`Built in ${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      succeeded = false;
      console.error(error.message);
      replaceWorker(out, failing(stripVTControlCharacters(error.message) || "The build failed: see the terminal."));
    }
    yield succeeded;
  }
}

/** All files, each with its time and its size. Polled, because file events are not reliable in containers. */
function filesIn(paths) {
  return paths.flatMap((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return stat ? [[path, `${stat.mtimeMs} ${stat.size}`]] : [];
    // The build itself writes types.
    const isWatched = (name) => !name.startsWith(".") && !name.endsWith(".types.ts") && !["node_modules", "target"].includes(name);
    return filesIn(readdirSync(path).filter(isWatched).map((name) => join(path, name)));
  });
}

const snapshot = (paths) => filesIn(paths).join("\n");

/** A Worker that responds to every request with the error of the build. Workerd does not start without the classes that wrangler.toml may bind. */
export function failing(message) {
  return `import { DurableObject } from "cloudflare:workers";
export class Ledger extends DurableObject {}
export class Tasks extends DurableObject {}
const message = ${JSON.stringify(message)};
export default {
  fetch({ headers }) {
    const init = { status: 503, headers: { "cache-control": "no-store" } };
    const json = /json/.test((headers.get("accept") ?? "") + headers.get("content-type"));
    return json ? Response.json({ error: ${JSON.stringify(BUILD_FAILED)}, message }, init) : new Response(message, init);
  },
};
`;
}
