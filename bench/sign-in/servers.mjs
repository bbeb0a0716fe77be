// Starts the two authorization servers on Miniflare, each in its own workerd.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import { entryOf } from "../../packages/toolbooth/src/credentials.js";
import { freePort } from "../../tests/support/commands.mjs";
import { deployed } from "../../tests/support/worker.mjs";
import { ROOT } from "../paths.mjs";
import { ours } from "../workers.mjs";

/** The API key that people type on the consent page of Toolbooth. */
export const KEY = "key-of-ada";

// The same Worker in three places: with a store that works, with one that has what a case puts there, and with one that fails.
const PLACES = ["main", "behind", "failing"];

/** A Worker with workers-oauth-provider, of this file. */
export async function provider(file) {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, file)],
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["workerd"],
    external: ["cloudflare:*"],
    write: false,
  });
  return { modules: [{ name: "worker.js", type: "esModule", bytes: outputFiles[0].contents }] };
}

async function toolbooth() {
  const variables = {
    AUTH: "sign-in, api-key",
    API_KEYS: JSON.stringify([entryOf(KEY, "Ada", ["*"])]),
    STATE_KEY: "state-key-of-at-least-thirty-two-bytes",
    LOG: "off",
  };
  return { ...(await ours("toolbooth", "Toolbooth", join(ROOT, "target/samples"))), variables };
}

/** The ids of the child processes of this process. */
async function children() {
  const tasks = await readdir("/proc/self/task");
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/children`, "utf8")));
  return lists.flatMap((list) => list.split(" ")).filter(Boolean);
}

/**
 * Starts one: `{ modules, base, pid, fetch, close }`. `fetch` sends a request to the Worker at a place. Its store is Miniflare's
 * KV if `namespace`, otherwise it is in memory.
 */
async function start({ modules, variables = {} }, namespace) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const types = { esModule: "esm", wasm: "wasm" };
  const manifest = {
    mainModule: "store.js",
    modulesRoot: "/",
    modules: {
      "store.js": { type: "esm", contents: await readFile(join(import.meta.dirname, "store.worker.mjs")) },
      ...Object.fromEntries(modules.map(({ name, type, bytes }) => [name, { type: types[type], contents: Buffer.from(bytes) }])),
    },
  };
  const worker = (place) => {
    const vars = Object.entries({ ...variables, PUBLIC_URL: base, STORE: place });
    const env = Object.fromEntries(vars.map(([name, value]) => [name, { type: "text", value }]));
    if (namespace) env.NAMESPACE = { type: "kv", id: place };
    const { compatibilityDate } = deployed;
    return { config: { name: place, compatibilityDate, compatibilityFlags: ["global_fetch_strictly_public"], env, manifest } };
  };
  const before = await children();
  // Errors are expected where the store fails.
  const runtime = new Miniflare({ host: "127.0.0.1", port, cf: false, telemetry: { enabled: false }, log: new Log(LogLevel.NONE), handleStructuredLogs() {}, workers: PLACES.map(worker) });
  await runtime.ready;
  const [pid] = (await children()).filter((child) => !before.includes(child));
  const places = Object.fromEntries(await Promise.all(PLACES.map(async (place) => [place, await runtime.getWorker(place)])));
  const send = (place) => (url, { method, headers, body } = {}) =>
    places[place].fetch(String(url), {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(body !== undefined && body !== null && { body: String(body) }),
      redirect: "manual",
    }).catch(() => new Response("Internal Server Error", { status: 500 })); // What an exception of a Worker becomes.
  const fetch = Object.fromEntries(PLACES.map((place) => [place, send(place)]));
  return { modules, base, pid, fetch, close: () => runtime.dispose() };
}

/** Starts both: Toolbooth, then workers-oauth-provider. */
export const servers = async ({ namespace = false } = {}) => [await start(await toolbooth(), namespace), await start(await provider("provider.worker.mjs"), namespace)];
