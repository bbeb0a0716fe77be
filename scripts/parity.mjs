// Compares imported tools with FastMCP's from_openapi, call by call, and with jsonschema-rs, input by input. Prints the figures of
// docs/IMPORT.md, and fails if anything differs for a reason that is not listed here.
// node scripts/parity.mjs <folder with the documents> <python with scripts/parity/requirements.txt> [toolkits, separated by commas]
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import Ajv2020 from "ajv/dist/2020.js";
import { readDocuments } from "../packages/toolbooth/src/import/read.js";
import { samples } from "../packages/toolbooth/src/import/samples.js";
import { root } from "../tests/support/commands.mjs";
import { create, project, toolbooth } from "../tests/support/project.mjs";
import { start } from "../tests/support/worker.mjs";
import { reasonOf } from "./parity/differences.mjs";
import { mutations, randomOf } from "./parity/inputs.mjs";
import { normal, recorder } from "./parity/requests.mjs";

const [folder, python, only] = process.argv.slice(2);
/** The documents of OpenAPI 3, which FastMCP reads: it does not read Swagger 2. */
const DOCUMENTS = Object.entries({ Styles: join(root, "scripts/parity/styles.json"), GitHub: "api.github.com.json", Stripe: "stripe.com.json", DigitalOcean: "digitalocean.com.json", Box: "box.com.json", Asana: "asana.com.json", Figma: "openapi.yaml", Slack: "slack.com.json", Zoom: "zoom.us.json", Kubernetes: "kubernetes.io.json" })
  .filter(([toolkit]) => !only || only.split(",").includes(toolkit))
  .map(([toolkit, file]) => ({ toolkit, file: file.startsWith("/") ? file : join(folder, file) }));
/** How many inputs with a mistake are made of each valid one. */
const MUTATIONS = 4;
const SCRATCH = join(root, "target/parity");
const json = (path) => JSON.parse(readFileSync(path, "utf8"));

/** A document without security, which is not what is compared: FastMCP leaves it to its HTTP client. */
async function withoutSecurity({ toolkit, file }) {
  const { address, documents } = await readDocuments(file);
  const value = structuredClone(documents.get(address).value);
  const operations = Object.values(value.paths).flatMap((path) => Object.values(path));
  for (const one of [value, ...operations]) if (one !== null && typeof one === "object") delete one.security;
  const path = join(SCRATCH, `${toolkit}.json`);
  writeFileSync(path, JSON.stringify(value));
  /** Whether an operation, such as `GET /pets`, refers to a part of another path. */
  const refersToPaths = (operation) => {
    const [method, at] = operation.split(" ");
    return /"\$ref":"#\/paths\//.test(JSON.stringify([value.paths[at]?.parameters, value.paths[at]?.[method.toLowerCase()]]));
  };
  return { path, refersToPaths, isRead: value.openapi !== undefined };
}

