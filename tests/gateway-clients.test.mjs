// The gateway with clients that people use: OpenAI's SDK, and Vercel's AI SDK in each format. All they need is another base URL.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { Client } from "../packages/toolbooth/src/client.js";
import { root } from "./support/commands.mjs";
import { KEY, model, startGateway, STATE_KEY } from "./support/gateway/worker.mjs";

const PROVIDERS = ["openai", "anthropic", "gemini", "gemini-2.5"];
const messages = [{ role: "user", content: "What is the weather in canary-town?" }];
const ROME = { name: "weather", input: { city: "Rome" } };
const OSLO = { name: "weather", input: { city: "Oslo" } };
// Two parallel calls, then one without arguments, then the answer.
const LOOP = [{ text: "Let me see.", thinking: "Two cities.", calls: [ROME, OSLO] }, { calls: [{ name: "clock" }] }, { text: "Größe: 22 °C, at noon." }];
const ANSWER = "Größe: 22 °C, at noon.";

// The providers of the AI SDK, by the format that they speak.
const FORMATS = ["chat", "messages", "responses"];

let served, openai, compatible, own;
before(async () => {
  served = await startGateway({ vars: { STATE_KEY } });
  openai = new OpenAI({ apiKey: KEY, baseURL: `${served.address}/v1`, maxRetries: 0 });
  const options = { apiKey: KEY, baseURL: `${served.address}/v1` };
  compatible = createOpenAICompatible({ name: "toolbooth", includeUsage: true, ...options });
  own = { chat: compatible, messages: createAnthropic(options), responses: createOpenAI(options) };
});
after(() => served.close());

const at = (provider) => served.upstream[provider.split("-")[0]];
// Only Anthropic's and Gemini's models think aloud.
const script = (provider, ...turns) => at(provider).script(...turns.map(({ thinking, ...turn }) => (provider === "openai" ? turn : { ...turn, ...(thinking && { thinking }) })));

for (const provider of PROVIDERS) {
  const ask = (body = {}) => ({ model: model(provider), messages, ...body });

  test(`${provider}: OpenAI's SDK, create`, async () => {
    script(provider, { text: "Sunny" });
    const completion = await openai.chat.completions.create(ask());
    assert.equal(completion.choices[0].message.content, "Sunny");
    assert.equal(completion.choices[0].finish_reason, "stop");
    assert.ok(completion.usage.total_tokens > 0);
  });

  // The loop of the page, 4.2: each request has the question, the last calls and their results.
  test(`${provider}: the client of the page, its loop`, async () => {
    script(provider, ...LOOP);
    const client = new Client({ apiKey: KEY, baseURL: `${served.address}/v1`, model: model(provider), maxRetries: 0 });
    const tools = ["weather", "clock"].map((name) => ({ type: "function", function: { name, parameters: { type: "object", properties: {} } } }));
    const called = [];
    let response = await client.chat(messages, tools);
    while (response.tool_calls) {
      assert.equal(response.finish_reason, "tool_calls");
      const results = response.tool_calls.map(({ id, function: { name, arguments: input } }) => {
        called.push([name, JSON.parse(input)]);
        return { role: "tool", tool_call_id: id, content: JSON.stringify({ degrees: 22 }) };
      });
      response = await client.chat([...messages, { role: "assistant", tool_calls: response.tool_calls }, ...results], tools);
    }
    assert.equal(response.content, ANSWER);
    assert.deepEqual(called, [["weather", { city: "Rome" }], ["weather", { city: "Oslo" }], ["clock", {}]]);
  });

  test(`${provider}: OpenAI's SDK, stream`, async () => {
    script(provider, { text: ["Sun", "ny"] });
    const parts = [];
    for await (const chunk of await openai.chat.completions.create(ask({ stream: true }))) {
      const content = chunk.choices[0]?.delta.content;
      if (content) parts.push(content);
    }
    assert.deepEqual(parts, ["Sun", "ny"]);
  });

  for (const stream of [false, true]) {
    test(`${provider}: OpenAI's SDK, runTools over three turns${stream ? ", streamed" : ""}`, async () => {
      script(provider, ...LOOP);
      const called = [];
      const run = (name, result) => ({
        type: "function",
        function: {
          name,
          description: `The ${name}.`,
          parse: JSON.parse,
          parameters: { type: "object", properties: name === "weather" ? { city: { type: "string" } } : {}, ...(name === "weather" && { required: ["city"] }) },
          function: (input) => {
            called.push([name, input]);
            return result;
          },
        },
      });
      const runner = openai.chat.completions.runTools(ask({ stream, tools: [run("weather", '{"celsius":22}'), run("clock", "12:00")] }));
      assert.equal(await runner.finalContent(), ANSWER);
      assert.deepEqual(called, [["weather", { city: "Rome" }], ["weather", { city: "Oslo" }], ["clock", {}]]);
      assert.deepEqual(at(provider).rejections, []);
    });
  }

  test(`${provider}: OpenAI's SDK, structured output`, async () => {
    script(provider, { text: '{"city":"Rome"}' });
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
    const response_format = { type: "json_schema", json_schema: { name: "place", strict: true, schema } };
    const { choices } = await openai.chat.completions.parse(ask({ response_format }));
    assert.deepEqual(choices[0].message.parsed, { city: "Rome" });
  });

  for (const format of FORMATS) {
    // Without `store: false`, OpenAI's provider refers to items that the server has kept.
    const options = () => ({ model: own[format](model(provider)), prompt: "Weather?", stopWhen: isStepCount(5), tools: TOOLS, maxRetries: 0, providerOptions: { openai: { store: false } } });

    test(`${provider}: the AI SDK in the format ${format}, generateText with tools`, async () => {
      script(provider, ...LOOP);
      const { text, steps, totalUsage } = await generateText(options());
      assert.equal(text, ANSWER);
      assert.deepEqual(steps.map(({ toolCalls, finishReason }) => [toolCalls.length, finishReason]), [[2, "tool-calls"], [1, "tool-calls"], [0, "stop"]]);
      assert.ok(totalUsage.totalTokens > 0);
      assert.deepEqual(at(provider).rejections, []);
    });

    test(`${provider}: the AI SDK in the format ${format}, streamText with tools`, async () => {
      script(provider, ...LOOP);
      const errors = [];
      const result = streamText({ ...options(), onError: ({ error }) => errors.push(error) });
      let text = "";
      for await (const part of result.textStream) text += part;
      assert.deepEqual(errors, []);
      assert.ok(text.endsWith(ANSWER), text);
      assert.equal((await result.steps).length, 3);
      assert.ok((await result.totalUsage).totalTokens > 0);
      assert.deepEqual(at(provider).rejections, []);
    });
  }

  test(`${provider}: errors are what OpenAI's SDK expects`, async () => {
    // The status and headers of the provider, and what the caller gets.
    for (const [turn, error, status, code] of [
      [{ status: 429, headers: { "retry-after": "7" } }, OpenAI.RateLimitError, 429, "rate_limited"],
      [{ status: 500 }, OpenAI.InternalServerError, 502, "provider_error"],
      [{ status: 529 }, OpenAI.InternalServerError, 503, "provider_overloaded"],
      [{ status: 401 }, OpenAI.InternalServerError, 502, "provider_auth_error"],
      [{ status: 403 }, OpenAI.InternalServerError, 502, "provider_auth_error"],
      [{ raw: "<html>" }, OpenAI.InternalServerError, 502, "provider_bad_response"],
      [{ status: 400, message: "No." }, OpenAI.BadRequestError, 400, "provider_error"],
    ]) {
      for (const stream of [false, true]) {
        script(provider, turn);
        const raised = await openai.chat.completions.create(ask({ stream })).then(
          async (chunks) => {
            for await (const _ of chunks);
          },
          (raised) => raised,
        ).catch((raised) => raised);
        assert.ok(raised instanceof error, `${JSON.stringify(turn)}: ${raised}`);
        assert.deepEqual([raised.status, raised.code], [status, code]);
        if (status === 429) assert.equal(raised.headers.get("retry-after"), "7");
      }
    }
  });

  test(`${provider}: an error within a stream is raised by both SDKs`, async () => {
    const turn = { text: "Sunny and warm", fail: [provider === "anthropic" ? 4 : 1, "Overloaded"] };
    script(provider, turn);
    await assert.rejects(async () => {
      for await (const _ of await openai.chat.completions.create(ask({ stream: true })));
    }, OpenAI.APIError);
    script(provider, turn);
    const errors = [];
    const result = streamText({ model: compatible(model(provider)), prompt: "?", maxRetries: 0, onError: ({ error }) => errors.push(error) });
    for await (const _ of result.textStream);
    assert.equal(errors.length, 1);
  });
}

