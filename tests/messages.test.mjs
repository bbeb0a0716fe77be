// The chat gateway in the format of Anthropic Messages, with Anthropic's SDK and with what Claude Code sends.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { KEY, model, startGateway } from "./support/gateway/worker.mjs";

const PROVIDERS = ["openai", "anthropic", "gemini", "gemini-2.5"];
const ROME = { name: "weather", input: { city: "Rome" } };
const OSLO = { name: "weather", input: { city: "Oslo" } };
const WEATHER = { name: "weather", description: "The weather.", input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } };
const CLOCK = { name: "clock", description: "The time.", input_schema: { type: "object", properties: {} } };
const PNG = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };

/** What Claude Code 2.1.330 sent, with its texts replaced by their length. */
const CLAUDE_CODE = JSON.parse(readFileSync(new URL("support/gateway/claude-code.json", import.meta.url)));

let served, anthropic;
before(async () => {
  served = await startGateway();
  anthropic = new Anthropic({ apiKey: KEY, baseURL: served.address, maxRetries: 0 });
});
after(() => served.close());

const at = (provider) => served.upstream[provider.split("-")[0]];
const script = (provider, ...turns) => at(provider).script(...turns);
const ask = (provider, body = {}) => ({ model: model(provider), max_tokens: 2000, messages: [{ role: "user", content: "Weather in canary-town?" }], ...body });
const create = (body, options) => anthropic.messages.create(body, options);
const stream = (body, options) => anthropic.messages.stream(body, options).finalMessage();
const text = ({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");

for (const provider of PROVIDERS) {
  for (const [how, send] of Object.entries({ create, stream })) {
    test(`${provider}, ${how}: a text, with its usage`, async () => {
      script(provider, { text: ["Größe: ", "22 °C"] });
      const message = await send(ask(provider));
      assert.deepEqual([text(message), message.stop_reason, message.role, message.type], ["Größe: 22 °C", "end_turn", "assistant", "message"]);
      assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0, JSON.stringify(message.usage));
      assert.match(message.id, /^msg_/);
      assert.deepEqual(at(provider).rejections, []);
    });

    test(`${provider}, ${how}: three turns with tools`, async () => {
      script(provider, { text: "Let me see.", calls: [ROME, OSLO] }, { calls: [{ name: "clock" }] }, { text: "At noon." });
      const messages = [{ role: "user", content: "Weather?" }];
      const called = [];
      let last;
      do {
        last = await send(ask(provider, { messages, tools: [WEATHER, CLOCK] }));
        messages.push({ role: "assistant", content: last.content });
        const calls = last.content.filter(({ type }) => type === "tool_use");
        called.push(...calls.map(({ name, input }) => [name, input]));
        messages.push({ role: "user", content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: [{ type: "text", text: "R" }, PNG] })) });
      } while (last.stop_reason === "tool_use");
      assert.deepEqual(called, [["weather", { city: "Rome" }], ["weather", { city: "Oslo" }], ["clock", {}]]);
      assert.equal(text(last), "At noon.");
      assert.deepEqual(at(provider).rejections, []);
      assert.match(JSON.stringify(at(provider).last.body), /iVBORw0KGgo/);
    });

    test(`${provider}, ${how}: what Claude Code sends`, async () => {
      const { headers, body } = CLAUDE_CODE;
      const tools = [{ ...body.tools[0], description: "d".repeat(18_780) }, ...body.tools.slice(1)];
      const first = { ...body, tools, messages: body.messages.slice(0, 1) };
      // The model of the recording did not think, so Anthropic would not go on with thinking.
      const { thinking: _, ...last } = { ...body, tools };
      for (const sent of [first, last]) {
        script(provider, { text: "42" });
        const request = { ...sent, model: model(provider), stream: how === "stream" };
        const message = await send(request, { headers, query: { beta: "true" }, timeout: 300_000 });
        assert.equal(text(message), "42");
        assert.deepEqual(at(provider).rejections, []);
        if (provider === "anthropic") {
          assert.deepEqual({ ...at(provider).last.body, model: request.model }, request);
          for (const name of ["anthropic-beta", "anthropic-version"]) assert.equal(at(provider).last.headers[name], headers[name]);
        }
      }
    });

    test(`${provider}, ${how}: what newer models get of Claude Code`, async () => {
      script(provider, { text: "42" });
      const messages = [
        { role: "user", content: [{ type: "text", text: "Go", cache_control: { type: "ephemeral" } }] },
        { role: "assistant", content: [{ type: "thinking", thinking: "T", signature: "toolbooth:reasoning" }, { type: "text", text: "Yes." }] },
        { role: "system", content: "Be brief." },
        { role: "user", content: "On" },
      ];
      const more = { thinking: { type: "adaptive" }, output_config: { effort: "high" }, context_management: { edits: [] }, tools: [WEATHER] };
      // Sonnet 4.5 does not think adaptively.
      const newer = provider === "anthropic" ? { model: "anthropic/claude-sonnet-4-6" } : {};
      const message = await send(ask(provider, { messages, ...more, ...newer }), { headers: CLAUDE_CODE.headers });
      assert.equal(text(message), "42");
      assert.deepEqual(at(provider).rejections, []);
    });
  }

  test(`${provider}: thinking goes back to Anthropic only`, async () => {
    const thinks = provider === "openai" ? {} : { thinking: "Hm." };
    script(provider, { ...thinks, text: "A", calls: [ROME] }, { text: "B" });
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const first = await stream(ask(provider, { thinking, tools: [WEATHER] }));
    const { id } = first.content.find(({ type }) => type === "tool_use");
    const messages = [{ role: "user", content: "?" }, { role: "assistant", content: first.content }, { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "R" }] }];
    const second = await stream(ask(provider, { thinking, tools: [WEATHER], messages }));
    assert.equal(text(second), "B");
    assert.deepEqual(at(provider).rejections, []);
    assert.equal(JSON.stringify(at(provider).last.body).includes("Hm."), provider === "anthropic");
    // The same conversation with a different model.
    const other = provider === "anthropic" ? "openai" : "anthropic";
    script(other, { text: "C" });
    assert.equal(text(await create(ask(other, { tools: [WEATHER], messages }))), "C");
    assert.deepEqual(at(other).rejections, []);
  });

  test(`${provider}: errors are what the SDK expects`, async () => {
    for (const [turn, error, status, type] of [
      [{ status: 429, headers: { "retry-after": "7" } }, Anthropic.RateLimitError, 429, "rate_limit_error"],
      [{ status: 500 }, Anthropic.InternalServerError, 502, "api_error"],
      [{ status: 529 }, Anthropic.InternalServerError, 529, "overloaded_error"],
      [{ status: 401 }, Anthropic.InternalServerError, 502, "api_error"],
      [{ status: 400, message: "No." }, Anthropic.BadRequestError, 400, "invalid_request_error"],
    ]) {
      for (const send of [create, stream]) {
        script(provider, turn);
        const raised = await send(ask(provider)).catch((raised) => raised);
        assert.ok(raised instanceof error, `${JSON.stringify(turn)}: ${raised}`);
        assert.deepEqual([raised.status, raised.error.error.type], [status, type]);
        if (status === 429) assert.equal(raised.headers.get("retry-after"), "7");
      }
    }
  });

  test(`${provider}: a stream that fails or breaks off raises an error`, async () => {
    for (const turn of [{ fail: [provider === "anthropic" ? 4 : 1, "Overloaded"] }, { end: provider === "anthropic" ? 4 : 1 }]) {
      script(provider, { text: "Sunny and warm", ...turn });
      await assert.rejects(stream(ask(provider)), Anthropic.APIError);
    }
  });
}

