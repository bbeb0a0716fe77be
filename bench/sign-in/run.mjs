// Compares sign-in with workers-oauth-provider, and writes the tables of bench/sign-in/RESULTS.md.
//   node bench/sign-in/run.mjs
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { version as workerd } from "workerd";
import { ROOT } from "../paths.mjs";
import { compare, lines, table, unexplained } from "./cases.mjs";
import { measure, report } from "./cost.mjs";
import { servers } from "./servers.mjs";

const PAGE = join(import.meta.dirname, "RESULTS.md");

/** Replaces what the page has between the markers of `name`. */
function replaced(page, name, text) {
  const place = new RegExp(`(<!-- make sign-in-bench writes ${name} from here -->\n).*?(\n<!-- to here -->)`, "s");
  if (!place.test(page)) throw new Error(`RESULTS.md has no place for ${name}`);
  return page.replace(place, (_, before, after) => `${before}${text}${after}`);
}

const modules = join(import.meta.dirname, "node_modules/@cloudflare/workers-oauth-provider/package.json");
const { version } = JSON.parse(await readFile(modules));
const log = (line) => process.stderr.write(`${line}\n`);
const both = await servers();
const results = await compare(both);
console.log(lines(results));
const memory = await measure(both, log);
await Promise.all(both.map(({ close }) => close()));
const stored = await servers({ namespace: true });
const namespace = await measure(stored, log);
await Promise.all(stored.map(({ close }) => close()));
const costs = report({ memory, namespace }, both);
console.log(`\n${costs}`);

const date = new Date().toISOString().slice(0, 10);
const subject = `workers-oauth-provider ${version}, workerd ${workerd}, ${cpus().length} × ${cpus()[0].model}, ${date}.`;
const page = await readFile(PAGE, "utf8");
const cases = table(results, "workers-oauth-provider");
await writeFile(PAGE, replaced(replaced(page, "the cases", cases), "the costs", `${costs}\n\n${subject}`));

for (const { title, why } of unexplained(results)) console.error(why ? `${title}: no longer different` : `${title}: different without a reason`);
process.exit(unexplained(results).length > 0 ? 1 : 0);
