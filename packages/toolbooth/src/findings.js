// What a deployed Worker would find wrong with its configuration: the built one checks it on this machine.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { unstable_readConfig } from "wrangler";
import { files } from "./catalogue.js";
import { newKey } from "./credentials.js";
import { migrations, startLocally } from "./local.js";

const OUT = ".wrangler/check";
/** A key that nobody has. */
const API_KEYS = JSON.stringify([newKey("dry run", []).entry]);
// Responds with the log of the Worker, which names every problem of the configuration when it starts.
const ENTRY = `import Worker from "./worker.js";
const lines = [];
for (const level of ["warn", "error"]) console[level] = (line) => lines.push(line);
export default {
  async fetch(request, env, context) {
    const { status } = await Worker.fetch(request, env, context);
    return Response.json({ status, lines });
  },
};
`;

/**
 * Starts the Worker that was built, with the configuration of an environment. Returns the status of /health, what the
 * Worker logs about its configuration, and the bindings that the first deployment creates, and the databases with migrations.
 */
export async function findings({ config: file, env }) {
  const config = unstable_readConfig({ config: file, env }, { hideWarnings: true });
  const [out, built] = [resolve(OUT), dirname(config.main)];
  mkdirSync(out, { recursive: true });
  try {
    for (const file of readdirSync(built).filter((name) => /\.(js|wasm)$/.test(name))) copyFileSync(join(built, file), join(out, file));
    writeFileSync(join(out, "check.js"), ENTRY);
    const started = async (vars) => {
      const { harness } = await startLocally(out, { config: file, env, main: "check.js", vars: { ...standIns(config), ...vars } });
      try {
        const { status, lines } = await (await harness.fetch("/health")).json();
        return { status, found: lines.flatMap(finding) };
      } finally {
        await harness.close();
      }
    };
    const { status, found } = await started();
    // Keys are secrets. With one, the Worker also reports what is less urgent.
    const hidden = found.some((text) => text.startsWith("API_KEYS ")) ? await started({ API_KEYS }) : { found: [] };
    return { status, found: [...new Set([...found, ...hidden.found, ...placeholders(config)])], created: created(config), databases: databases(config) };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The text of a line of the log, if it is about the configuration or the store. */
function finding(line) {
  const { event, problem, warning } = parsed(line);
  if (event === "store") return [`KV: ${problem}`];
  return event === "configuration" ? [problem ?? warning] : [];
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

/** The variables of scaffolded tools that still have the scaffold's address, where no service is. */
function placeholders({ vars }) {
  const code = files(/\.rs$/).map((file) => readFileSync(file, "utf8")).join("\n");
  return [...code.matchAll(/\bVariable::new\(\s*"(\w+)",\s*"(https:\/\/[a-z0-9]+\.example)"/g)]
    .filter(([, name]) => !vars[name])
    .map(([, name, url]) => `${name} is not set; its default is the placeholder ${url}`);
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
