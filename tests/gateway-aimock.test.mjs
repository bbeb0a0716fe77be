// The chat gateway in front of a mock of the providers that nobody here wrote: npm @copilotkit/aimock.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { Gateway, result, user, WEATHER } from "./support/gateway/ask.mjs";
import { startGateway } from "./support/gateway/worker.mjs";

const PROVIDERS = ["openai", "anthropic", "gemini-2.5"];
const tools = [WEATHER];

let mock, served, gateway;
before(async () => {
  mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  await mock.start();
  const stand = (key) => ({ base: mock.url, key });
  const upstream = { openai: stand("sk-canary-openai"), anthropic: stand("sk-ant-canary"), gemini: stand("canary-gemini") };
  served = await startGateway({ upstream });
  gateway = new Gateway(upstream, served.send);
});
after(async () => {
  await served.worker.close();
  await mock.stop();
});
beforeEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
});

const calls = [{ name: "weather", arguments: '{"city":"Rome"}' }, { name: "weather", arguments: '{"city":"Oslo"}' }];

for (const provider of PROVIDERS) {
  for (const streamed of [false, true]) {
    const how = streamed ? ", streamed" : "";

    test(`${provider}: a text${how}`, async () => {
      mock.onMessage("hello", { content: "Größe: 22 °C" });
      const { message, finish } = await gateway.either(streamed, provider, { messages: [user("hello")] });
      assert.deepEqual([message.content, finish], ["Größe: 22 °C", "stop"]);
    });

    test(`${provider}: parallel calls, their results, and the answer${how}`, async () => {
      mock.on({ userMessage: "weather", hasToolResult: false }, { toolCalls: calls });
      mock.on({ userMessage: "weather", hasToolResult: true }, { content: "Sunny" });
      const first = await gateway.either(streamed, provider, { tools, messages: [user("weather")] });
      assert.deepEqual(first.calls.map(({ function: { arguments: text } }) => JSON.parse(text)), [{ city: "Rome" }, { city: "Oslo" }]);
      assert.equal(first.finish, "tool_calls");
      const messages = [user("weather"), first.message, ...first.calls.map((call) => result(call, "Sunny"))];
      const { message } = await gateway.either(streamed, provider, { tools, messages });
      assert.equal(message.content, "Sunny");
      assert.equal(mock.getRequests().length, 2);
    });
  }

  test(`${provider}: an error`, async () => {
    mock.onMessage("hello", { error: { message: "Slow down", type: "rate_limit_error" }, status: 429 });
    const { status, json } = await gateway.chat(provider, { messages: [user("hello")] });
    assert.deepEqual([status, json.error.code], [429, "rate_limited"]);
  });

  test(`${provider}: a stream that breaks off`, async () => {
    mock.on({ userMessage: "hello" }, { content: "A long answer that is cut in the middle of it all." }, { truncateAfterChunks: 2, chunkSize: 5 });
    const { errors, finishes, done } = await gateway.stream(provider, { messages: [user("hello")] });
    assert.equal(errors.length, 1);
    assert.deepEqual([finishes, Boolean(done)], [[], false]);
  });
}
