// OpenAI Responses with OpenAI's own SDK, in front of the stand-ins of each provider: what the SDK reads, whole and streamed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { KEY, model, startGateway } from "./support/gateway/worker.mjs";

const STATE_KEY = Buffer.alloc(32, 7).toString("base64");
const PROVIDERS = ["openai", "anthropic", "gemini"];
const WEATHER = { type: "function", name: "weather", description: "The weather.", strict: false, parameters: { type: "object", properties: { city: { type: "string" } } } };
const PATCH = { type: "custom", name: "apply_patch", description: "Patches files.", format: { type: "grammar", syntax: "lark", definition: 'start: "x"' } };
const FILES = { type: "namespace", name: "files", description: "Files.", tools: [{ ...WEATHER, name: "read" }] };
const OWN = { type: "mcp", server_label: "own", server_url: "toolbooth", allowed_tools: ["Calculator.*"], require_approval: "never" };

let served, client;
before(async () => {
  served = await startGateway({ vars: { STATE_KEY } });
  client = new OpenAI({ apiKey: KEY, baseURL: `${served.address}/v1`, maxRetries: 0 });
});
after(() => served.close());

const types = ({ output }) => output.map(({ type }) => type).filter((type) => type !== "reasoning");

for (const provider of PROVIDERS) {
  const script = (...turns) => served.upstream[provider].script(...turns);
  for (const stream of [false, true]) {
    const how = `${provider}${stream ? ", streamed" : ""}`;
    /** The response, which the SDK puts together from the events of a stream. */
    const ask = async (body) => {
      const request = { model: model(provider), input: "What is the weather?", store: false, ...body };
      if (!stream) return client.responses.create(request);
      const events = client.responses.stream(request);
      let number = 0;
      for await (const { sequence_number } of events) assert.equal(sequence_number, number++);
      return events.finalResponse();
    };

    test(`${how}: a text`, async () => {
      script({ text: "Sunny" });
      const response = await ask();
      assert.equal(response.output_text, "Sunny");
      assert.equal(response.status, "completed");
      assert.ok(response.usage.total_tokens > 0);
      assert.ok(response._2api.provider);
    });

    test(`${how}: calls of functions, custom tools and namespaces, and their results`, async () => {
      script({ calls: [{ name: "weather", input: { city: "Rome" } }] }, { text: "22 °C" });
      const tools = [WEATHER, PATCH, FILES];
      const first = await ask({ tools });
      const call = first.output.find(({ type }) => type === "function_call");
      assert.deepEqual([call.name, JSON.parse(call.arguments)], ["weather", { city: "Rome" }]);
      const result = { type: "function_call_output", call_id: call.call_id, output: "22" };
      // The SDK adds what it has parsed.
      const items = first.output.map(({ parsed_arguments: _, ...item }) => item);
      const second = await ask({ tools, input: [{ role: "user", content: "The weather?" }, ...items, result] });
      assert.equal(second.output_text, "22 °C");
    });

    test(`${how}: a custom tool and one of a namespace come back as such`, async () => {
      // To other providers, a custom tool is a function, and a namespace is a part of the name.
      const calls = {
        openai: [{ name: "apply_patch", text: "*** x" }, { name: "read", namespace: "files", input: { city: "a" } }],
        others: [{ name: "apply_patch", input: { input: "*** x" } }, { name: "files__read", input: { city: "a" } }],
      };
      script({ calls: calls[provider] ?? calls.others });
      const { output } = await ask({ tools: [PATCH, FILES] });
      const [patch, read] = output.filter(({ type }) => type !== "reasoning");
      assert.deepEqual([patch.type, patch.name, patch.input], ["custom_tool_call", "apply_patch", "*** x"]);
      assert.deepEqual([read.type, read.namespace, read.name, read.arguments], ["function_call", "files", "read", '{"city":"a"}']);
    });

    test(`${how}: compiled-in tools`, async () => {
      script({ calls: [{ name: "Calculator_Add", input: { a: 17, b: 25 } }] }, { text: "It is 42." });
      const response = await ask({ tools: [OWN] });
      assert.deepEqual(types(response), ["mcp_list_tools", "mcp_call", "message"]);
      const call = response.output.find(({ type }) => type === "mcp_call");
      assert.match(call.output, /42/);
    });
  }

  test(`${provider}: an error before the answer, and one within it`, async () => {
    script({ status: 429, message: "slow down" });
    await assert.rejects(client.responses.create({ model: model(provider), input: "hi" }), { status: 429, code: "rate_limited" });
    script({ text: ["a", "b", "c", "d"], end: { openai: 6, anthropic: 4, gemini: 2 }[provider] });
    const events = await client.responses.create({ model: model(provider), input: "hi", stream: true });
    const seen = [];
    for await (const event of events) seen.push(event);
    assert.equal(seen.at(-1).type, "response.failed");
    assert.equal(seen.at(-1).response.error.code, "server_error");
  });
}

test("what needs a store is rejected with the way out", async () => {
  const request = { model: model("openai"), input: "hi", previous_response_id: "resp_1" };
  await assert.rejects(client.responses.create(request), ({ status, param, message }) => status === 400 && param === "previous_response_id" && /store: false/.test(message));
});