test("tokens are counted without an answer", async () => {
  for (const provider of ["openai", "gemini"]) {
    script(provider, { status: 500 });
    const { input_tokens } = await anthropic.messages.countTokens({ model: model(provider), messages: [{ role: "user", content: "x".repeat(4000) }] });
    assert.ok(input_tokens > 900 && input_tokens < 1200, `${input_tokens}`);
    assert.equal(at(provider).journal.length, 0);
  }
});

test("it answers as its contract says", async () => {
  const post = (json, path = "/v1/messages?beta=true") => served.worker.post(json, { path, headers: { "x-api-key": KEY } });
  script("openai", { text: "Sunny" });
  for (const stream of [false, true]) assert.equal((await post(ask("openai", { stream }))).status, 200);
  script("openai", { status: 529 });
  assert.equal((await post(ask("openai"))).status, 529);
  assert.equal((await post({ model: "openai/m" })).status, 400);
  assert.equal((await post(ask("openai"), "/v1/messages/count_tokens")).status, 200);
  assert.equal((await served.worker.post(ask("openai"), { path: "/v1/messages" })).status, 401);
});

test("models are listed in Anthropic's form", async () => {
  const using = await startGateway({ upstream: served.upstream, vars: { MODELS: JSON.stringify({ fast: { targets: [{ provider: "openai", model: "gpt-4.1" }] } }) } });
  try {
    const client = new Anthropic({ apiKey: KEY, baseURL: using.address });
    const ids = [];
    for await (const { id, type } of client.models.list()) ids.push([id, type]);
    assert.deepEqual(ids, [["fast", "model"]]);
    assert.equal((await client.models.retrieve("fast")).display_name, "fast");
    await assert.rejects(client.models.retrieve("openai/none"), Anthropic.NotFoundError);
  } finally {
    await using.worker.close();
  }
});

test("compiled-in tools run, and come back in the next request", async () => {
  const own = {
    mcp_servers: [{ type: "url", name: "own", url: "toolbooth" }],
    tools: [{ type: "mcp_toolset", mcp_server_name: "own", require_approval: "never", default_config: { enabled: false }, configs: { "Calculator.Add": { enabled: true } } }],
  };
  for (const provider of ["openai", "anthropic", "gemini"]) {
    const messages = [{ role: "user", content: "17 + 25?" }];
    for (const send of [create, stream]) {
      script(provider, { text: "Adding.", calls: [{ name: "Calculator_Add", input: { a: 17, b: 25 } }] }, { text: "42" });
      const message = await send(ask(provider, { ...own, messages }));
      assert.deepEqual(message.content.map(({ type }) => type), ["text", "mcp_tool_use", "mcp_tool_result", "text"]);
      const [, call, result] = message.content;
      assert.deepEqual([call.name, call.input, call.server_name, result.tool_use_id], ["Calculator_Add", { a: 17, b: 25 }, "own", call.id]);
      messages.push({ role: "assistant", content: message.content }, { role: "user", content: "Again." });
      assert.deepEqual(at(provider).rejections, []);
    }
    script(provider, { text: "Done" });
    assert.equal(text(await create(ask(provider, { ...own, messages }))), "Done");
    assert.deepEqual(at(provider).rejections, []);
  }
});
