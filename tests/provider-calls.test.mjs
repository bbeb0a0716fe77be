// The calls of model providers over HTTP: what is posted, and the results to append. The tables of edge
// cases are native (crates/toolbooth/src/protocol/providers/call/tests); this file has what needs the real
// runtime and the real tools. Every reply is checked against the contract.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openMeteo } from "./support/open-meteo.mjs";
import { BOOTH, CANARY, FIXTURES, start } from "./support/worker.mjs";

const PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini"];
const JSON_TYPE = { "content-type": "application/json" };

let booth, fixtures, limited, broken, weather;
before(async () => {
  weather = await openMeteo();
  [booth, fixtures, limited, broken] = await Promise.all([
    start(BOOTH, { vars: { WEATHER_FORECAST_URL: weather.base, WEATHER_GEOCODING_URL: weather.base } }),
    // Arguments longer than the longest result.
    start(FIXTURES, { vars: { MAX_ARGUMENT_BYTES: "100000" } }),
    start(BOOTH, {
      vars: {
        ALLOWED_ORIGINS: "https://a.example",
        TOOL_ALLOWLIST: "Calculator.*",
        MAX_TOOL_CALLS: "2",
        MAX_ARGUMENT_BYTES: "100",
        MAX_BODY_BYTES: "10000",
      },
    }),
    start(BOOTH, { vars: { MAX_TOOL_CALLS: "0" } }),
  ]);
});
after(() => Promise.all([booth, fixtures, limited, broken, weather].map((each) => each.close())));

/** A provider's list of calls: `[id, name, arguments]` each, the arguments as a value or, for OpenAI, as JSON text. */
function calls(provider, ...list) {
  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return list.map(([id, name, input]) => {
    switch (provider) {
      case "openai":
        return { id, type: "function", function: { name, arguments: text(input) } };
      case "openai-responses":
        return { type: "function_call", call_id: id, name, arguments: text(input) };
      case "anthropic":
        return { type: "tool_use", id, name, input };
      case "gemini":
        return { functionCall: { id, name, args: input } };
    }
  });
}

/** The results in a response: `[id, content]` each, an error as its text. */
function results(provider, { json }) {
  switch (provider) {
    case "openai":
      return json.messages.map(({ tool_call_id, content }) => [tool_call_id, content]);
    case "openai-responses":
      return json.input.map(({ call_id, output }) => [call_id, output]);
    case "anthropic":
      return json.messages.flatMap(({ content }) => content).map(({ tool_use_id, content }) => [tool_use_id, content]);
    case "gemini":
      return json.contents
        .flatMap(({ parts }) => parts)
        .map(({ functionResponse: { id, response } }) => [id, response.error ?? JSON.stringify(response.output)]);
  }
}

