// The list of tools, the rules for every definition (X9, X28 to X34), and that values match their
// definitions (X27). Both catalogues: the deployed one and the fixtures.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { SAMPLES, CANARY, FIXTURES, start } from "./support/worker.mjs";

const workers = {};
before(async () => {
  [workers.booth, workers.fixtures] = await Promise.all([start(SAMPLES), start(FIXTURES)]);
});
after(() => Promise.all([workers.booth.close(), workers.fixtures.close()]));

// A new one each time, because schemas of different tools may have the same $id.
const compile = (schema) =>
  new Ajv({ strict: true, strictTypes: false, formats: { date: true }, keywords: ["x-mcp-header"] }).compile(schema);

/** Every object within a schema, including the schema itself. */
function* parts(value) {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value;
  for (const inner of Object.values(value)) yield* parts(inner);
}

const RULES = {
  "X28 ids are unique": (items) => {
    assert.equal(new Set(items.map(({ id }) => id)).size, items.length);
  },
  "X29 names are of 1 to 64 letters, digits, _ and -": (items) => {
    for (const { name } of items) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
  },
  "X30 versions are x.y.z, and the id ends in the version": (items) => {
    for (const { id, version } of items) {
      assert.match(version, /^\d+\.\d+\.\d+$/);
      assert.ok(id.endsWith(`@${version}`), id);
    }
  },
  "X31 descriptions are sentences": (items) => {
    for (const { id, description } of items) assert.match(description, /^[A-Z].+\.$/, id);
  },
  "X32 input schemas are valid, without references, with described properties": (items) => {
    for (const { id, input_schema } of items) {
      compile(input_schema);
      for (const part of parts(input_schema)) {
        for (const key of ["$ref", "$dynamicRef", "$defs", "definitions"]) assert.ok(!(key in part), id);
      }
      for (const [name, property] of Object.entries(input_schema.properties ?? {})) {
        assert.ok(property.description?.length > 0, `${id}: ${name}`);
      }
    }
  },
  "X33 output schemas are valid, or null": (items) => {
    for (const { output_schema } of items) if (output_schema !== null) compile(output_schema);
  },
  "X9 definitions have OXP's fields and no others": (items) => {
    const allowed = "id name description version input_schema output_schema requirements".split(" ");
    for (const item of items) assert.deepEqual(Object.keys(item).filter((key) => !allowed.includes(key)), []);
  },
};

for (const catalogue of ["booth", "fixtures"]) {
  for (const [rule, holds] of Object.entries(RULES)) {
    test(`${rule} (${catalogue})`, async () => holds((await workers[catalogue].get("/tools")).json.items));
  }
}

for (const path of ["/tools", "/oxp/tools"]) {
  test(`X9 ${path} is an array of definitions in items`, async () => {
    const { status, json } = await workers.booth.get(path);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ["items"]);
    assert.deepEqual(
      json.items.map(({ id }) => id),
      [
        "Calculator.Add@1.0.0",
        "Doorbell.Ring@0.1.0",
        "GitHub.CreateIssue@1.0.0",
        "GitHub.ListIssues@1.0.0",
        "Text.Slugify@1.0.0",
        "Text.Slugify@1.1.0",
        "Text.Slugify@2.0.0",
        "Weather.Current@1.0.0",
        "Weather.Forecast@1.0.0",
      ],
    );
  });
}

test("X9 one definition in full", async () => {
  const { items } = (await workers.booth.get("/tools")).json;
  assert.deepEqual(items[0], {
    id: "Calculator.Add@1.0.0",
    name: "Calculator_Add",
    description:
      "Adds two numbers and returns their sum. Integers are added exactly; other numbers as IEEE 754 doubles.",
    version: "1.0.0",
    input_schema: {
      type: "object",
      properties: {
        a: { type: "number", description: "The first number." },
        b: { type: "number", description: "The second number." },
      },
      required: ["a", "b"],
      additionalProperties: false,
    },
    output_schema: { type: "number", description: "The sum." },
  });
});

test("X33 X34 null, any value, and requirements as they were written", async () => {
  const { items } = (await workers.fixtures.get("/tools")).json;
  const tool = (name) => items.find(({ id }) => id === `Fixture.${name}@1.0.0`);
  assert.equal(tool("Silent").output_schema, null);
  assert.deepEqual(tool("Echo").output_schema, {});
  assert.ok(!("requirements" in tool("Echo")));
  assert.deepEqual(tool("Private").requirements, {
    authorization: [{ id: "mail", oauth2: { scopes: ["mail.read"] } }],
    secrets: [{ id: "KEY" }],
    user_id: true,
  });
});

for (const [catalogue, id, input, context] of [
  ["booth", "Calculator.Add@1.0.0", { a: 1.5, b: 2 }],
  ["booth", "Doorbell.Ring@0.1.0", { doorbell_id: "doorbell42" }],
  ["booth", "Text.Slugify@1.0.0", { text: "A b" }],
  ["booth", "Text.Slugify@1.1.0", { text: "A b", separator: "." }],
  ["booth", "Text.Slugify@2.0.0", { text: "A b", max_length: 1 }],
  ["fixtures", "Fixture.Echo@1.0.0", { any: [1] }],
  ["fixtures", "Fixture.Silent@1.0.0", {}],
  ["fixtures", "Fixture.Mismatch@1.0.0", { number: 7 }],
  ["fixtures", "Fixture.Private@1.0.0", {}, {
    user_id: CANARY,
    authorization: [{ id: "mail", token: CANARY }],
    secrets: [{ id: "KEY", value: CANARY }],
  }],
]) {
  test(`X27 the value of ${id} matches its output schema`, async () => {
    const worker = workers[catalogue];
    const { items } = (await worker.get("/tools")).json;
    const { input_schema, output_schema } = items.find((item) => item.id === id);
    assert.ok(compile(input_schema)(input));
    const { status, json } = await worker.call(id, input, context && { context });
    assert.equal(status, 200);
    assert.equal(json.success, true);
    if (output_schema === null) assert.equal(json.value, null);
    else assert.ok(compile(output_schema)(json.value), JSON.stringify(json.value));
  });
}

test("X27 a value that breaks its output schema never leaves the server", async () => {
  const { status, json } = await workers.fixtures.call("Fixture.BadOutput", {});
  assert.equal(status, 200);
  assert.equal(json.success, false);
  assert.equal(json.error.message, "The tool failed");
});
