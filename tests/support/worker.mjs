// Starts a built Worker on the real runtime (workerd, through Miniflare), on its own loopback port.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Log, LogLevel, Miniflare } from "miniflare";
import { Client } from "./http.mjs";
import { CANARY, checkPrinted } from "./leaks.mjs";

export { CANARY };

const root = new URL("../../", import.meta.url);
const file = (path) => readFileSync(new URL(path, root));

/** The Workers with the sample tools, with tools that misbehave, with tools that use bindings and the sample of a long call, and the samples with D1 and R2, and without functions. */
export const SAMPLES = "target/samples";
export const FIXTURES = "target/fixtures";
export const BINDINGS = "target/bindings";
export const NOTES = "target/notes";
export const LIBRARY = "target/library";
/** The tools of MCP's conformance suite. */
export const MCP = "target/mcp";
/** All shipped toolkits. */
export const TOOLKITS = "target/toolkits";
/** The site. Not build/site, which `make dev` replaces while other tests run. */
export const SITE = "target/site";

/** The settings in wrangler.toml. */
export const deployed = (() => {
  const text = file("wrangler.toml").toString();
  const vars = text.split(/^\[vars\]$/m)[1].split(/^\[/m)[0];
  return {
    compatibilityDate: /^compatibility_date = "(.+)"$/m.exec(text)[1],
    compatibilityFlags: JSON.parse(/^compatibility_flags = (.+)$/m.exec(text)[1]),
    assets: {
      htmlHandling: /^html_handling = "(.+)"$/m.exec(text)[1],
      runWorkerFirst: JSON.parse(/^run_worker_first = (.+)$/m.exec(text)[1]),
      hasUserWorker: true,
    },
    vars: Object.fromEntries([...vars.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, value]) => [name, value])),
  };
})();

// Nothing listens there: a test without its stand-in fails, and no request leaves the machine.
const NOWHERE = "http://127.0.0.1:9/v1";

// A namespace that fails with the real one's error message.
const FAILING_KV = `
const get = async () => { throw new Error("KV GET failed: 500 Internal Server Error"); };
const KV = { get, getWithMetadata: get, put: get, list: get, delete: get };
export default { fetch: (request, env, context) => Worker.fetch(request, { ...env, KV }, context) };`;

