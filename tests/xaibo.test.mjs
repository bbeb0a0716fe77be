// Xaibo over HTTP: its models as JSON (docs/PROTOCOLS.md, XB1 to XB15). The tables are native (protocol::xaibo::tests,
// server::xaibo); tests/clients has the Python package and Xaibo itself.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SAMPLES, FIXTURES, start } from "./support/worker.mjs";

const workers = {};
before(async () => ([workers.booth, workers.fixtures] = await Promise.all([start(SAMPLES), start(FIXTURES)])));
after(() => Promise.all(Object.values(workers).map((worker) => worker.close())));

const execute = (tool_name, parameters) => workers.booth.post({ tool_name, parameters }, { path: "/xaibo/execute" });
const failed = (error) => ({ success: false, result: null, error });

for (const name of ["booth", "fixtures"]) {
  const lists = () => Promise.all(["/xaibo/tools", "/oxp/tools"].map(async (path) => (await workers[name].get(path)).json));

  test(`XB2 the list of ${name} has the latest version of each tool, by its plain name`, async () => {
    const [listed, { items }] = await lists();
    const names = listed.map((tool) => tool.name);
    assert.deepEqual(new Set(names), new Set(items.map((tool) => tool.name)));
    assert.equal(names.length, new Set(names).size);
  });

  test(`XB3 every parameter of ${name} is one of the tool's schema, and required as there`, async () => {
    const [listed, { items }] = await lists();
    for (const { name, description, parameters } of listed) {
      // The list is sorted by version: the last is the latest.
      const { input_schema, description: whole } = items.filter((tool) => tool.name === name).at(-1);
      assert.ok(description.startsWith(whole), name);
      const { properties = {}, required = [] } = input_schema;
      assert.deepEqual(Object.keys(parameters).sort(), Object.keys(properties).sort(), name);
      for (const [key, parameter] of Object.entries(parameters)) {
        assert.ok(parameter.description.startsWith(properties[key].description.slice(0, -1)), key);
        assert.equal(parameter.required, required.includes(key), key);
        assert.deepEqual(parameter.default, properties[key].default, key);
      }
    }
  });
}

for (const [clause, tool, parameters, expected] of [
  ["XB4 a value", "Calculator_Add", { a: 10, b: 5 }, { success: true, result: 15, error: null }],
  ["XB4 an older version", "Text_Slugify__1_0_0", { text: "Crème" }, { success: true, result: "cr-me", error: null }],
  ["XB6 invalid parameters", "Calculator_Add", { a: 1 }, failed("Invalid tool parameters: b: Is required")],
  ["XB7 a failure", "Doorbell_Ring", { doorbell_id: "doorbell1" },
    failed("Tool execution failed: Doorbell ID not found. ids: doorbell42,doorbell84. Try again after 500 ms.")],
]) {
  test(`${clause} is a ToolResult`, async () => {
    const reply = await execute(tool, parameters);
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.json, expected);
  });
}

test("XB5 an unknown tool: the error names the tools of the list", async () => {
  const names = (await workers.booth.get("/xaibo/tools")).json.map(({ name }) => `'${name}'`);
  const { json } = await execute("shout", {});
  assert.deepEqual(json, failed(`Tool 'shout' not found. Available tools: [${names.sort().join(", ")}]`));
});

test("XB5 a typing mistake: the error suggests the tool that was meant", async () => {
  const { json } = await execute("calculator_ad", {});
  assert.match(json.error, /^Tool 'calculator_ad' not found\. Available tools: \[.*\]\. Did you mean Calculator_Add\?$/);
});
