// What wrangler's development server does not do by itself: it recovers after a crash of its proxy, and the log says how to
// create a missing table.
import { subscribe } from "node:diagnostics_channel";
import { on, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { applyMigrations } from "./local.js";
import { Failure } from "./process.js";
import { BUILD_FAILED } from "./rebuild.js";
import { withSources } from "./stacks.js";

/** Models of Workers AI run in a Cloudflare account only, so this replaces the binding. With AI=1, wrangler connects to the account. */
const WITHOUT_AI = { AI: { type: "plain_text", value: "" } };
/** The time between two attempts to reach the server after a crash, in milliseconds, and their number. */
const INTERVAL = 1_000;
const ATTEMPTS = 15;
/** The time between two looks at a Worker that wrangler has not loaded yet, in milliseconds. */
const PAUSE = 100;
/**
 * Why a bundle fails that a changed configuration replaces: wrangler deletes its files while esbuild still watches them. A bundle for the
 * new configuration fails for another reason.
 */
const OUTDATED = "Failed to rebuild the Worker";

/**
 * Watches the processes of workerd that this process starts from now on. Returns a promise that is rejected if one of
 * them ends by itself, and the server does not answer at `address` afterwards.
 *
 * wrangler starts workerd again, but its proxy then waits for an update of the Worker. `update` causes one. If `isReplaced`, the Worker did not
 * start, and another one takes its place.
 */
export function keepRunning(address, update, interval = INTERVAL, isReplaced = () => false) {
  let recovering = false;
  return new Promise((_, reject) => {
    const recover = async (reason) => {
      if (recovering || isReplaced()) return;
      recovering = true;
      console.error(`The Workers runtime (workerd) has ended: ${reason}. Starting it again`);
      try {
        await recovered(address, update, interval);
        console.error(`The Workers runtime is running again on ${address}`);
      } catch (error) {
        reject(error);
      }
      recovering = false;
    };
    subscribe("child_process", ({ process: child }) => {
      child.once("exit", (code, signal) => {
        // Ctrl-C, or a terminal that closes, ends all processes at once.
        const isStopped = child.killed || ["SIGINT", "SIGHUP"].includes(signal);
        if (/workerd/.test(child.spawnfile) && !isStopped) recover(signal ?? `code ${code}`);
      });
    });
  });
}

async function recovered(address, update, interval) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await sleep(interval);
    // Longer each time: on a busy machine a start takes longer than the interval, and `update` is another start.
    const signal = AbortSignal.timeout((attempt + 1) * interval);
    // Any response will do.
    const answers = () => fetch(`${address}/health`, { method: "HEAD", signal }).then(() => true, () => false);
    if (await answers()) return;
    await update();
  }
  throw new Failure("The Workers runtime does not start again. The messages above may say why. Correct that, and run this command again.");
}

/**
 * Gives a running Worker other variables and what wrangler's configuration has now, and waits until it has both. Fails with the
 * reason if wrangler or workerd refuses them: the Worker stays as it was, or does not answer until the next call.
 */
export async function reconfigure(worker, vars) {
  const settled = new AbortController();
  const event = (name) => once(worker.raw, name, { signal: settled.signal });
  const failed = (async () => {
    for await (const [failure] of on(worker.raw, "buildFailed", { signal: settled.signal })) {
      if (failure.reason !== OUTDATED) throw failure;
    }
  })();
  try {
    await Promise.all([Promise.race([event("reloadComplete"), failed]), worker.patchConfig({ bindings: bindings(vars) })]);
  } catch (failure) {
    // An error, or an event of wrangler that has one.
    throw new Failure(failure.cause?.message ?? failure.message ?? failure.reason);
  } finally {
    settled.abort();
  }
}

/**
 * What the Worker says about itself, as soon as wrangler has loaded it in place of one that only has the error of a build; undefined if
 * it `hasFailed` to start. While the runtime starts again, nothing answers, or wrangler's proxy does.
 */
export async function health(address, headers, hasFailed = () => false) {
  for (;; await sleep(PAUSE)) {
    if (hasFailed()) return undefined;
    const found = await fetch(`${address}/health`, { headers }).then((response) => response.json()).catch(() => undefined);
    if (found !== undefined && found.error !== BUILD_FAILED) return found;
  }
}

/** What wrangler binds besides its configuration: variables, as secrets, because it prints the values of no secrets. */
export function bindings(vars) {
  const secrets = Object.entries(vars).map(([name, value]) => [name, { type: "secret_text", value }]);
  return { ...Object.fromEntries(secrets), ...(!process.env.AI && WITHOUT_AI) };
}

/**
 * Prints a line of the Worker's log, and after an error of D1 what to do. `onFailure` gets the reason if the Worker, or a module of a function,
 * does not start.
 */
export function printer(readConfig, env, onFailure) {
  return ({ level, message: line }) => {
    const message = withSources(line);
    (console[level] ?? console.log)(message);
    const hint = advice(message, () => readConfig().d1_databases.map((database) => applyMigrations(database, "local", env)));
    if (hint) console.error(hint);
    const failure = level === "error" && startFailure(message);
    if (failure) onFailure(failure);
  };
}

/** Why the Worker, or a module of a function, did not start, if a line in the log says that. */
export function startFailure(line) {
  const [, uncaught] = /^service core:user:\S+: (Uncaught [^]*)/.exec(line) ?? [];
  if (uncaught) return `The Worker does not start:\n${uncaught}`;
  if (!line.startsWith('{"event":"module_failed"')) return undefined;
  try {
    const { module, problem } = JSON.parse(line);
    return `The function ${module} does not start:\n${problem}`;
  } catch {
    // Tools write into the same log: this line only begins like one of the server.
    return undefined;
  }
}

/**
 * What to do about an error of D1 in a line of the log; undefined if it has none that is known. `migrate` returns the commands
 * that apply migrations: the database may be new in the configuration.
 */
export function advice(message, migrate) {
  const [, kind, name] = /\bno such (table|column): ([\w.]+)/.exec(message) ?? [];
  const commands = () => migrate().map((command) => `  ${command}`).join("\n");
  if (kind === "table") return `There is no table ${name}. Apply the migrations that create it:\n${commands()}`;
  if (kind === "column") return `There is no column ${name}. If a migration adds it, apply it:\n${commands()}`;
  if (/\bType 'bigint' not supported\b/.test(message)) {
    return "D1 does not accept 64-bit integers. Bind the number as `(value as f64).into()`, or give it a `maximum` in the schema, so that its type is u32.";
  }
}
