// What a deployed Worker would find wrong with its configuration: the built one checks it on this machine.
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { unstable_readConfig } from "wrangler";
import { files, variablesOfTools } from "./catalogue.js";
import { newKey } from "./credentials.js";
import { migrations, startLocally } from "./local.js";
import { Failure } from "./process.js";
import { misspelled } from "./variables.js";

const OUT = ".wrangler/check";
/**
 * Secrets that no deployed Worker has. With them, the Worker also reports what is less urgent. The key is complete, so that nothing
 * is reported about an application that does not exist.
 */
const SECRETS = {
  API_KEYS: JSON.stringify([{ ...newKey("dry run", []).entry, verify_url: "https://example.com/verify" }]),
  GRANT_KEYS: `check:${randomBytes(32).toString("base64")}`,
  JWT_SECRET: randomBytes(32).toString("base64"),
  STATE_KEY: randomBytes(32).toString("base64"),
};
// Responds with the log of the Worker, which names every problem of the configuration when it starts, and every warning before it
// answers /health.
const ENTRY = `import { lines } from "./lines.js";
import Worker from "./worker.js";
export default {
  async fetch(request, env, context) {
    await Worker.fetch(request, env, context);
    return Response.json({ lines });
  },
};
`;

// Before the Worker, which keeps the console that it finds.
const LINES = `export const lines = [];
for (const level of ["warn", "error"]) console[level] = (line) => lines.push(line);
`;

/**
 * Starts the Worker that was built, with the configuration of an environment and further variables. Returns what the Worker
 * logs about its configuration: what stops all `calls`, what disables single `tools`, and the rest (`notes`). Also returns
 * the bindings that the first deployment creates, the databases with migrations, and the variables of wrangler.toml.
 */
export async function findings({ config: file, env, vars: further = {} }) {
  const config = unstable_readConfig({ config: file, env }, { hideWarnings: true });
  const [out, built] = [resolve(OUT), dirname(config.main)];
  if (!existsSync(config.main)) throw new Failure(`There is no ${config.main}: build the Worker first`);
  mkdirSync(out, { recursive: true });
  try {
    for (const file of readdirSync(built).filter((name) => /\.(js|wasm|bin)$/.test(name))) copyFileSync(join(built, file), join(out, file));
    writeFileSync(join(out, "lines.js"), LINES);
    writeFileSync(join(out, "check.js"), ENTRY);
    const started = async (vars) => {
      const { harness } = await startLocally(out, { config: file, env, main: "check.js", vars: { ...standIns(config), ...further, ...vars } });
      try {
        const { lines } = await (await harness.fetch("/health")).json();
        return lines.flatMap(finding);
      } finally {
        await harness.close();
      }
    };
    const found = await started();
    const isMissing = ([name]) => further[name] === undefined && found.some(({ text }) => text.startsWith(`${name} `));
    const missing = Object.entries(SECRETS).filter(isMissing);
    const absent = found.filter(({ text }) => missing.some(([name]) => text.startsWith(`${name} `)));
    // With these secrets, the Worker also reports what is less urgent, and no longer what only follows from their absence.
    const others = missing.length > 0 ? await started(Object.fromEntries(missing)) : found;
    const ofTools = variablesOfTools();
    const notes = [...placeholders(config), ...misspelled(config.vars, ofTools), ...flags(config)].map((text) => ({ affects: "notes", text }));
    const about = (what) => [...new Set([...absent, ...others, ...notes].filter(({ affects }) => affects === what).map(({ text }) => text))];
    return { calls: about("calls"), tools: about("tools"), notes: about("notes"), created: created(config), databases: databases(config), vars: config.vars };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The text of a line of the log and what it affects, if it is about the configuration or the store. */
function finding(line) {
  const { event, problem, warning, affects } = parsed(line);
  if (event === "store") return [{ affects: "notes", text: `KV: ${problem}. Until this is solved, /health responds with 503` }];
  if (event !== "configuration") return [];
  return [{ affects: ["calls", "tools"].includes(affects) ? affects : "notes", text: problem ?? warning }];
}

/** Tools, and workerd itself, may also write lines that are no JSON. */
function parsed(line) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

/** The D1 databases whose tables migrations create. */
function databases({ d1_databases }) {
  return d1_databases.filter((database) => existsSync(migrations(database)));
}

/** The compatibility flag that projects of earlier versions lack. */
function flags({ compatibility_flags }) {
  const flag = "enable_request_signal";
  const consequence = "without it, a request whose client disconnects while it waits stays in the memory of the Worker";
  return compatibility_flags.includes(flag) ? [] : [`compatibility_flags does not include ${flag}: ${consequence}`];
}

/** The variables of scaffolded tools that still have the scaffold's address, where no service is. */
function placeholders({ vars }) {
  const read = (pattern) => files(pattern).map((file) => readFileSync(file, "utf8"));
  const inRust = read(/\.rs$/).flatMap((code) => [...code.matchAll(/\bVariable::new\(\s*"(\w+)",\s*"([^"]*)"/g)].map(([, ...pair]) => pair));
  const declared = read(/(^|[/\\])toolkit\.json$/).flatMap((text) => Object.entries(JSON.parse(text).variables ?? {}));
  return [...inRust, ...declared.map(([name, { default: url = "" }]) => [name, url])]
    .filter(([name, url]) => /^https:\/\/[a-z0-9]+\.example$/.test(url) && !vars[name])
    .map(([name, url]) => `${name} is not set; its default is the placeholder ${url}`);
}

/** Values for the bindings that are not simulated here: the Worker only looks whether they exist. */
function standIns({ ai, durable_objects, services = [], vectorize }) {
  const names = [ai, ...vectorize, ...services].map((one) => one?.binding).concat(durable_objects.bindings.map(({ name }) => name));
  return Object.fromEntries(names.filter(Boolean).map((name) => [name, {}]));
}

/** The names of resources without an id. */
function created({ kv_namespaces, d1_databases }) {
  return [...kv_namespaces.filter(({ id }) => !id), ...d1_databases.filter(({ database_id: id }) => !id)].map(({ binding }) => binding);
}
