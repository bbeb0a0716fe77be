// The chat gateway runs compiled-in tools if a request asks for them. The stand-ins reject histories that a provider would
// reject, such as calls without their signatures.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Gateway, result, user, WEATHER } from "./support/gateway/ask.mjs";
import { FRONTS } from "./support/gateway/fronts/index.mjs";
import { startGateway } from "./support/gateway/worker.mjs";

const PROVIDERS = ["openai", "anthropic", "gemini", "gemini-2.5"];
const STATE_KEY = Buffer.alloc(32, 7).toString("base64");
const add = (a, b) => ({ name: "Calculator_Add", input: { a, b } });
const ROME = { name: "weather", input: { city: "canary-Rome" } };
const OWN = { type: "toolbooth", allowed: ["Calculator.*", "Text.*"], require_approval: "never" };

let served, upstream, gateway;
before(async () => {
  served = await startGateway({ vars: { STATE_KEY } });
  upstream = served.upstream;
  gateway = new Gateway(upstream, served.send);
});
after(() => served.close());

const script = (provider, ...turns) => gateway.script(provider, ...turns.map(({ thinking, ...turn }) => (provider === "openai" ? turn : { ...turn, ...(thinking && { thinking }) })));
const accepted = (provider) => assert.deepEqual(gateway.at(provider).rejections, []);

for (const provider of PROVIDERS) {
  for (const streamed of [false, true]) {
    const how = streamed ? ", streamed" : "";

    test(`${provider}: two rounds with parallel calls${how}`, async () => {
      script(provider, { thinking: "Sums.", text: "Let me add.", calls: [add(1, 2), add(3, 4)] }, { thinking: "More.", calls: [add(3, 7)] }, { text: "Ten." });
      const { message, calls, finish, _2api } = await gateway.either(streamed, provider, { tools: [OWN] });
      accepted(provider);
      assert.equal(message.content, "Let me add.\n\nTen.");
      assert.deepEqual([calls, finish], [[], "stop"]);
      assert.equal(_2api.rounds, 3);
      assert.deepEqual(_2api.tool_calls.map(({ tool, error }) => [tool, error]), Array.from({ length: 3 }, () => ["Calculator_Add", undefined]));
      assert.deepEqual([_2api.usage.rounds, _2api.usage.tool_calls], [3, 3]);
      assert.equal(_2api.usage.output_tokens % 5, provider === "openai" || provider === "anthropic" ? 0 : _2api.usage.output_tokens % 5);
      assert.ok(_2api.usage.output_tokens >= 15, "usage is that of all rounds");
      assert.equal(gateway.at(provider).journal.length, 3);
    });

    test(`${provider}: the client's calls come back with a state, and the loop goes on with their results${how}`, async () => {
      const tools = [OWN, WEATHER];
      script(provider, { thinking: "Both.", calls: [add(1, 2), ROME] }, { text: "Three, and sunny." });
      const first = await gateway.either(streamed, provider, { tools });
      assert.deepEqual(first.calls.map(({ function: { name } }) => name), ["weather"]);
      assert.equal(first.finish, "tool_calls");
      assert.ok(first._2api.state);
      const answered = [user(), first.message, result(first.calls[0], "Sunny")];
      // A client that sends the message back unchanged, and one that keeps the state itself.
      const plain = { role: "assistant", content: null, tool_calls: first.calls.map(({ id, type, function: f }) => ({ id, type, function: f })) };
      for (const [messages, more] of [[answered, {}], [[user(), plain, result(first.calls[0], "Sunny")], { _2api: { state: first._2api.state } }]]) {
        script(provider, { text: "Three, and sunny." });
        const second = await gateway.either(streamed, provider, { tools, messages, ...more });
        assert.equal(second.message.content, "Three, and sunny.");
        assert.match(JSON.stringify(gateway.arrived(provider)), /Calculator_Add.*Sunny|Sunny.*Calculator_Add/);
      }
    });
  }

  test(`${provider}: errors of tools go to the model, which can retry`, async () => {
    script(provider, { calls: [{ name: "Calculator_Add", input: { a: 1 } }] }, { calls: [add(1, 1)] }, { text: "Two." });
    const { message, _2api } = await gateway.either(false, provider, { tools: [OWN] });
    assert.equal(message.content, "Two.");
    assert.match(_2api.tool_calls[0].error, /^Error: Invalid arguments for tool .Calculator_Add./);
    assert.equal(_2api.tool_calls[1].error, undefined);
    accepted(provider);
  });

  test(`${provider}: a forcing tool_choice holds for the first round`, async () => {
    script(provider, { calls: [add(1, 1)] }, { text: "Two." });
    const { message } = await gateway.either(false, provider, { tools: [OWN], tool_choice: "required" });
    assert.equal(message.content, "Two.");
    const [first, second] = gateway.at(provider).journal.map(({ body }) => JSON.stringify(body.tool_choice ?? body.toolConfig ?? null));
    assert.match(first, /required|any|ANY/);
    assert.doesNotMatch(second, /required|any|ANY/);
  });
}

