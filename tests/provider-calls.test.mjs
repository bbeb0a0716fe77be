// The calls of model providers with the real runtime and the real tools. The tables are native
// (protocol::providers::call::tests); every reply is checked against the contract.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openMeteo } from "./support/open-meteo.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini"];

let booth, limited, weather;
before(async () => {
  weather = await openMeteo();
  [booth, limited] = await Promise.all([
    start(SAMPLES, { vars: { WEATHER_FORECAST_URL: weather.base, WEATHER_GEOCODING_URL: weather.base } }),
    start(SAMPLES, { vars: { TOOL_ALLOWLIST: "Calculator.*", MAX_TOOL_CALLS: "2", MAX_ARGUMENT_BYTES: "100" } }),
  ]);
});
after(() => Promise.all([booth, limited, weather].map((each) => each.close())));

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

  test(`PC11 PC12 PC13 ${provider}: the operator's limits`, async () => {
    const small = calls(provider, ["c1", "Calculator_Add", { a: 1, b: 1 }], ["c2", "Doorbell_Ring", {}]);
    assert.deepEqual(results(provider, await post(limited, small)), [
      ["c1", "2"],
      ["c2", "Error: Tool 'Doorbell_Ring' is not available. Permission denied."],
    ]);
    const large = calls(provider, ["c1", "Calculator_Add", { a: 1, b: "x".repeat(100) }]);
    const [[, content]] = results(provider, await post(limited, large));
    assert.equal(content, "Error: The arguments have 114 bytes of JSON; the limit is 100.");
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
      message: "No call ran because arguments are invalid. c2 (Calculator_Add): b: Is required; a: Must be a number",
      type: "invalid_request_error",
    });
    assert.equal(weather.requests.length, before);
    const good = await post(booth, body.slice(0, 1), "?validate_tool_arguments=true");
    assert.equal(good.json._toolbooth.calls[0].success, true);
  });

  test(`PC4 ${provider}: calls without ids get different ones`, async () => {
    const list = [undefined, undefined].map((id) => [id, "Calculator_Add", { a: 1, b: 1 }]);
    const { json } = await post(booth, calls(provider, ...list));
    const ids = json._toolbooth.calls.map(({ id }) => id);
    assert.match(ids[0], /^call_\d{13}_Calculator_Add$/);
    assert.equal(ids[1], `${ids[0]}_2`);
  });
}
