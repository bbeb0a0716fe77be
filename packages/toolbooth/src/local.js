// Runs a built Worker on this machine, with empty storage: for tests, and to check a configuration.
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestHarness, unstable_readConfig } from "wrangler";

/** The sections of wrangler.toml whose bindings are simulated here. The others need Cloudflare, or another Worker. */
const SIMULATED = ["kv_namespaces", "d1_databases", "r2_buckets", "queues", "analytics_engine_datasets", "send_email", "ratelimits"];

/** A Worker in place of each other Worker that is bound: its requests arrive at this process, as those of the Worker do. */
const FORWARDING = { main: fileURLToPath(new URL("forwarding.js", import.meta.url)), no_bundle: true };

/**
 * Starts the Worker in the folder `bundle` with the bindings and variables of wrangler.toml, further variables, and
 * nothing of .dev.vars. With `forward`, requests to other Workers arrive where those to services do. Returns wrangler's test harness and the
 * configuration.
 */
export async function startLocally(bundle, { config: file, env, main = "worker.js", vars = {}, forward = false } = {}) {
  process.env.WRANGLER_SEND_METRICS ??= "false";
  process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
  const config = unstable_readConfig({ config: file, env }, { hideWarnings: true });
  const root = resolve(bundle);
  const worker = {
    ...Object.fromEntries(SIMULATED.map((section) => [section, config[section]])),
    name: config.name,
    main: join(root, main),
    base_dir: root,
    no_bundle: true,
    find_additional_modules: true,
    rules: [{ type: "ESModule", globs: ["**/*.js"] }],
    compatibility_date: config.compatibility_date,
    compatibility_flags: config.compatibility_flags,
    d1_databases: config.d1_databases.map((database) => ({ ...database, migrations_dir: migrations(database) })),
    vars: { ...config.vars, ...vars },
  };
  const others = forward ? (config.services ?? []).map(({ binding }) => ({ binding, service: `in-place-of-${binding.toLowerCase().replaceAll("_", "-")}` })) : [];
  if (forward) worker.services = others;
  const { compatibility_date } = config;
  const stands = others.map(({ service }) => ({ config: { ...FORWARDING, name: service, compatibility_date } }));
  // wrangler reads .dev.vars in this folder, which has none.
  const harness = createTestHarness({ root, workers: [{ config: worker }, ...stands] });
  await harness.listen();
  return { harness, config };
}

/** The folder with the migrations of a D1 database. */
export const migrations = ({ migrations_dir = "migrations" }) => resolve(migrations_dir);

/** The command that creates the tables of a D1 database, `place`: `local` or `remote`. */
export function applyMigrations({ database_name, binding }, place, env) {
  return `npx wrangler d1 migrations apply ${database_name ?? binding} --${place}${env ? ` --env ${env}` : ""}`;
}