for (const provider of PROVIDERS) {
  const path = `/providers/${provider}/call`;
  const post = (worker, body, query = "") => worker.post(body, { path: path + query });

  test(`PC7 ${provider}: a call runs, and its result can be appended`, async () => {
    const reply = await post(booth, calls(provider, ["c1", "Calculator_Add", { a: 40, b: 2 }]));
    assert.equal(reply.status, 200);
    assert.equal(reply.headers["cache-control"], "no-store");
    assert.deepEqual(results(provider, reply), [["c1", "42"]]);
    assert.deepEqual(reply.json._toolbooth, {
      calls: [{ id: "c1", name: "Calculator_Add", success: true }],
      warnings: [],
    });
  });

  test(`PC10 ${provider}: twenty calls run concurrently and are returned in order`, async () => {
    const list = Array.from({ length: 20 }, (_, n) =>
      n % 2 ? [`c${n}`, "Calculator_Add", { a: n, b: 0 }] : [`c${n}`, "Weather_Current", { city: "Berlin" }],
    );
    const reply = await post(booth, calls(provider, ...list));
    const got = results(provider, reply);
    assert.deepEqual(got.map(([id]) => id), list.map(([id]) => id));
    for (const [n, [, content]] of got.entries()) {
      assert.match(content, n % 2 ? new RegExp(`^${n}$`) : /Berlin/);
    }
  });

  test(`PC10 PC16 ${provider}: a failed call is reported to the model, and the others run`, async () => {
    const list = [
      ["c1", "Doorbell_Ring", { doorbell_id: "doorbell1" }],
      ["c2", "No_Such_Tool", {}],
      ["c3", "Calculator_Add", { a: 1, b: CANARY }],
      ["c4", "Calculator_Add", { a: 1, b: 1 }],
    ];
    const [[, ring], unknown, wrong, good] = results(provider, await post(booth, calls(provider, ...list)));
    assert.equal(ring, "Error: Doorbell ID not found\nids: doorbell42,doorbell84\nPlease retry after 500 ms.");
    assert.deepEqual(unknown, ["c2", "Error: Tool 'No_Such_Tool' is not available. There is no such tool."]);
    assert.deepEqual(wrong, ["c3", "Error: Invalid arguments for tool 'Calculator_Add'. b: Must be a number. Please retry."]);
    assert.deepEqual(good, ["c4", "2"]);
  });

  test(`PC15 ${provider}: a tool that returns nothing is reported as executed`, async () => {
    const reply = await post(fixtures, calls(provider, ["c1", "Fixture_Silent", {}]));
    const expected = "Tool executed, no output";
    assert.deepEqual(results(provider, reply), [["c1", provider === "gemini" ? JSON.stringify(expected) : expected]]);
  });

  test(`PC15 ${provider}: structured values are JSON`, async () => {
    const order = { lines: [{ price: 1.5 }] };
    const reply = await post(fixtures, calls(provider, ["c1", "Fixture_Echo", { order }]));
    assert.deepEqual(JSON.parse(results(provider, reply)[0][1]), { order });
  });

  test(`PC17 ${provider}: a result beyond 64 KiB is truncated with a notice`, async () => {
    const any = { text: "é".repeat(20000), more: "x".repeat(30000) };
    const reply = await post(fixtures, calls(provider, ["c1", "Fixture_Echo", { any }]));
    const [[, content]] = results(provider, reply);
    const text = provider === "gemini" ? JSON.parse(content) : content;
    assert.ok(text.endsWith("\n\n[Truncated: Result exceeded 64KB limit]"), text.slice(-100));
    assert.ok(Buffer.byteLength(text) <= 60100);
  });

  test(`PC21 ${provider}: the result lists requirements, which this form cannot carry`, async () => {
    const reply = await post(fixtures, calls(provider, ["c1", "Fixture_Private", {}]));
    const [[, content]] = results(provider, reply);
    assert.match(content, /^Error: Tool 'Fixture_Private' is not available\. The call lacks .*mail.*KEY.*user id\.$/);
  });

  test(`PC11 PC12 PC13 ${provider}: the operator's limits`, async () => {
    const small = calls(provider, ["c1", "Calculator_Add", { a: 1, b: 1 }], ["c2", "Doorbell_Ring", {}]);
    assert.deepEqual(results(provider, await post(limited, small)), [
      ["c1", "2"],
      ["c2", "Error: Tool 'Doorbell_Ring' is not available. Permission denied."],
    ]);
    const large = calls(provider, ["c1", "Calculator_Add", { a: 1, b: "x".repeat(100) }]);
    const [[, content]] = results(provider, await post(limited, large));
    assert.equal(content, "Error: The arguments have 114 bytes of JSON; at most 100 are taken.");
    const many = await post(limited, [...small, ...small]);
    assert.equal(many.status, 400);
    assert.equal(many.json.error.code, "too_many_tool_calls");
  });

  test(`PC14 ${provider}: with validate_tool_arguments nothing runs if any arguments are invalid`, async () => {
    const body = calls(provider, ["c1", "Weather_Current", { city: "Berlin" }], ["c2", "Calculator_Add", { a: CANARY }]);
    const before = weather.requests.length;
    const reply = await post(booth, body, "?validate_tool_arguments=true");
    assert.equal(reply.status, 400);
    assert.deepEqual(reply.json.error, {
      code: "invalid_tool_arguments",
      message: "No call ran, for arguments are invalid. c2 (Calculator_Add): b: Is required; a: Must be a number",
      type: "invalid_request_error",
    });
    assert.equal(weather.requests.length, before);
    const good = await post(booth, body.slice(0, 1), "?validate_tool_arguments=true");
    assert.equal(good.json._toolbooth.calls[0].success, true);
  });

  test(`PC8 ${provider}: with unknown=leave calls of other tools are left to the client`, async () => {
    const body = calls(provider, ["c1", "my_own_tool", {}], ["c2", "Calculator_Add", { a: 1, b: 1 }]);
    const reply = await post(booth, body, "?unknown=leave");
    assert.deepEqual(results(provider, reply), [["c2", "2"]]);
    assert.match(reply.json._toolbooth.warnings.join(), /Client must execute tools and send results .*: my_own_tool$/);
  });

  test(`PC4 ${provider}: calls without ids get different ones`, async () => {
    const list = [undefined, undefined].map((id) => [id, "Calculator_Add", { a: 1, b: 1 }]);
    const { json } = await post(booth, calls(provider, ...list));
    const ids = json._toolbooth.calls.map(({ id }) => id);
    assert.match(ids[0], /^call_\d{13}_Calculator_Add$/);
    assert.equal(ids[1], `${ids[0]}_2`);
  });

  test(`${provider}: a response without calls is not an error`, async () => {
    const reply = await post(booth, []);
    assert.equal(reply.status, 200);
    assert.deepEqual(results(provider, reply), []);
    assert.deepEqual(reply.json._toolbooth, { calls: [], warnings: ["There are no tool calls to run"] });
  });

  for (const [name, body, headers, status, code] of [
    ["no answer of a model", '{"tool_id":"Calculator.Add"}', JSON_TYPE, 400, "invalid_request"],
    ["no JSON", "{", JSON_TYPE, 400, "invalid_json"],
    ["nothing", "", JSON_TYPE, 400, "invalid_json"],
    ["plain text", "[]", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    ["more than MAX_BODY_BYTES", "[]".padEnd(10001), JSON_TYPE, 413, "request_too_large"],
  ]) {
    test(`${provider}: ${name} is ${status} in the providers' form`, async () => {
      const reply = await limited.request("POST", path, { headers, body });
      assert.equal(reply.status, status);
      assert.equal(reply.json.error.code, code);
    });
  }

  test(`${provider}: other paths and methods`, async () => {
    assert.equal((await booth.request("POST", `${path}/`, { headers: JSON_TYPE, body: "[]" })).status, 404);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const reply = await booth.request(method, path);
      assert.equal(reply.status, 405);
      assert.equal(reply.headers.allow, "POST, OPTIONS");
    }
    const options = await booth.request("OPTIONS", path);
    assert.equal(options.status, 204);
    assert.equal(options.headers.allow, "POST, OPTIONS");
  });

  for (const [origin, status] of [["https://a.example", 204], ["https://b.example", 403]]) {
    test(`${provider}: a preflight of ${origin} is ${status}`, async () => {
      const headers = { origin, "access-control-request-method": "POST" };
      assert.equal((await limited.request("OPTIONS", path, { headers })).status, status);
    });
  }

  test(`${provider}: an invalid configuration is 503, because the model cannot help`, async () => {
    const reply = await post(broken, calls(provider, ["c1", "Calculator_Add", { a: 1, b: 1 }]));
    assert.equal(reply.status, 503);
    assert.equal(reply.json.error.type, "server_error");
  });

  test(`PC10 ${provider}: a tool that crashes takes down the other calls, and the next request is served`, async () => {
    const good = ["c1", "Fixture_Silent", {}];
    for (const crash of ["Fixture_Panic", "Fixture_LatePanic"]) {
      const reply = await post(fixtures, calls(provider, good, ["c2", crash, {}], ["c3", "Fixture_Silent", {}]));
      assert.equal(reply.status, 500);
      assert.equal(reply.json.error.code, "server_error");
      assert.equal((await post(fixtures, calls(provider, good))).status, 200);
    }
  });

  for (const [query, says] of [
    ["?validate_tool_argument=true", /^"validate_tool_argument" is not a parameter; the parameters are validate_tool_arguments, unknown$/],
    ["?unknown=leave&unknown=leave", /^unknown is there more than once$/],
    ["?unknown=skip", /^unknown must be leave or answer$/],
  ]) {
    test(`${provider}/call${query} is rejected, and nothing runs`, async () => {
      const reply = await post(booth, calls(provider, ["c1", "Calculator_Add", { a: 1, b: 1 }]), query);
      assert.deepEqual([reply.status, reply.json.error.code], [400, "invalid_request"]);
      assert.match(reply.json.error.message, says);
    });
  }
}

