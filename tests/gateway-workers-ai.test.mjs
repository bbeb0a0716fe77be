// Chats with Workers AI: a stand-in under the name of its binding answers in both formats that its models have.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { authorization, KEY } from "./support/gateway/worker.mjs";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { SAMPLES, start } from "./support/worker.mjs";

/** Like the binding: `run(model, input, options)` resolves to the response as it arrives. It says which input it got. */
const STAND_IN = `
const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
const sse = (events) => new Response([...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => "data: " + data + "\\n\\n").join(""), { headers: { "content-type": "text/event-stream" } });
const AI = {
  models: async ({ task }) => [{ id: "a-uuid", name: "@cf/old", task: { name: task } }],
  async run(model, input, { returnRawResponse }) {
    if (!returnRawResponse) throw new Error("the response would be parsed");
    if (model === "@cf/busy") return Response.json({ errors: [{ message: "Capacity temporarily exceeded", code: 3040 }] }, { status: 429 });
    const text = JSON.stringify({ model, members: Object.keys(input).sort() });
    if (model === "@cf/old") return input.stream
      ? sse([{ response: text, p: "x" }, { response: "", usage }])
      : Response.json({ response: text, tool_calls: [{ name: "look", arguments: { at: "sky" } }], usage });
    const message = { role: "assistant", content: text };
    return input.stream
      ? sse([{ choices: [{ index: 0, delta: message, finish_reason: null }] }, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, { choices: [], usage }])
      : Response.json({ id: "c1", object: "chat.completion", created: 1, model, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
  },
};
export default { fetch: (request, env, context) => Worker.fetch(request, { ...env, AI }, context) };`;

let worker, client;
const vars = { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(KEY, "tests", ["*"])]) };
const bound = { vars, around: STAND_IN };
before(async () => {
  worker = await start(SAMPLES, bound);
  client = new OpenAI({ baseURL: `${worker.address}/v1`, apiKey: KEY, maxRetries: 0 });
});
after(() => worker.close());

const tools = [{ type: "function", function: { name: "look", description: "Looks.", parameters: { type: "object" } } }];
const chat = (model, members = {}) => client.chat.completions.create({ model: `workers-ai/${model}`, messages: [{ role: "user", content: "Hi" }], ...members });

test("both formats of its models, whole and streamed", async () => {
  for (const model of ["@cf/old", "@cf/new/model"]) {
    const { choices: [{ message, finish_reason }], usage } = await chat(model, { tools });
    assert.deepEqual(JSON.parse(message.content), { model, members: ["messages", "tools"] });
    assert.equal(usage.total_tokens, 5);
    if (model === "@cf/old") {
      assert.equal(finish_reason, "tool_calls");
      assert.deepEqual(message.tool_calls.map((call) => call.function), [{ name: "look", arguments: '{"at":"sky"}' }]);
    }
    let text = "", last, counted;
    for await (const chunk of await chat(model, { stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? "";
      last = chunk.choices[0]?.finish_reason ?? last;
      counted = chunk.usage ?? counted;
    }
    assert.equal(JSON.parse(text).model, model);
    assert.deepEqual([last, counted.total_tokens], ["stop", 5]);
  }
});

test("its models are listed", async () => {
  const { data } = await client.models.list();
  assert.deepEqual(data.map(({ id }) => id), ["workers-ai/@cf/old"]);
});

test("an error of the service reaches the client", async () => {
  await assert.rejects(chat("@cf/busy"), { status: 429 });
});

test("there is no such provider without the binding, or if everyone may call", async () => {
  const body = { model: "workers-ai/@cf/old", messages: [{ role: "user", content: "Hi" }] };
  for (const options of [{ vars }, { ...bound, vars: { AUTH: "none", ANONYMOUS_SCOPES: "gateway" } }]) {
    const other = await start(SAMPLES, options);
    const { status, json } = await other.post(body, { path: "/v1/chat/completions", headers: options.vars.API_KEYS && { authorization } });
    await other.close();
    assert.deepEqual([status, json.error.code], [503, "gateway_not_configured"]);
  }
});
