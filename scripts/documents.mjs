// Imports public descriptions of APIs, and fails if too few of their operations become tools, or if a definition has an invalid schema, or one
// of which no sample is valid.
// node scripts/documents.mjs <folder with the documents>
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { readCatalogue } from "../packages/toolbooth/src/import/catalogue.js";
import { readDocuments } from "../packages/toolbooth/src/import/read.js";
import { isValid, referencesOf, samples } from "../packages/toolbooth/src/import/samples.js";

const folder = process.argv[2];
/** Each document with its file, and the least percentage of operations that must be imported. */
const DOCUMENTS = [
  ["GitHub", "api.github.com.json", 98],
  ["Stripe", "stripe.com.json", 95],
  ["Slack", "slack.com.json", 95],
  ["Kubernetes", "kubernetes.io.json", 95],
  ["DigitalOcean", "digitalocean.com.json", 95],
  ["Zoom", "zoom.us.json", 95],
  ["Box", "box.com.json", 95],
  ["Asana", "asana.com.json", 95],
  ["Figma", "openapi.yaml", 95],
];

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const failures = [];
console.log("| Document | Operations | Imported | Seconds |\n|---|---:|---:|---:|");
for (const [toolkit, file, least] of DOCUMENTS) {
  const start = performance.now();
  const { tools, found, left } = readCatalogue({ read: await readDocuments(join(folder, file)), toolkit });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`| ${toolkit} | ${found.toLocaleString("en")} | ${tools.size.toLocaleString("en")} | ${seconds} |`);
  if (tools.size < (found * least) / 100) failures.push(`${toolkit}: less than ${least} % are imported; the first that is not: ${left[0].operation}: ${left[0].reason}`);
  for (const [tool, { definition }] of tools) {
    if (!ajv.validateSchema(definition.input_schema)) failures.push(`${toolkit}.${tool}: ${ajv.errorsText()}`);
    const references = referencesOf(definition.input_schema.$defs ?? {});
    if (!samples(definition.input_schema).some((one) => isValid(one, definition.input_schema, references))) failures.push(`${toolkit}.${tool}: no sample of its schema is valid`);
    if ([...definition.description].length > 1024 || definition.name.length > 64) failures.push(`${toolkit}.${tool}: the name or the description is too long`);
  }
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;
