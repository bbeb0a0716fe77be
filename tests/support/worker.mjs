// A built Worker on the real runtime (workerd, started by Miniflare), on a loopback port of its own.
import { readFileSync } from "node:fs";
import { Log, LogLevel, Miniflare } from "miniflare";
import { Client } from "./http.mjs";
import { CANARY, checkPrinted } from "./leaks.mjs";

export { CANARY };

const root = new URL("../../", import.meta.url);
const file = (path) => readFileSync(new URL(path, root));

/** The Worker that is deployed, and the one whose tools misbehave. */
export const BOOTH = "build";
export const FIXTURES = "target/fixtures";

/** What wrangler.toml deploys. */
export const deployed = (() => {
  const text = file("wrangler.toml").toString();
  const vars = text.split(/^\[vars\]$/m)[1].split(/^\[/m)[0];
  return {
    compatibilityDate: /^compatibility_date = "(.+)"$/m.exec(text)[1],
    vars: Object.fromEntries([...vars.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, value]) => [name, value])),
  };
})();

// Nothing listens there: a test that forgets its stand-in fails, and nothing leaves the machine.
const NOWHERE = "http://127.0.0.1:9/v1";

// A namespace that does not answer, in the words of the real one.
const FAILING_KV = `
const get = async () => { throw new Error("KV GET failed: 500 Internal Server Error"); };
const KV = { get, getWithMetadata: get, put: get, list: get, delete: get };
export default { fetch: (request, env, context) => Worker.fetch(request, { ...env, KV }, context) };`;

// Prints a line at each level. The runtime writes what Workers print in the order in which they print it,
// but the levels go to two streams.
const FENCE = `
export default { async fetch(request) {
  const line = await request.text();
  for (const level of ["log", "warn", "error"]) console[level](line);
  return new Response();
} };`;
/** How long lines may take, in milliseconds, however busy the machine is. */
const DEADLINE = 120_000;

// What a test does not say otherwise: anybody may call, also what acts for a person.
const DEFAULTS = { AUTH: "none", ANONYMOUS_SCOPES: "github:read,github:write,fixture:private", GITHUB_API_URL: NOWHERE, WEATHER_FORECAST_URL: NOWHERE, WEATHER_GEOCODING_URL: NOWHERE };

/**
 * Starts `bundle`. `vars` are its variables: texts, or what JSON a wrangler.toml could give instead;
 * undefined takes one away. `kv` is true, false (no such binding) or "failing". `limit` is how many
 * calls a minute the rate limit allows, if there is one. `around` is the text of a module that stands
 * before the `Worker`.
 */
export async function start(bundle, { vars = {}, kv = true, limit, around = kv === "failing" ? FAILING_KV : undefined } = {}) {
  const logs = [];
  let fences = 0;
  let passed = () => {};
  const modules = {
    "worker.js": { type: "esm", contents: file(`${bundle}/worker.js`) },
    "index_bg.wasm": { type: "wasm", contents: file(`${bundle}/index_bg.wasm`) },
  };
  if (around) modules["around.js"] = { type: "esm", contents: `import Worker from "./worker.js";\n${around}` };
  const env = Object.entries({ ...DEFAULTS, ...vars })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, { type: typeof value === "string" ? "text" : "json", value }]);
  if (kv === true) env.push(["KV", { type: "kv", id: "tests" }]);
  if (limit !== undefined) {
    env.push(["RATE_LIMIT", { type: "rate-limit", namespace: "1", simple: { limit, period: 60 } }]);
  }
  const runtime = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.ERROR),
    handleStructuredLogs: ({ level, message }) => {
      logs.push({ level, message });
      passed();
    },
    workers: [
      {
        config: {
          name: "worker",
          compatibilityDate: deployed.compatibilityDate,
          env: Object.fromEntries(env),
          manifest: { mainModule: around ? "around.js" : "worker.js", modulesRoot: "/", modules },
        },
      },
      {
        config: {
          name: "fence",
          compatibilityDate: deployed.compatibilityDate,
          env: {},
          manifest: { mainModule: "fence.js", modulesRoot: "/", modules: { "fence.js": { type: "esm", contents: FENCE } } },
        },
      },
    ],
  });
  return Object.assign(new Client((await runtime.ready).origin), {
    /**
     * What the Worker has written to its console until now, `{ level, message }` each, and nothing less:
     * lines arrive later than the answers that they belong to.
     */
    async logs() {
      const line = `fence ${(fences += 1)}`;
      const fence = await runtime.getWorker("fence");
      await fence.fetch("http://fence/", { method: "POST", body: line });
      const own = () => logs.filter(({ message }) => message === line);
      await new Promise((resolve, reject) => {
        const late = () => reject(new Error(`${line} has not arrived; the log is ${JSON.stringify(logs)}`));
        const timer = setTimeout(late, DEADLINE);
        passed = () => {
          if (own().length < 3) return;
          clearTimeout(timer);
          resolve();
        };
        passed();
      });
      for (const one of own()) logs.splice(logs.indexOf(one), 1);
      return [...logs];
    },
    async close() {
      this.closeConnections();
      await runtime.dispose();
      await checkPrinted();
    },
  });
}
