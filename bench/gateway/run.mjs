// Compares the chat gateway with LiteLLM and Portkey, and writes the tables of docs/GATEWAY.md.
//   node bench/gateway/run.mjs
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { ROOT } from "../paths.mjs";
import { all, tables } from "./compare.mjs";
import { overhead, report } from "./overhead.mjs";
import { versions } from "./rivals.mjs";

const PAGE = join(ROOT, "docs/GATEWAY.md");

/** Replaces what the page has between the markers of `name`. */
function replaced(page, name, text) {
  const place = new RegExp(`(<!-- make gateway-bench writes ${name} from here -->\n).*?(\n<!-- to here -->)`, "s");
  if (!place.test(page)) throw new Error(`docs/GATEWAY.md has no place for ${name}`);
  return page.replace(place, (_, before, after) => `${before}${text}${after}`);
}

const { LiteLLM, Portkey } = await versions();
const subject = `LiteLLM ${LiteLLM}, Portkey ${Portkey}, Node ${process.versions.node}, ${cpus().length} × ${cpus()[0].model}.`;
const cases = tables(await all());
console.log(cases);
const speed = report(await overhead({ log: console.log }));
console.log(speed);
const page = await readFile(PAGE, "utf8");
await writeFile(PAGE, replaced(replaced(page, "the cases", `${cases}\n\n${subject}`), "the overhead", speed));
process.exit(0);
