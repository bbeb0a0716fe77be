// Renders Markdown tables.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ROOT } from "./paths.mjs";

/** A Markdown table; all columns except the first are numbers. */
export function table(head, rows) {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

const PLACE = /(<!-- make \w+ writes from here -->\n).*(\n<!-- to here -->)/s;

/** Replaces the generated table of a document. */
export async function writeTable(document, text) {
  const path = join(ROOT, document);
  const before = await readFile(path, "utf8");
  if (!PLACE.test(before)) throw new Error(`${document} has no markers for the table; expected ${PLACE}`);
  await writeFile(path, before.replace(PLACE, (_, begin, end) => `${begin}${text}${end}`));
}
