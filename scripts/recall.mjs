// Writes what the example `recall` of toolbooth-build measures the search with: for each operation of a document, its definition without the
// summary, and the summary as the query. In a document without summaries, it is the first sentence of the description.
// node scripts/recall.mjs <document> <toolkit>
import { readCatalogue } from "../packages/toolbooth/src/import/catalogue.js";
import { readDocuments } from "../packages/toolbooth/src/import/read.js";

const [file, toolkit] = process.argv.slice(2);
const { tools } = readCatalogue({ read: await readDocuments(file), toolkit });
for (const [tool, { definition }] of tools) {
  const { title, description, examples, ...rest } = definition;
  const query = title ?? /^.*?(?=[.!?](\s|$)|\n|$)/.exec(description)[0];
  const parts = description.split(new RegExp(RegExp.escape(query), "gi"));
  // An import makes the description of the summary if there is no other. A description is required, and the name is in the index anyway.
  const text = parts.join(" ").replace(/^[\s.]+/, "") || definition.name;
  console.log(JSON.stringify({ definition: { ...rest, id: `${toolkit}.${tool}@1.0.0`, version: "1.0.0", description: text }, query }));
}
