// Runs the examples of the tools with bindings, and of those in TypeScript or in other Workers, on workerd. `toolbooth test` starts it with node
// --test, because native tests have neither.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { catalogue, definitions } from "./catalogue.js";
import { differences, failure } from "./difference.js";
import { scriptOf } from "./scripts.js";
import { ToolTest } from "./testing.js";

/** The kinds of bindings that are simulated on this machine. */
const SIMULATED = ["analytics_engine", "d1", "kv", "queue", "r2", "send_email", "service"];
const all = definitions();
/** What the tools require of the client. */
const madeUp = (member) => Object.fromEntries(all.flatMap(({ requirements }) => requirements?.[member] ?? []).map(({ id }) => [id, `example-${id}`]));
const client = { user: "example-user", tokens: madeUp("authorization"), secrets: madeUp("secrets") };

// The fakes of the services that these tools call.
const services = resolve(join(catalogue(), "services.mjs"));
const upstream = existsSync(services) ? (await import(pathToFileURL(services))).default : undefined;

const isScript = (id) => {
  const [toolkit, file] = id.split(/\.(.*)/s);
  return scriptOf(join(catalogue(), toolkit.toLowerCase(), `${file}.json`)) !== undefined;
};

for (const definition of all.filter(({ id, service, bindings = [] }) => bindings.length > 0 || service || isScript(id))) {
  const { id, bindings = [], examples = [] } = definition;
  const remote = bindings.find(({ kind, optional }) => !optional && !SIMULATED.includes(kind));
  const skip = remote && `${remote.name} is not simulated on this machine`;
  for (const { title, setup = [], ...example } of examples) {
    test(`${id}: ${title ?? JSON.stringify(example.input)}`, { skip }, async (t) => {
      const tools = await ToolTest.start(t, { ...client, upstream });
      const { value, error, asks } = example;
      const expected = "value" in example ? { value } : error ? { error: { message: error.message } } : { asks };
      const { failed, got } = await played(tools, definition, setup, example);
      const different = failed ?? differences(expected, got);
      if (different === "") return;
      throw failure(`  input: ${JSON.stringify(example.input)}\n${different}\n  log: ${tools.log()}`);
    });
  }
}

/** Makes the calls of an example. Returns what it `got`, or why that `failed`. */
async function played(tools, definition, setup, example) {
  try {
    for (const { tool, input } of setup) await tools.value(tool, input);
    return { got: await outcome(tools, definition, example) };
  } catch (error) {
    if (!(error instanceof assert.AssertionError)) throw error;
    return { failed: `    ${error.message}` };
  }
}

/** The outcome of an example, in the form of the definition. */
async function outcome(tools, { id, name, version }, { input, asks, value, varies = [] }) {
  if (asks) return { asks: await tools.asks(`${name}__${version.replaceAll(".", "_")}`, input) };
  const got = await tools.call(id, input);
  if (got.error) return { error: { message: got.error.message } };
  // What varies is as documented.
  for (const pointer of "value" in got ? varies : []) {
    const path = ["value", ...pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))];
    const last = path.pop();
    const at = (root) => path.reduce((part, key) => part?.[key], root);
    if (at(got)?.[last] !== undefined) at(got)[last] = at({ value })?.[last];
  }
  return got;
}