for (const front of Object.values(FRONTS)) {
  for (const provider of ["openai", "anthropic", "gemini", "responses"]) {
    test(`${front.name} to ${provider}: the model finds a tool whose definition it has not got, and calls it`, async () => {
      const asked = new Gateway(upstream, served.send, front);
      const found = { name: "call_tool", input: { name: "Calculator_Add", arguments: { a: 17, b: 25 } } };
      asked.script(provider, { calls: [{ name: "search_tools", input: { query: "add two numbers" } }] }, { calls: [found] }, { text: "It is 42." });
      const { message, finish, _2api } = await asked.either(true, provider, front.compiledIn(["Calculator.Add", "Text.Slugify"], true));
      assert.deepEqual(asked.at(provider).rejections, []);
      assert.equal(finish, "stop");
      assert.match(message.content, /It is 42\.$/);
      assert.deepEqual(_2api.tool_calls.map(({ tool, error }) => [tool, error]), [["search_tools", undefined], ["Calculator_Add", undefined]]);
      const [first, second, third] = asked.at(provider).journal.map(({ body }) => JSON.stringify(body));
      assert.match(first, /search_tools.*call_tool/);
      assert.doesNotMatch(first, /Calculator_Add/);
      for (const part of [/Calculator_Add/, /inputSchema/]) assert.match(second, part);
      assert.match(third, /42/);
    });
  }
}

test("malformed arguments go back to the model as an error", async () => {
  script("openai", { calls: [{ name: "Calculator_Add", text: '{"a":1,' }] }, { text: "Sorry." });
  const { _2api } = await gateway.either(false, "openai", { tools: [OWN] });
  assert.match(_2api.tool_calls[0].error, /Invalid JSON/);
});

test("max_rounds ends the loop", async () => {
  for (const streamed of [false, true]) {
    script("openai", ...Array.from({ length: 5 }, (_, at) => ({ calls: [add(at, 1)] })));
    const { finish, calls, _2api } = await gateway.either(streamed, "openai", { tools: [OWN], request_options: { max_rounds: 2 } });
    assert.deepEqual([finish, calls, _2api.rounds], ["length", [], 2]);
    assert.match(_2api.warnings.join(), /max_rounds/);
  }
});

test("the same calls again end the loop", async () => {
  script("openai", { calls: [add(1, 1)] });
  const { finish, _2api } = await gateway.either(false, "openai", { tools: [OWN] });
  assert.deepEqual([finish, _2api.rounds], ["stop", 2]);
  assert.match(_2api.warnings.join(), /repeated/);
});

test("the budget of subrequests ends the loop with an error", async () => {
  const small = await startGateway({ upstream, vars: { GATEWAY_MAX_SUBREQUESTS: "3" } });
  try {
    script("openai", ...Array.from({ length: 5 }, (_, at) => ({ calls: [add(at, 1)] })));
    const { status, json } = await new Gateway(upstream, small.send).chat("openai", { tools: [OWN] });
    assert.deepEqual([status, json.error.code], [502, "subrequest_budget_exceeded"]);
    assert.equal(upstream.openai.journal.length, 2);
  } finally {
    await small.worker.close();
  }
});

test("a state that this server has not sealed for the caller is rejected", async () => {
  script("openai", { calls: [add(1, 2), ROME] });
  const { message, calls, _2api } = await gateway.either(false, "openai", { tools: [OWN, WEATHER] });
  const ask = (state, to = gateway) => {
    const plain = { role: "assistant", content: null, tool_calls: calls.map(({ id, type, function: f }) => ({ id, type, function: f })) };
    return to.chat("openai", { tools: [OWN, WEATHER], messages: [user(), plain, result(calls[0], "Sunny")], _2api: { state } });
  };
  assert.ok(message.tool_calls.length === 1);
  upstream.openai.script({ text: "Done" });
  assert.equal((await ask(`${_2api.state.slice(0, -4)}AAAA`)).status, 400);
  assert.equal((await ask("x")).status, 400);
  assert.equal(upstream.openai.journal.length, 0);
  const other = await startGateway({ upstream, vars: { STATE_KEY: Buffer.alloc(32, 8).toString("base64") } });
  try {
    assert.equal((await ask(_2api.state, new Gateway(upstream, other.send))).status, 400);
  } finally {
    await other.worker.close();
  }
});

test("which tools a request may select", async () => {
  for (const [entry, status] of [
    [{ type: "toolbooth" }, 200],
    [{ type: "toolbooth", allowed: ["Calculator.Add"] }, 200],
    [{ type: "mcp", server_url: "toolbooth", server_label: "toolbooth", require_approval: "never" }, 200],
    [{ type: "toolbooth", allowed: [] }, 400],
    [{ type: "toolbooth", allowed: ["Nobody.*"] }, 400],
    [{ type: "toolbooth", require_approval: "sometimes" }, 400],
    [{ type: "toolbooth", require_approvals: "always" }, 400],
  ]) {
    upstream.openai.script({ text: "Done" });
    const { status: got, text } = await gateway.chat("openai", { tools: [entry] });
    assert.equal(got, status, `${JSON.stringify(entry)} ${text}`);
  }
  // The key lacks the scope of the tools.
  const narrow = await startGateway({ upstream, entry: { scopes: ["gateway"] } });
  try {
    upstream.openai.script({ text: "Done" });
    const { status } = await new Gateway(upstream, narrow.send).chat("openai", { tools: [{ type: "toolbooth", allowed: ["GitHub.*"] }] });
    assert.equal(status, 400);
    assert.equal(upstream.openai.journal.length, 0);
  } finally {
    await narrow.worker.close();
  }
});

test("calls that need approval go to the client", async () => {
  upstream.openai.script({ calls: [add(1, 2)] });
  const { calls, finish, _2api } = await gateway.either(false, "openai", { tools: [{ ...OWN, require_approval: "always" }] });
  assert.deepEqual([calls.length, finish, _2api.tool_calls], [1, "tool_calls", undefined]);
});
