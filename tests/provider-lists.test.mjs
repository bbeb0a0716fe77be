// The lists of tools in the model providers' formats (2api.ai's page "Tool Calling", T2 to T7), checked with the
// providers' own packages. The tables of queries, schemas and limits are native: protocol::providers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { toStrictJsonSchema } from "openai/lib/transform";
import { SAMPLES, FIXTURES, start } from "./support/worker.mjs";

const workers = {};
before(async () => {
  [workers.booth, workers.fixtures] = await Promise.all([start(SAMPLES), start(FIXTURES)]);
});
after(() => Promise.all(Object.values(workers).map((worker) => worker.close())));

/** The functions of a list in a common form: name, description, schema, strict. */
const FUNCTIONS = {
  openai: (tools) => tools.map((tool) => tool.function).map(({ parameters: schema, ...rest }) => ({ schema, ...rest })),
  "openai-responses": (tools) => tools.map(({ parameters: schema, type, ...rest }) => ({ schema, ...rest })),
  anthropic: (tools) => tools.map(({ input_schema: schema, ...rest }) => ({ schema, ...rest })),
  gemini: ([tool]) => tool.functionDeclarations.map(({ parametersJsonSchema: schema, ...rest }) => ({ schema, ...rest })),
};
const PROVIDERS = Object.keys(FUNCTIONS);
const LATEST = ["Calculator_Add", "Doorbell_Ring", "GitHub_CreateIssue", "GitHub_ListIssues", "Text_Slugify", "Weather_Current", "Weather_Forecast"];
const EVERY = [...LATEST.slice(0, 4), "Text_Slugify__1_0_0", "Text_Slugify__1_1_0", ...LATEST.slice(4)];

async function list(worker, provider, query = "") {
  const reply = await workers[worker].get(`/providers/${provider}/tools${query}`);
  assert.equal(reply.status, 200, reply.text);
  return { reply, functions: FUNCTIONS[provider](reply.json) };
}

async function refused(worker, provider, query, status = 400) {
  const reply = await workers[worker].get(`/providers/${provider}/tools${query}`);
  assert.equal(reply.status, status, reply.text);
  return reply.json.error;
}

const names = ({ functions }) => functions.map(({ name }) => name);

for (const provider of PROVIDERS) {
  test(`T3.1 ${provider}: the list is the value of the provider's tools`, async () => {
    const { items } = (await workers.booth.get("/tools")).json;
    const { functions } = await list("booth", provider);
    for (const { name, description, schema, strict } of functions) {
      const { description: expected, input_schema } = items.findLast((item) => item.name === name);
      assert.equal(description, expected);
      assert.deepEqual(Object.keys(schema.properties), Object.keys(input_schema.properties));
      assert.deepEqual(schema.required, input_schema.required);
      if (provider !== "gemini") assert.deepEqual(schema, input_schema, "unchanged");
      assert.equal(strict, provider.startsWith("openai") ? false : undefined);
    }
  });

  for (const [query, expected] of [
    ["", LATEST],
    ["?version=all", EVERY],
    ["?include=Text.Slugify%401", ["Text_Slugify__1_0_0"]],
  ]) {
    test(`T7.1 ${provider}/tools${query} lists ${expected.length}`, async () => {
      assert.deepEqual(names(await list("booth", provider, query)), expected);
    });
  }

  for (const [query, code, says] of [
    ["?strict=yes", "invalid_request", /^strict must be true or false$/],
    ["?include=Nope", "tool_not_found", /no tool "Nope"; expected a name/],
  ]) {
    test(`T5.4 ${provider}/tools${query} is rejected as ${code}`, async () => {
      const error = await refused("booth", provider, query);
      assert.equal(error.code, code);
      assert.equal(error.type, "invalid_request_error");
      assert.match(error.message, says);
    });
  }

  test(`T5.4 ${provider}: an incompatible schema is a 400 that names tool and features`, async () => {
    const error = await refused("fixtures", provider, "");
    assert.deepEqual([error.code, error.type], ["tool_schema_incompatible", "semantic_error"]);
    const { incompatible_features } = error.tools.find(({ name }) => name === "Fixture_Awkward");
    assert.ok(incompatible_features.includes("depth"));
    assert.match(error.message, /^Tool 'Fixture_Awkward' has 'depth'/);
  });

  test(`T5.4 ${provider}: skip_incompatible omits it with a warning`, async () => {
    const { reply, functions } = await list("fixtures", provider, "?skip_incompatible=true");
    assert.ok(!names({ functions }).includes("Fixture_Awkward"));
    assert.match(reply.headers["toolbooth-warning"], /Fixture_Awkward is omitted: depth/);
    const alone = await list("fixtures", provider, "?skip_incompatible=true&include=Fixture_Awkward");
    assert.deepEqual(alone.functions, []);
    assert.match(alone.reply.headers["toolbooth-warning"], /^the list is empty, which providers reject: send no tools instead;/);
  });
}

for (const worker of ["booth", "fixtures"]) {
  const query = "?strict=true&version=all&skip_incompatible=true";

  for (const provider of ["openai", "openai-responses"]) {
    test(`T2.1 ${provider}: OpenAI's own package accepts strict schemas unchanged (${worker})`, async () => {
      const { functions } = await list(worker, provider, query);
      assert.ok(functions.length > 0);
      for (const { name, schema, strict } of functions) {
        assert.equal(strict, true);
        assert.deepEqual(toStrictJsonSchema(schema), schema, name);
      }
    });
  }

  test(`T2.1 anthropic: Anthropic's own package leaves strict schemas unchanged (${worker})`, async () => {
    const { functions } = await list(worker, "anthropic", query);
    assert.ok(functions.length > 0);
    for (const { name, schema, strict } of functions) {
      assert.equal(strict, true);
      assert.deepEqual(transformJSONSchema(schema), schema, name);
    }
  });
}

for (const provider of ["openai", "openai-responses"]) {
  test(`T5.4 ${provider}: a tool with an optional property is not strict`, async () => {
    const error = await refused("booth", provider, "?strict=true");
    assert.deepEqual(
      error.tools.map(({ name }) => name),
      ["GitHub_CreateIssue", "GitHub_ListIssues", "Text_Slugify", "Weather_Current", "Weather_Forecast"],
    );
    assert.deepEqual(error.incompatible_features, ["optional_properties"]);
    // The package agrees.
    const { functions } = await list("booth", provider, "?include=Weather_Current");
    assert.throws(() => toStrictJsonSchema(functions[0].schema), /optional/);
  });
}

test("T3.1 every listed name, versioned or not, identifies its tool", async () => {
  for (const name of EVERY) {
    assert.deepEqual(names(await list("booth", "openai", `?include=${name}`)), [name]);
  }
});

test("T6 what the providers can do", async () => {
  const { status, json } = await workers.booth.get("/providers");
  assert.equal(status, 200);
  assert.equal(json.features.find(({ feature }) => feature === "anyOf").gemini, "yes");
});
