// Renders Markdown tables.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ROOT } from "./paths.mjs";

/** A Markdown table; all columns except the first are numbers. */
export function table(head, rows) {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Replaces the table of a document that this command writes. */
export async function writeTable(document, command, text) {
  const place = new RegExp(`(<!-- ${command} writes from here -->\\n).*?(\\n<!-- to here -->)`, "s");
  const path = join(ROOT, document);
  const before = await readFile(path, "utf8");
  if (!place.test(before)) throw new Error(`${document} has no markers for the table; expected ${place}`);
  await writeFile(path, before.replace(place, (_, begin, end) => `${begin}${text}${end}`));
}
