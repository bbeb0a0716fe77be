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
const BUNDLED = /\.([cm]?[jt]sx?|html|css|svg|png|jpe?g|gif|webp|woff2)$/;
/** What else says how functions are bundled. */
const SETTINGS = ["package.json", "tsconfig.json"];
/** The error that responses name after a failed build. */
export const BUILD_FAILED = "build_failed";

/**
 * Yields at once, and after every change of the `watched` files and folders, or of the paths in `others` since their states there: whoever
 * waits for changes notes the new ones.
 */
export async function* changes(watched, others = new Map()) {
  const now = () => [snapshot(watched), [...others.keys()].map(stateOf).join("\n")].join("\n");
  const isChanged = () => [...others].some(([path, state]) => stateOf(path) !== state);
  for (let seen; ; await sleep(INTERVAL)) {
    if (snapshot(watched) === seen && !isChanged()) continue;
    // Wait until an editor, git or npm has written everything.
    for (let before, files = now(); before !== files; files = now()) {
      before = files;
      await sleep(INTERVAL / 3);
    }
    seen = snapshot(watched);
    yield;
  }
}

/**
 * Builds now and after every change of the `watched` files and folders: with `compile`, and then with the function `bundle` that it returns,
 * which is enough if only functions in TypeScript and views have changed. `compile` also returns what the Rust `includes`, and `bundle` the
 * `inputs` of the bundle, which are watched, too: absolute paths. After a failed build, the Worker in the folder `out` responds with the error.
 * Yields after each build whether it succeeded.
 */
export async function* rebuild(watched, out, compile) {
  let compiled, bundle, includes;
  let inputs = new Set();
  const others = new Map();
  for await (const _ of changes(watched, others)) {
    const start = performance.now();
    const before = new Map([...others.keys()].map((path) => [path, stateOf(path)]));
    let succeeded = true;
    try {
      const files = new Map(filesIn(watched));
      const isBundled = (path) => BUNDLED.test(path) || (inputs.has(resolve(path)) && !path.endsWith(".json"));
      const isCode = (path) => !isBundled(path) || includes.has(resolve(path));
      const isChanged = ([path, state]) => !compiled.has(path) || (compiled.get(path) !== state && isCode(path));
      if (!compiled || files.size < compiled.size || [...files].some(isChanged)) {
        compiled = undefined;
        ({ bundle, includes } = await compile());
        compiled = files;
      }
      inputs = new Set((await bundle())?.inputs);
      console.log(`Built in ${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      succeeded = false;
      // What was not found may appear.
      for (const path of error.inputs ?? []) inputs.add(path);
      console.error(error.message);
      replaceWorker(out, failing(stripVTControlCharacters(error.message) || "The build failed: see the terminal."));
    }
    others.clear();
    for (const path of [...inputs, ...SETTINGS]) {
      // The build writes there. One that changed during the build has its state of before.
      if (!path.startsWith(resolve(out))) others.set(path, before.has(path) ? before.get(path) : stateOf(path));
    }
    yield succeeded;
  }
}

/** The time and the size of a file; of a folder, those of its list. */
function stateOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.mtimeMs} ${stat.size}`;
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