for (const provider of ["openai", "openai-responses"]) {
  test(`PC9 ${provider}: malformed arguments are reported with their location, without their text`, async () => {
    const body = calls(provider, ["c1", "Calculator_Add", `{"a": ${CANARY}`], ["c2", "Calculator_Add", '{"a":1,"b":2}']);
    const reply = await booth.post(body, { path: `/providers/${provider}/call` });
    const start = "Error: Invalid JSON in arguments. Please retry with valid JSON.";
    assert.deepEqual(results(provider, reply), [["c1", `${start} Found: expected value at line 1 column 7.`], ["c2", "3"]]);
    assert.ok(!reply.text.includes(CANARY));
  });
}

test("PC1 gemini: function calls outside parts may lack args", async () => {
  const reply = await booth.post([{ name: "Calculator_Add" }, { name: "Calculator_Add", args: { a: 1, b: 1 } }], {
    path: "/providers/gemini/call",
  });
  const lacking = "Error: Invalid arguments for tool 'Calculator_Add'. a: Is required; b: Is required. Please retry.";
  assert.deepEqual(results("gemini", reply).map(([, content]) => content), [lacking, "2"]);
});

test("null for an optional property counts as absent, with every provider", async () => {
  const input = { text: "Hello World", separator: null, max_length: null };
  const body = calls("anthropic", ["1", "Text_Slugify", input]);
  const reply = await booth.request("POST", "/providers/anthropic/call", { headers: JSON_TYPE, body: JSON.stringify(body) });
  assert.match(reply.json.messages[0].content[0].content, /hello-world/);
  assert.equal(reply.json.messages[0].content[0].is_error, false);
  const exact = await booth.call("Text.Slugify", input);
  assert.equal(exact.status, 422);
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "Text_Slugify", arguments: input } };
  const mcp = await booth.request("POST", "/mcp", { headers: JSON_TYPE, body: JSON.stringify(message) });
  assert.equal(mcp.json.result.isError, undefined);
  assert.match(mcp.json.result.content[0].text, /hello-world/);
});

test("a response as serialized by google-genai, with null for absent members", async () => {
  const call = { id: "1", args: { a: 1, b: 2 }, name: "Calculator_Add", partial_args: null, will_continue: null };
  const part = { function_call: call, text: null, thought: null, inline_data: null, function_response: null };
  const candidate = { content: { parts: [part], role: "model" }, finish_reason: "STOP", token_count: null };
  const body = JSON.stringify({ candidates: [candidate], prompt_feedback: null, usage_metadata: null });
  const reply = await booth.request("POST", "/providers/gemini/call", { headers: JSON_TYPE, body });
  assert.deepEqual(reply.json.contents[0].parts[0].functionResponse.response, { output: 3 });
});