// Prints a line at each level. The runtime preserves the order of lines, but the levels go to two
// streams.
const FENCE = `
export default { async fetch(request) {
  const line = await request.text();
  for (const level of ["log", "warn", "error"]) console[level](line);
  return new Response();
} };`;
/** The lines that are no problems. */
const EVENT = /^\{"audit":1,/;
const WARNING = /^\{"event":"configuration","warning":/;
/** The longest wait for log lines, in milliseconds, on a busy machine. */
const DEADLINE = 120_000;

// The defaults of tests: anybody may call every tool, including those that act for a user.
const DEFAULTS = { AUTH: "none", ANONYMOUS_SCOPES: "github:read,github:write,fixture:private", GITHUB_API_URL: NOWHERE, WEATHER_FORECAST_URL: NOWHERE, WEATHER_GEOCODING_URL: NOWHERE };

/**
 * Starts `bundle`. `vars` are its variables: strings, or JSON values as in a wrangler.toml;
 * undefined removes one. `kv` is true, false (no binding) or "failing". `ledger` and `tasks` bind the Durable Objects. `limit` is the rate limit in
 * calls per minute, if any; `limiters` has further ones by the name of their binding. `measured` binds a dataset for data points. `site` serves the pages. `bindings` are
 * further bindings in Miniflare's form, and `services` the sources of further Workers, by name. `around` is the source of a
 * module that wraps the `Worker`. `port` is the port, if its address must be known before. `storage` is a folder, for what a later
 * Worker is to find.
 */
export async function start(bundle, { vars = {}, kv = true, ledger = true, tasks = true, limit, limiters = {}, measured = false, site = false, port = 0, storage, bindings = {}, services = {}, around = kv === "failing" ? FAILING_KV : undefined } = {}) {
  const logs = [];
  let fences = 0;
  let onLine = () => {};
  const source = file(`${bundle}/worker.js`).toString();
  // Its name depends on how the Worker was built. After a failed build there is none.
  const wasm = /"\.\/(\w+\.wasm)"/.exec(source)?.[1];
  const modules = {
    "worker.js": { type: "esm", contents: source },
    ...(wasm && { [wasm]: { type: "wasm", contents: file(`${bundle}/${wasm}`) } }),
  };
  const own = ["Ledger", "Tasks"].filter((name) => !new RegExp(`class ${name}\\b`).test(around)).map((name) => `export { ${name} } from "./worker.js";\n`).join("");
  if (around) modules["around.js"] = { type: "esm", contents: `import Worker from "./worker.js";\n${own}${around}` };
  const env = Object.entries({ ...DEFAULTS, ...vars })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, { type: typeof value === "string" ? "text" : "json", value }]);
  if (kv === true) env.push(["KV", { type: "kv", id: "tests" }]);
  if (ledger) env.push(["LEDGER", { type: "durable-object", worker: "worker", exportName: "Ledger" }]);
  if (tasks) env.push(["TASKS", { type: "durable-object", worker: "worker", exportName: "Tasks" }]);
  for (const [name, most] of Object.entries({ RATE_LIMIT: limit, ...limiters }).filter(([, value]) => value !== undefined)) {
    env.push([name, { type: "rate-limit", namespace: name, simple: { limit: most, period: 60 } }]);
  }
  if (site) env.push(["ASSETS", { type: "assets" }]);
  env.push(...Object.entries(bindings));
  if (measured) env.push(["CALLS", { type: "analytics-engine-dataset", name: "calls" }]);
  const runtime = new Miniflare({
    host: "127.0.0.1",
    port,
    cf: false,
    telemetry: { enabled: false },
    ...(storage && { resourcePersistencePath: storage }),
    log: new Log(LogLevel.ERROR),
    handleStructuredLogs: ({ level, message }) => {
      logs.push({ level, message });
      onLine();
    },
    workers: [
      {
        config: {
          name: "worker",
          compatibilityDate: deployed.compatibilityDate,
          compatibilityFlags: deployed.compatibilityFlags,
          env: Object.fromEntries(env),
          exports: { Ledger: { type: "durable-object", storage: "sqlite" }, Tasks: { type: "durable-object", storage: "sqlite" } },
          ...(site && { assets: { directory: fileURLToPath(new URL(SITE, root)), ...deployed.assets } }),
          manifest: { mainModule: around ? "around.js" : "worker.js", modulesRoot: "/", modules },
        },
      },
      ...Object.entries({ fence: FENCE, ...services }).map(([name, contents]) => ({
        config: {
          name,
          compatibilityDate: deployed.compatibilityDate,
          env: {},
          manifest: { mainModule: `${name}.js`, modulesRoot: "/", modules: { [`${name}.js`]: { type: "esm", contents } } },
        },
      })),
    ],
  });
  return Object.assign(new Client((await runtime.ready).origin), {
    /**
     * The problems that the Worker has logged so far, as `{ level, message }`, and with `warnings` those about the
     * configuration, which most tests do not complete: the Worker logs these after its first response, and they are waited for.
     */
    async logs({ warnings = false } = {}) {
      const isWarning = ({ message }) => WARNING.test(message);
      let lines = await this.lines();
      for (const end = Date.now() + DEADLINE; warnings && !lines.some(isWarning); lines = await this.lines()) {
        if (Date.now() > end) throw new Error(`there is no warning; the log is ${JSON.stringify(lines)}`);
      }
      return lines.filter((line) => !EVENT.test(line.message) && (warnings || !isWarning(line)));
    },
    /**
     * The events that the Worker has logged so far, such as calls, as objects with their `level`.
     */
    async events() {
      const events = (await this.lines()).filter(({ message }) => EVENT.test(message));
      return events.map(({ level, message }) => ({ level, ...JSON.parse(message) }));
    },
    /**
     * Everything that the Worker has logged so far. Waits for all lines, because they arrive later than the
     * responses that they belong to.
     */
    async lines() {
      const line = `fence ${(fences += 1)}`;
      const fence = await runtime.getWorker("fence");
      await fence.fetch("http://fence/", { method: "POST", body: line });
      const own = () => logs.filter(({ message }) => message === line);
      await new Promise((resolve, reject) => {
        const late = () => reject(new Error(`${line} has not arrived; the log is ${JSON.stringify(logs)}`));
        const timer = setTimeout(late, DEADLINE);
        onLine = () => {
          if (own().length < 3) return;
          clearTimeout(timer);
          resolve();
        };
        onLine();
      });
      for (const one of own()) logs.splice(logs.indexOf(one), 1);
      return [...logs];
    },
    /** A response to a request at another address, such as an `https` one. */
    fetch(url, init) {
      return runtime.dispatchFetch(url, init);
    },
    /** A D1 database, an R2 bucket or a KV namespace of the Worker, as its code sees it. */
    database: (binding) => runtime.getD1Database(binding, "worker"),
    bucket: (binding) => runtime.getR2Bucket(binding, "worker"),
    namespace: (binding) => runtime.getKVNamespace(binding, "worker"),
    /**
     * Ends the object of the ledger with this name: the next operation starts it again, from what is stored. Not while requests
     * are in flight: Miniflare's first request of this kind blocks this process, which then does not read the log, and the
     * runtime waits for that. A crash in between is `ctx.abort()` of a class that extends `Ledger`.
     */
    evict: (name) => runtime.unsafeEvictDurableObject("worker", "Ledger", { name }),
    /** Ends the runtime at once, as a power failure would. Only for a process that has no other. */
    async kill() {
      const { stdout } = await promisify(execFile)("pgrep", ["-P", `${process.pid}`, "workerd"]);
      for (const id of stdout.trim().split("\n")) process.kill(Number(id), "SIGKILL");
      this.closeConnections();
      await runtime.dispose();
    },
    async close() {
      this.closeConnections();
      await runtime.dispose();
      await checkPrinted();
    },
  });
}