const TOOLS = {
  weather: tool({ description: "The weather.", inputSchema: z.object({ city: z.string() }), execute: () => ({ celsius: 22 }) }),
  clock: tool({ description: "The time.", inputSchema: z.object({}), execute: () => "12:00" }),
};

test("the AI SDK: structured output", async () => {
  script("anthropic", { text: '{"city":"Rome"}' });
  const provider = createOpenAICompatible({ name: "toolbooth", apiKey: KEY, baseURL: `${served.address}/v1`, supportsStructuredOutputs: true });
  const { output } = await generateText({ model: provider(model("anthropic")), prompt: "Where?", output: Output.object({ schema: z.object({ city: z.string() }) }) });
  assert.deepEqual(output, { city: "Rome" });
});

test("OpenAI's SDK lists the models", async () => {
  const ids = [];
  for await (const { id, object } of openai.models.list()) {
    assert.equal(object, "model");
    ids.push(id);
  }
  assert.ok(Array.isArray(ids));
});

for (const [title, language, file, program, provider] of [
  ["OpenAI Agents SDK", "python", "program.py", join(root, ".venv/bin/python"), "anthropic"],
  ["Vercel AI SDK", "js", "program.mjs", process.execPath, "gemini"],
]) {
  test(`the program of docs/GATEWAY.md for the ${title} prints the answer`, async () => {
    const page = readFileSync(join(root, "docs/GATEWAY.md"), "utf8");
    const [, lines] = new RegExp(`^### ${title}$.*?^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page);
    script(provider, { text: "It is 42." });
    // Inside the project, where the packages are.
    mkdirSync(join(root, "target"), { recursive: true });
    const folder = mkdtempSync(join(root, "target/program-"));
    try {
      writeFileSync(join(folder, file), lines.replaceAll("https://tools.example.com", served.address));
      const env = { ...process.env, TOOLBOOTH_KEY: KEY, NO_PROXY: "*", OPENAI_AGENTS_DISABLE_TRACING: "1" };
      const { stdout } = await promisify(execFile)(program, [join(folder, file)], { env, timeout: 300_000 });
      assert.match(stdout, /It is 42\./);
    } finally {
      rmSync(folder, { recursive: true });
    }
    assert.deepEqual(at(provider).rejections, []);
  });
}
