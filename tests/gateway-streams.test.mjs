// Streams of the chat gateway on workerd: events are forwarded as they are and as they come, with backpressure, and a client
// that goes ends the request to the provider.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Gateway, user, WEATHER } from "./support/gateway/ask.mjs";
import { parse } from "./support/gateway/fronts/events.mjs";
import { startGateway } from "./support/gateway/worker.mjs";

const PROVIDERS = ["openai", "anthropic", "gemini"];
const tools = [WEATHER];
let served, upstream, gateway;
before(async () => {
  served = await startGateway();
  upstream = served.upstream;
  gateway = new Gateway(upstream, served.send);
});
after(() => served.close());

const body = { messages: [user()], stream: true };

test("a stream is an event stream that nobody buffers", async () => {
  for (const provider of PROVIDERS) {
    upstream[provider].script({ text: "Sunny" });
    const { headers } = await gateway.stream(provider);
    assert.match(headers.get("content-type"), /^text\/event-stream/);
    assert.match(headers.get("cache-control"), /no-(store|cache)/);
    assert.equal(headers.get("content-encoding"), null);
    assert.equal(headers.get("x-2api-provider"), provider === "gemini" ? "google" : provider);
  }
});

test("OpenAI's events are forwarded byte for byte, but for the one with the reason to stop", async () => {
  // Members that nobody knows, spaces and escapes survive.
  const chunk = (rest) => `data: {"id": "x",  "object":"chat.completion.chunk","created":1,"model":"m","new":{"a":1e2},"choices":[{"index":0,${rest}}]}\n\n`;
  const events = [chunk('"delta":{"role":"assistant","content":""},"finish_reason":null'), chunk('"delta":{"content":"S\\u00fc\\/d"},"finish_reason":null'), chunk('"delta":{},"finish_reason":"stop"'), "data: [DONE]\n\n"];
  upstream.openai.script({ raw: events.join(""), type: "text/event-stream" });
  const { text } = await gateway.stream("openai");
  assert.ok(text.startsWith(events[0] + events[1]), text);
  assert.ok(text.endsWith(events[3]));
  const [last] = parse(text.slice(events[0].length + events[1].length));
  const { _2api, ...rest } = JSON.parse(last.data);
  assert.deepEqual(rest, JSON.parse(events[2].slice(6)));
  assert.equal(_2api.provider, "openai");
});

for (const provider of PROVIDERS) {
  test(`${provider}: the first words arrive before the stream ends`, async () => {
    // Locally, the runtime only notices that a client has gone when it writes to it.
    upstream[provider].script({ text: Array.from({ length: 10_000 }, () => "Sunny. "), drip: 5 });
    const abort = new AbortController();
    const reply = await served.send(provider, body, abort.signal);
    const decoder = new TextDecoder();
    let text = "";
    for await (const part of reply.body) {
      text += decoder.decode(part, { stream: true });
      if (text.includes("Sunny")) break;
    }
    assert.match(text, /Sunny/);
    abort.abort();
    assert.equal(await upstream[provider].last.closed, "aborted", "the provider notices that the client has gone");
  });

  test(`${provider}: a slow client slows the provider down`, async (context) => {
    // The sockets between the two may hold tens of megabytes; a gateway that reads on would take everything.
    const [sizeOfDelta, deltas] = [100_000, 2_000];
    upstream[provider].script({ text: ["x".repeat(sizeOfDelta)], repeat: ["xxx", deltas] });
    // A body that nobody reads would keep this process alive.
    const abort = new AbortController();
    context.after(() => abort.abort());
    const reply = await served.send(provider, body, abort.signal);
    const reader = reply.body.getReader();
    await reader.read();
    const { last } = upstream[provider];
    // Blocked for a while: the gateway does not read on.
    const blocked = async () => {
      for (let quiet = 0, sent = -1; quiet < 20; quiet = sent === last.sent && last.blocked ? quiet + 1 : 0) {
        sent = last.sent;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return "blocked";
    };
    assert.equal(await Promise.race([blocked(), last.closed]), "blocked");
    // It goes on as soon as the client does.
    const { sent } = last;
    while (last.sent === sent) assert.equal((await reader.read()).done, false);
  });
}

test("calls that are validated are held back until they are complete, text is not", async () => {
  upstream.openai.script({ text: "Let me see.", calls: [{ name: "weather", text: '{"town":1}' }] });
  const { message, errors, finishes } = await gateway.stream("openai", { tools, request_options: { validate_tool_arguments: true } });
  assert.equal(message.content, "Let me see.");
  assert.equal(message.tool_calls, undefined);
  assert.deepEqual([errors[0].code, finishes], ["invalid_tool_arguments", []]);
  assert.doesNotMatch(JSON.stringify(errors), /town/);
});

test("a client that goes while the provider is silent ends the request to the provider", async () => {
  // Comments tell the client that the stream goes on. Locally, writing them is the only way to notice that it has gone.
  const silent = await startGateway({ upstream, vars: { GATEWAY_TIMEOUT_MS: "20000" } });
  try {
    upstream.openai.script({ text: "Sunny", hold: 2 });
    const abort = new AbortController();
    const reply = await silent.send("openai", body, abort.signal);
    const decoder = new TextDecoder();
    let text = "";
    for await (const part of reply.body) {
      text += decoder.decode(part, { stream: true });
      if (/\n\n: [\w-]+\n\n$/.test(text)) break;
    }
    abort.abort();
    assert.equal(await upstream.openai.last.closed, "aborted");
    const chat = async () => (await silent.worker.events()).find(({ event }) => event === "chat");
    let logged;
    while (!(logged = await chat())) await new Promise((resolve) => setTimeout(resolve, 20));
    // Not 504, a provider that was too slow.
    assert.equal(logged["http.response.status_code"], 499);
  } finally {
    await silent.worker.close();
  }
});

test("a provider that falls silent within a stream is a timeout", async () => {
  // The time is for the first event, too, which a busy machine may send late.
  const slow = await startGateway({ upstream, vars: { GATEWAY_TIMEOUT_MS: "5000" } });
  try {
    await Promise.all(PROVIDERS.map(async (provider) => {
      upstream[provider].script({ text: "Sunny", hold: { openai: 2, anthropic: 4, gemini: 1 }[provider] });
      const { errors, finishes } = await new Gateway(upstream, slow.send).stream(provider);
      assert.deepEqual([errors[0]?.code, finishes], ["provider_timeout", []]);
      assert.equal(await upstream[provider].last.closed, "aborted");
    }));
  } finally {
    await slow.worker.close();
  }
});
