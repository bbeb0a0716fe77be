// Xaibo over HTTP: its models as JSON, and a ToolResult for every error. docs/PROTOCOLS.md lists the
// clauses; tests/clients tests the Python package and Xaibo itself.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BOOTH, CANARY, FIXTURES, start } from "./support/worker.mjs";

const workers = {};
before(async () => {
  const starting = {
    booth: start(BOOTH),
    fixtures: start(FIXTURES),
    allowing: start(BOOTH, { vars: { TOOL_ALLOWLIST: "Calculator.*, Text.Slugify@1.0.0" } }),
    broken: start(BOOTH, { vars: { MAX_BODY_BYTES: "none" } }),
  };
  await Promise.all(Object.entries(starting).map(async ([name, worker]) => (workers[name] = await worker)));
});
after(() => Promise.all(Object.values(workers).map((worker) => worker.close())));

const LIST = "/xaibo/tools";
const EXECUTE = "/xaibo/execute";
const execute = (tool_name, parameters, { worker = workers.booth, ...rest } = {}) =>
  worker.post({ tool_name, parameters, ...rest }, { path: EXECUTE });
const failed = (error) => ({ success: false, result: null, error });
const done = (result) => ({ success: true, result, error: null });

for (const name of ["booth", "fixtures"]) {
  test(`XB2 the list of ${name} has the latest version of each tool, by its plain name`, async () => {
    const [{ json: listed }, { json: all }] = await Promise.all([
      workers[name].get(LIST),
      workers[name].get("/oxp/tools"),
    ]);
    const names = listed.map((tool) => tool.name);
    assert.deepEqual(new Set(names), new Set(all.items.map((tool) => tool.name)));
    assert.equal(names.length, new Set(names).size);
  });

  test(`XB3 every parameter of ${name} is in the tool's schema, and required if it is there`, async () => {
    const [{ json: listed }, { json: all }] = await Promise.all([
      workers[name].get(LIST),
      workers[name].get("/oxp/tools"),
    ]);
    for (const { name, description, parameters } of listed) {
      // The list is sorted by version, so the last is the latest.
      const { input_schema, description: whole } = all.items.filter((tool) => tool.name === name).at(-1);
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

test("XB3 what a ToolParameter cannot express is in its description", async () => {
  const { json: listed } = await workers.fixtures.get(LIST);
  const { parameters } = listed.find(({ name }) => name === "Fixture_Echo");
  assert.equal(parameters.order.type, "object");
  for (const words of ["An order.", "lines (array of object with price (number, required", "At least 0", "Format: date"]) {
    assert.ok(parameters.order.description.includes(words), words);
  }
});

for (const [name, tool, parameters, result] of [
  ["a plain name", "Calculator_Add", { a: 10, b: 5 }, 15],
  ["a versioned name", "Calculator_Add__1_0_0", { a: 10, b: 5 }, 15],
  ["an id", "Calculator.Add", { a: 10, b: 5 }, 15],
  ["an id with its version", "Calculator.Add@1", { a: 10, b: 5 }, 15],
  ["an older version", "Text_Slugify__1_0_0", { text: "Crème" }, "cr-me"],
]) {
  test(`XB4 execute_tool by ${name} returns a ToolResult with the value`, async () => {
    const reply = await execute(tool, parameters);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers["cache-control"], "no-store");
    assert.deepEqual(reply.json, done(result));
  });
}

test("XB4 absent parameters are {}, and a tool without a value returns null", async () => {
  assert.deepEqual((await execute("Fixture_Silent", undefined, { worker: workers.fixtures })).json, done(null));
});

for (const [name, tool] of [
  ["an unknown name", "shout"],
  ["no name at all", ""],
  ["an unknown id", "Text.Shout"],
  ["an unknown version", "Calculator.Add@7.0.0"],
  ["a versioned name of no version", "Calculator_Add__7_0_0"],
]) {
  test(`XB5 ${name} is not found, and the error lists the available tools`, async () => {
    const names = (await workers.booth.get(LIST)).json.map(({ name }) => `'${name}'`);
    const reply = await execute(tool, {});
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.json, failed(`Tool '${tool}' not found. Available tools: [${names.sort().join(", ")}]`));
  });
}

test("XB5 a very long name is truncated in the error", async () => {
  const { error } = (await execute("x".repeat(5000), {})).json;
  assert.match(error, /^Tool 'x{64}…' not found\. /);
});

for (const [parameters, faults] of [
  [{ a: 1 }, ["b: Is required"]],
  [{ a: "x", b: 1 }, ["a: Must be a number"]],
  [{ a: 1, b: 2, c: 3 }, ["c: Is not a known parameter"]],
  [{ a: null }, ["b: Is required", "a: Must be a number"]],
]) {
  test(`XB6 the parameters ${JSON.stringify(parameters)} are invalid: ${faults.join(", ")}`, async () => {
    const reply = await execute("Calculator_Add", parameters);
    assert.equal(reply.status, 200);
    const { success, result, error } = reply.json;
    assert.deepEqual([success, result], [false, null]);
    assert.ok(error.startsWith("Invalid tool parameters: "), error);
    assert.deepEqual(error.slice("Invalid tool parameters: ".length).split("; ").sort(), [...faults].sort());
  });
}

test("XB7 the error of a failing tool has its hints, but nothing meant for a log", async () => {
  const reply = await execute("Doorbell_Ring", { doorbell_id: "doorbell1" });
  assert.equal(reply.status, 200);
  const error = "Tool execution failed: Doorbell ID not found. ids: doorbell42,doorbell84. Try again after 500 ms.";
  assert.deepEqual(reply.json, failed(error));
});

test("XB7 a tool whose value breaks its schema has failed", async () => {
  const reply = await execute("Fixture_BadOutput", {}, { worker: workers.fixtures });
  assert.deepEqual(reply.json, failed("Tool execution failed: The tool failed."));
});

test("XB7 a tool that crashes the server is a 500, and the next call is served", async () => {
  const worker = await start(FIXTURES);
  try {
    assert.equal((await execute("Fixture_Panic", {}, { worker })).status, 500);
    assert.deepEqual((await execute("Fixture_Silent", {}, { worker })).json, done(null));
  } finally {
    await worker.close();
  }
});

const CONTEXT = {
  user_id: `${CANARY}-user`,
  authorization: [{ id: "mail", token: `${CANARY}-token` }],
  secrets: [{ id: "KEY", value: `${CANARY}-secret` }],
};

test("XB8 what a tool requires is sent in context", async () => {
  const worker = workers.fixtures;
  const lacks = 'context.authorization with id "mail", context.secrets with id "KEY", context.user_id';
  const without = await execute("Fixture_Private", {}, { worker });
  assert.deepEqual(without.json, failed(`Tool execution failed: the call lacks ${lacks}`));
  const partly = await execute("Fixture_Private", {}, { worker, context: { ...CONTEXT, user_id: "" } });
  assert.deepEqual(partly.json, failed("Tool execution failed: the call lacks context.user_id"));
  const { json } = await execute("Fixture_Private", {}, { worker, context: CONTEXT });
  assert.deepEqual(json, done({ user_id: `${CANARY}-user`, token: `${CANARY}-token`, secret: `${CANARY}-secret` }));
});

test("XB9 tools outside the allowlist are neither listed nor named nor run", async () => {
  const worker = workers.allowing;
  assert.deepEqual((await worker.get(LIST)).json.map(({ name }) => name), ["Calculator_Add"]);
  const available = "Available tools: ['Calculator_Add']";
  for (const [tool, error] of [
    ["Doorbell_Ring", `Tool 'Doorbell_Ring' may not be called. ${available}`],
    ["Text_Slugify", `Tool 'Text_Slugify' may not be called. ${available}`],
    ["shout", `Tool 'shout' not found. ${available}`],
  ]) {
    assert.deepEqual((await execute(tool, {}, { worker })).json, failed(error));
  }
  assert.equal((await execute("Text.Slugify@1.0.0", { text: "a" }, { worker })).json.success, true);
});

const CALL = '{"tool_name":"Calculator_Add","parameters":{"a":1,"b":2}}';
const JSON_TYPE = { "content-type": "application/json" };
const fields = "the fields are tool_name, parameters and context";
for (const [name, method, path, { headers = JSON_TYPE, body }, status, error] of [
  ["another address", "GET", "/xaibo", {}, 404, "There is nothing at this address; Xaibo's are GET /tools and POST /execute"],
  ["no health", "GET", "/xaibo/health", {}, 404, "There is nothing at this address; Xaibo's are GET /tools and POST /execute"],
  ["another method for the list", "POST", LIST, { body: CALL }, 405, "This address does not take this method; it takes GET, HEAD, OPTIONS"],
  ["another method for calls", "GET", EXECUTE, {}, 405, "This address does not take this method; it takes POST, OPTIONS"],
  ["a body that is too large", "POST", EXECUTE, { body: " ".repeat(300000) }, 413, "The request is too large; it may have at most 262144 bytes"],
  ["a body that is not declared as JSON", "POST", EXECUTE, { headers: {}, body: CALL }, 415, "The request is not JSON; send the header Content-Type: application/json"],
  ["no body", "POST", EXECUTE, { body: "" }, 400, /^The request is malformed: it is not valid JSON: /],
  ["half a body", "POST", EXECUTE, { body: CALL.slice(0, 20) }, 400, /^The request is malformed: it is not valid JSON: /],
  ["an array", "POST", EXECUTE, { body: "[]" }, 400, "The request is malformed: the body must be an object with tool_name and parameters"],
  ["no tool_name", "POST", EXECUTE, { body: "{}" }, 400, "The request is malformed: tool_name is missing; it must be a string"],
  ["a tool_name that is not a string", "POST", EXECUTE, { body: '{"tool_name":1}' }, 400, "The request is malformed: tool_name must be a string"],
  ["parameters that are not an object", "POST", EXECUTE, { body: '{"tool_name":"a","parameters":[1]}' }, 400, "The request is malformed: parameters must be an object"],
  ["a context that is not an object", "POST", EXECUTE, { body: '{"tool_name":"a","context":1}' }, 400, "The request is malformed: context must be an object"],
  ["an unknown field", "POST", EXECUTE, { body: '{"tool_name":"a","arguments":{}}' }, 400, `The request is malformed: "arguments" is not a field; ${fields}`],
]) {
  test(`XB10 ${name}: ${status} with a ToolResult`, async () => {
    const reply = await workers.booth.request(method, path, { headers, body });
    assert.equal(reply.status, status);
    if (typeof error === "string") assert.deepEqual(reply.json, failed(error));
    else assert.match(reply.json.error, error);
  });
}

test("XB10 a server that is not ready: 503 with a ToolResult, and still a list", async () => {
  const reply = await workers.broken.post(CALL, { path: EXECUTE });
  assert.equal(reply.status, 503);
  assert.match(reply.json.error, /^The tool server is temporarily unavailable: /);
  assert.equal((await workers.broken.get(LIST)).status, 200);
});

test("XB11 the list has its own entity tag", async () => {
  const { headers: { etag, ...headers } } = await workers.booth.get(LIST);
  assert.equal(headers["cache-control"], "no-cache");
  assert.notEqual(etag, (await workers.booth.get("/oxp/tools")).headers.etag);
  assert.equal((await workers.booth.get(LIST, { "if-none-match": etag })).status, 304);
  assert.equal((await workers.booth.get(LIST, { "if-none-match": '"other"' })).status, 200);
  const head = await workers.booth.request("HEAD", LIST);
  assert.deepEqual([head.status, head.text, head.headers.etag], [200, "", etag]);
  assert.notEqual((await workers.allowing.get(LIST)).headers.etag, etag, "the allowlist changes the list");
});

for (const [path, allow] of [[LIST, "GET, HEAD, OPTIONS"], [EXECUTE, "POST, OPTIONS"]]) {
  test(`OPTIONS ${path} allows ${allow}`, async () => {
    const reply = await workers.booth.request("OPTIONS", path);
    assert.deepEqual([reply.status, reply.headers.allow], [204, allow]);
    const preflight = { origin: "https://a.example", "access-control-request-method": "POST" };
    assert.equal((await workers.booth.request("OPTIONS", path, { headers: preflight })).status, 403);
  });
}
