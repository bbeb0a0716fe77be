// Gives the tools of a project a database in D1: the binding in wrangler.toml, a table in a migration, and the crate that has
// the types of bindings.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "./texts.js";

const CONFIGURATION = "wrangler.toml";
const MIGRATIONS = "migrations";
/** The name of the binding, unless the project has a database already. */
const BINDING = "DB";
const CRATE = `toolbooth-worker = { workspace = true, features = ["bindings"] }`;

/** The binding of the first D1 database in wrangler.toml, or else the one that `addDatabase` adds. */
export function databaseBinding() {
  return /^\[\[d1_databases\]\]\n(?:(?!\[).*\n)*?binding = "(\w+)"/m.exec(configuration())?.[1] ?? BINDING;
}

const configuration = () => (existsSync(CONFIGURATION) ? textOf(CONFIGURATION) : "");

/**
 * Adds what a tool that uses the table `table` needs and the project lacks; `folder`: that of the catalogue, if its function is in Rust.
 * Returns what to do by hand.
 */
export function addDatabase(table, folder) {
  return [...addBinding(), ...addTable(table), ...(folder ? addCrate(join(folder, "Cargo.toml")) : [])];
}

/** Without an id, the first deployment creates the database. Environments inherit none, and must not share one. */
function addBinding() {
  const text = configuration();
  if (/^\[\[d1_databases\]\]$/m.test(text)) return [];
  const name = /^name = "([^"]+)"/m.exec(text)?.[1];
  if (!name || /^d1_databases\b/m.test(text)) return [`Add the D1 database ${BINDING} to the configuration of the Worker, in each environment.`];
  const environments = new Set([...text.matchAll(/^\[+env\.([\w-]+)/gm)].map(([, environment]) => environment));
  const sections = [["", ""], ...[...environments].map((environment) => [`env.${environment}.`, `-${environment}`])];
  const added = sections.map(([prefix, suffix]) => `[[${prefix}d1_databases]]\nbinding = "${BINDING}"\ndatabase_name = "${name}${suffix}"\n`);
  const comment = "# The database of the tools. Without an id, the first deployment creates it; the files in migrations/ create its tables.\n";
  writeFileSync(CONFIGURATION, `${text.trimEnd()}\n\n${comment}${added.join("\n")}`);
  return [];
}

/** Adds a migration that creates the table, unless there is one. */
function addTable(table) {
  mkdirSync(MIGRATIONS, { recursive: true });
  const all = readdirSync(MIGRATIONS).filter((file) => file.endsWith(".sql"));
  if (all.some((file) => new RegExp(`\\b${table}\\b`).test(readFileSync(join(MIGRATIONS, file), "utf8")))) return [];
  const number = Math.max(0, ...all.map((file) => parseInt(file, 10) || 0)) + 1;
  const sql = `CREATE TABLE ${table} (\n  id INTEGER PRIMARY KEY,\n  text TEXT NOT NULL UNIQUE\n);\n`;
  writeFileSync(join(MIGRATIONS, `${String(number).padStart(4, "0")}_${table}.sql`), sql);
  return [];
}

function addCrate(manifest) {
  const text = existsSync(manifest) ? textOf(manifest) : "";
  if (/^toolbooth-worker\b.*bindings/m.test(text)) return [];
  const line = /^toolbooth\b.*\n/m;
  if (!line.test(text) || /^toolbooth-worker\b/m.test(text)) return [`Add to the dependencies in ${manifest}: ${CRATE}`];
  writeFileSync(manifest, text.replace(line, (before) => `${before}${CRATE}\n`));
  return [];
}