/** Runs a Python program with lines of JSON, and returns its lines. */
async function lines(args, input) {
  const child = spawn(python, args, { stdio: ["pipe", "pipe", "inherit"] });
  const read = (async () => {
    const found = [];
    for await (const line of createInterface({ input: child.stdout })) found.push(JSON.parse(line));
    return found;
  })();
  child.stdin.end(input.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return read;
}

/** A call of FastMCP with the same values: the names of arguments differ. */
function callOf({ definition: { http }, operation }, input, at) {
  const places = new Map((http.parameters ?? []).map(({ property, in: place, name }) => [property, [place, name]]));
  for (const [property, name] of Object.entries(http.body?.properties ?? {})) places.set(property, ["body", name]);
  const values = Object.entries(input).filter(([property]) => property !== http.body?.whole).map(([property, value]) => [...places.get(property), value]);
  const whole = http.body?.whole !== undefined && http.body.whole in input ? [input[http.body.whole]] : [];
  const [method, path] = operation.split(" ");
  return { case: at, method, path, values, whole };
}

/** With REUSE=1, the Worker of the last run is used. */
const isReused = process.env.REUSE === "1";
mkdirSync(SCRATCH, { recursive: true });
const created = isReused ? { code: 0 } : await create();
if (created.code !== 0) throw new Error(created.err);
const vars = { ANONYMOUS_SCOPES: "*", LOG: "off" };
const standIn = await recorder();
const toolkits = [];
for (const document of DOCUMENTS) {
  const { toolkit } = document;
  const { path, isRead, refersToPaths } = await withoutSecurity(document);
  const { code, err } = isReused ? { code: 0 } : await toolbooth(`import ${path} --toolkit ${toolkit}`);
  if (code !== 0) throw new Error(err);
  const into = join(project, "tools", toolkit.toLowerCase());
  for (const name of Object.keys(json(join(into, "toolkit.json")).variables)) vars[name] = standIn.base;
  const { tools } = json(join(into, "import.json"));
  const files = readdirSync(into).filter((file) => file.includes("@"));
  toolkits.push({ toolkit, path, isRead, refersToPaths, tools: files.map((file) => ({ id: file.split("@")[0], operation: tools[file.split("@")[0]].operation, definition: json(join(into, file)) })) });
}

const count = toolkits.reduce((sum, { tools }) => sum + tools.length, 0);
console.log(`Building ${count} definitions.`);
let since = performance.now();
const seconds = () => ((performance.now() - since) / 1000).toFixed(1);
const built = isReused ? { code: 0 } : await toolbooth("build --dev --out build/parity");
if (built.code !== 0) throw new Error(built.err);
console.log(`Built in ${seconds()} s.`);

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
const worker = await start("target/project/shop/build/parity", { vars });
const failures = [];
const fail = (text) => failures.push(text) && console.error(text);
console.log("| Document | Tools | Calls | Equal | Different, for a reason | Schemas | Inputs | Same verdict |\n|---|---:|---:|---:|---:|---:|---:|---:|");
const reasons = new Map();
const count1 = (reason) => reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
try {
  for (const { toolkit, path, isRead, refersToPaths, tools } of toolkits) {
    standIn.requests.length = 0;
    const random = randomOf(2463534242);
    const tried = [];
    for (const tool of tools) {
      const schema = tool.definition.input_schema;
      const isValid = ajv.compile(schema);
      const valid = samples(schema).filter((input, at, all) => isValid(input) && all.findIndex((one) => isDeepStrictEqual(one, input)) === at);
      if (valid.length === 0) fail(`${toolkit}.${tool.id}: no sample of its schema is valid`);
      tried.push({ tool, valid, inputs: [...valid, ...valid.flatMap((input) => mutations(input, MUTATIONS, random))] });
    }
    // Every input, one after the other: the stand-in records the requests in their order.
    const calls = [];
    const verdicts = [];
    for (const { tool, valid, inputs } of tried) {
      const own = [];
      for (const [at, input] of inputs.entries()) {
        const arrived = standIn.requests.length;
        const { status, json: body } = await worker.post({ tool_id: `${toolkit}.${tool.id}`, input });
        own.push(status !== 422 && status !== 400);
        if (status !== 422 && status !== 400 && status !== 200) fail(`${toolkit}.${tool.id}: status ${status}`);
        if (at < valid.length) calls.push({ tool, input, ours: standIn.requests[arrived], error: body?.error?.message });
      }
      verdicts.push(own);
    }
    const reference = await lines([join(root, "scripts/parity/verdicts.py")], tried.map(({ tool, inputs }) => ({ schema: tool.definition.input_schema, inputs })));
    let same = 0;
    for (const [at, { tool, inputs }] of tried.entries()) {
      for (const [index, input] of inputs.entries()) {
        const [ours, theirs] = [verdicts[at][index], reference[at][index]];
        if (ours === theirs) same += 1;
        else fail(`${toolkit}.${tool.id}: ${JSON.stringify(input).slice(0, 300)} is ${ours ? "valid" : "invalid"} here, and ${theirs} for jsonschema-rs`);
      }
    }

    const other = await recorder();
    let equal = 0;
    let explained = 0;
    if (isRead) {
      const errors = await lines([join(root, "scripts/parity/fastmcp_calls.py"), path, other.base], calls.map(({ tool, input }, at) => callOf(tool, input, at)));
      const failed = new Map(errors.map(({ case: at, error }) => [at, error]));
      for (const [at, { tool, input, ours, error }] of calls.entries()) {
        const [one, two] = await Promise.all([ours, other.requests[at]].map((request) => request && normal(request)));
        if (one && two && isDeepStrictEqual(one, two)) equal += 1;
        else {
          const reason = reasonOf({ ours: one, theirs: two, error, failed: failed.get(at), definition: tool.definition, input, refersToPaths: refersToPaths(tool.operation) });
          if (reason) (explained += 1), count1(reason);
          else fail(`${toolkit}.${tool.id} ${JSON.stringify(input).slice(0, 300)}:\n  ours:   ${error ?? JSON.stringify(one)?.slice(0, 600)}\n  theirs: ${failed.get(at) ?? JSON.stringify(two)?.slice(0, 600)}`);
        }
      }
    }
    other.close();
    const number = (value) => value.toLocaleString("en");
    const inputs = tried.reduce((sum, one) => sum + one.inputs.length, 0);
    console.log(`| ${[toolkit, ...[tools.length, isRead ? calls.length : 0, equal, explained, tools.length, inputs, same].map(number)].join(" | ")} |`);
  }
} finally {
  await worker.close();
  standIn.close();
}
for (const [reason, count] of reasons) console.log(`${count}: ${reason}`);
if (failures.length > 0) console.error(`${failures.length} failures`);
process.exitCode = failures.length > 0 ? 1 : 0;
