// Requests and answers of the gateway, as the documents say that OpenAI, Anthropic and Google publish of their APIs: what the golden
// files have of requests, and what clients get of each provider.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { CLOCK, Gateway, WEATHER } from "./support/gateway/ask.mjs";
import { parse, typed } from "./support/gateway/fronts/events.mjs";
import { FRONTS } from "./support/gateway/fronts/index.mjs";
import { startGateway, STATE_KEY } from "./support/gateway/worker.mjs";
import { documentProblems } from "./support/types/documents.mjs";

const FOLDER = new URL("../crates/toolbooth-gateway/golden/", import.meta.url);

/** The provider and the schema of a request in a golden file. There are none of other providers in OpenAI's format. */
function schemaOf(to, path) {
  if (to.startsWith("anthropic/")) return ["anthropic", "CreateMessageParams"];
  if (to.startsWith("google/")) return ["google", "GenerateContentRequest"];
  if (to.startsWith("openai/")) return ["openai", path.endsWith("responses") ? "CreateResponse" : "CreateChatCompletionRequest"];
}

/**
 * Clients such as Codex leave out what the document requires of messages that come back, and OpenAI takes them. Two types of
 * items of Codex are not in the document.
 */
function completed(body) {
  if (!Array.isArray(body.input)) return body;
  const part = (one) => (one.type === "output_text" ? { annotations: [], logprobs: [], ...one } : one);
  const message = (item) => ({ id: "msg_1", status: "completed", ...item, content: item.content.map(part) });
  const input = body.input.filter(({ type }) => !["agent_message", "compaction_summary"].includes(type));
  return { ...body, input: input.map((item) => (item.role === "assistant" && Array.isArray(item.content) ? message(item) : item)) };
}

test("the bodies of the golden files", () => {
  let count = 0;
  for (const file of readdirSync(FOLDER)) {
    for (const { from, to, sent } of JSON.parse(readFileSync(new URL(file, FOLDER))).gets) {
      for (const { path, body } of sent) {
        const schema = schemaOf(to, path);
        if (!schema) continue;
        count += 1;
        assert.deepEqual(documentProblems(...schema, completed(body)), [], `${file}: ${from} to ${to}`);
      }
    }
  }
  assert.ok(count > 50, `${count}`);
});

test("a document finds what is wrong", () => {
  assert.match(documentProblems("google", "GenerateContentRequest", { contents: [{ parts: [{ txt: "x" }] }] }).join(), /must NOT have additional properties "txt"/);
  assert.match(documentProblems("anthropic", "CreateMessageParams", { model: "m", messages: [] }).join(), /max_tokens/);
  assert.match(documentProblems("openai", "CreateResponse", { model: "m", input: "x", temperature: 3 }).join(), /temperature/);
});

let served;
before(async () => (served = await startGateway({ vars: { STATE_KEY } })));
after(() => served.close());

const ANSWERS = { chat: "CreateChatCompletionResponse", messages: "Message", responses: "Response" };
const EVENTS = { chat: "CreateChatCompletionStreamResponse", messages: "MessageStreamEvent", responses: "ResponseStreamEvent" };
const OWNERS = { chat: "openai", messages: "anthropic", responses: "openai" };
const TURNS = {
  text: { text: "Sunny" },
  calls: { text: "Let me see.", calls: [{ name: "weather", input: { city: "Rome" } }, { name: "clock" }] },
  "thoughts and a call": { thinking: "Hm.", calls: [{ name: "weather", input: { city: "Rome" } }] },
};

for (const front of Object.values(FRONTS)) {
  for (const provider of ["openai", "anthropic", "gemini", "responses"]) {
    for (const [what, turn] of Object.entries(TURNS)) {
      test(`${front.name}, ${provider}: ${what}`, async () => {
        const gateway = new Gateway(served.upstream, served.send, front);
        const { thinking, ...silent } = turn;
        const own = provider === "openai" ? silent : turn;
        const ask = { tools: [WEATHER, CLOCK], ...(thinking && { reasoning_effort: "high" }) };
        gateway.script(provider, own);
        const { json } = await gateway.chat(provider, ask);
        assert.deepEqual(documentProblems(OWNERS[front.name], ANSWERS[front.name], json, { isAnswer: true }), []);
        gateway.script(provider, own);
        const { text } = await gateway.stream(provider, ask);
        const events = front.name === "chat" ? parse(text).filter(({ data }) => data && data !== "[DONE]").map(({ data }) => JSON.parse(data)) : typed(text).filter(({ type }) => type !== "ping");
        for (const event of events) assert.deepEqual(documentProblems(OWNERS[front.name], EVENTS[front.name], event, { isAnswer: true }), [], JSON.stringify(event));
      });
    }
  }
}
