// The whole loop with each provider's own SDK: the list of tools from here, the model's answer to
// here, what comes back to the model, until it has said all. Stand-ins enforce the providers' rules.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { model } from "./support/models.mjs";
import { BOOTH, start } from "./support/worker.mjs";

let worker;
before(async () => (worker = await start(BOOTH)));
after(() => worker.close());

const QUESTION = "What is to be done?";

const toolsOf = async (provider) => (await worker.get(`/providers/${provider}/tools`)).json;

// How each SDK asks: `ask` gives the model's answer, `text` what it said, `model` its turn as it goes
// back into the conversation, and `member` names what the booth gives to append.
const SDKS = {
  openai(base) {
    const client = new OpenAI({ apiKey: "k", baseURL: `${base}/v1`, maxRetries: 0 });
    return {
      member: "messages",
      ask: (messages, tools) => client.chat.completions.create({ model: "m", messages, tools }),
      text: (answer) => answer.choices[0].message.content,
      model: (answer) => [answer.choices[0].message],
    };
  },
  "openai-responses"(base) {
    const client = new OpenAI({ apiKey: "k", baseURL: `${base}/v1`, maxRetries: 0 });
    return {
      member: "input",
      ask: (input, tools) => client.responses.create({ model: "m", input, tools }),
      text: (answer) => answer.output_text || null,
      model: (answer) => answer.output,
    };
  },
  anthropic(base) {
    const client = new Anthropic({ apiKey: "k", baseURL: base, maxRetries: 0 });
    return {
      member: "messages",
      ask: (messages, tools) => client.messages.create({ model: "m", max_tokens: 100, messages, tools }),
      text: (answer) => (answer.stop_reason === "end_turn" ? answer.content[0].text : null),
      model: (answer) => [{ role: "assistant", content: answer.content }],
    };
  },
  gemini(base) {
    const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: base } });
    return {
      member: "contents",
      ask: (contents, tools) => client.models.generateContent({ model: "m", contents, config: { tools } }),
      text: ({ candidates }) => candidates[0].content.parts[0].text ?? null,
      model: ({ candidates }) => [candidates[0].content],
    };
  },
};
const questionTo = (provider) =>
  provider === "gemini" ? { role: "user", parts: [{ text: QUESTION }] } : { role: "user", content: QUESTION };

/**
 * Talks to the model until it says a text; gives the results that it was told. `post` is what of each
 * answer goes to the booth, `own` adds the results of the client's own tools.
 */
async function loop(standIn, script, { query = "", post = (answer) => answer, tools = [], own = (appended) => appended } = {}) {
  const provider = standIn.split(" ")[0];
  const server = await model(standIn, script);
  try {
    const sdk = SDKS[provider](server.base);
    const declared = await toolsOf(provider);
    if (provider === "gemini") declared[0].functionDeclarations.push(...tools);
    else declared.push(...tools);
    const conversation = [questionTo(provider)];
    for (let asked = 0; asked <= script.length; asked++) {
      const answer = await sdk.ask(conversation, declared);
      const text = sdk.text(answer);
      if (text !== null) return JSON.parse(text);
      const reply = await worker.post(post(answer, sdk), { path: `/providers/${provider}/call${query}` });
      assert.equal(reply.status, 200, reply.text);
      conversation.push(...sdk.model(answer), ...own(reply.json[sdk.member], reply.json._toolbooth));
    }
    assert.fail("the model has not come to an end");
  } finally {
    await server.close();
    assert.deepEqual(server.refusals, []);
  }
}

const add = (a, b) => ({ name: "Calculator_Add", input: { a, b } });
const STAND_INS = ["openai", "openai-responses", "anthropic", "gemini", "gemini without ids"];
const SLUG = '{"slug":"crème-brûlée","truncated":false}';
// What a result is to the model: Anthropic marks errors, Gemini has values and not texts.
const seen = (standIn, result) => {
  if (result.startsWith("Error: ")) return standIn === "anthropic" ? `is_error ${result}` : result;
  return standIn.startsWith("gemini") && /^[\d{]/.test(result) ? JSON.parse(result) : result;
};
const seenAll = (standIn, results) => results.map((result) => seen(standIn, result));

for (const standIn of STAND_INS) {
  test(`PC7 ${standIn}: one call, then the answer`, async () => {
    assert.deepEqual(await loop(standIn, [[add(40, 2)]]), seenAll(standIn, ["42"]));
  });

  test(`PC10 ${standIn}: parallel calls, also of one tool, over two turns`, async () => {
    const slug = { name: "Text_Slugify", input: { text: "Crème brûlée" } };
    const results = await loop(standIn, [[add(1, 1), add(2, 2), slug], [add(3, 3), add(4, 4)]]);
    assert.deepEqual(results, seenAll(standIn, ["2", "4", SLUG, "6", "8"]));
  });

  test(`PC16 ${standIn}: the model is told of errors and tries again`, async () => {
    const wrong = { name: "Calculator_Add", input: { a: 1 } };
    const ring = { name: "Doorbell_Ring", input: { doorbell_id: "doorbell1" } };
    const [invalid, failed, ...good] = await loop(standIn, [[wrong, ring, add(1, 2)], [add(1, 1)]]);
    const text = "Error: Invalid arguments for tool 'Calculator_Add'. b: Is required. Please retry.";
    assert.equal(invalid, seen(standIn, text));
    assert.match(failed, /Error: Doorbell ID not found/);
    assert.deepEqual(good, seenAll(standIn, ["3", "2"]));
  });

  test(`PC8 ${standIn}: the client runs a tool of its own beside`, async () => {
    const schema = { type: "object", properties: {} };
    const tool = { name: "my_own_tool", description: "Mine." };
    const tools = {
      openai: { type: "function", function: { ...tool, parameters: schema } },
      "openai-responses": { type: "function", ...tool, parameters: schema, strict: false },
      anthropic: { ...tool, input_schema: schema },
      gemini: { ...tool, parametersJsonSchema: schema },
    };
    // The call of the client's tool is the second of the turn; results of one turn stay together.
    const add_own = {
      openai: (messages) => [...messages, { role: "tool", tool_call_id: "call_0_1", content: "mine" }],
      "openai-responses": (input) => [...input, { type: "function_call_output", call_id: "call_0_1", output: "mine" }],
      anthropic: ([{ role, content }]) => [
        { role, content: [...content, { type: "tool_result", tool_use_id: "call_0_1", content: "mine" }] },
      ],
      gemini: ([{ role, parts }]) => {
        const id = standIn === "gemini" ? { id: "call_0_1" } : {};
        return [{ role, parts: [...parts, { functionResponse: { ...id, name: "my_own_tool", response: { output: "mine" } } }] }];
      },
    };
    const provider = standIn.split(" ")[0];
    const own = (appended, { warnings }) => {
      assert.match(warnings.join(), /: my_own_tool$/);
      return add_own[provider](appended);
    };
    const options = { query: "?unknown=leave", tools: [tools[provider]], own };
    const results = await loop(standIn, [[add(1, 1), { name: "my_own_tool", input: {} }]], options);
    assert.deepEqual(results, seenAll(standIn, ["2", "mine"]));
  });
}

for (const provider of ["openai", "openai-responses"]) {
  test(`PC9 ${provider}: malformed and empty arguments`, async () => {
    const script = [[{ name: "Calculator_Add", text: '{"a":1,' }, { name: "Calculator_Add", text: "" }, add(1, 2)]];
    const [malformed, empty, good] = await loop(provider, script);
    assert.match(malformed, /^Error: Invalid JSON in arguments\. Please retry with valid JSON\./);
    assert.match(empty, /^Error: Invalid arguments for tool 'Calculator_Add'\. a: Is required; b: Is required/);
    assert.equal(good, "3");
  });
}

// What of an answer a client posts is its choice.
for (const [standIn, what, post] of [
  ["openai", "the assistant message", (answer) => answer.choices[0].message],
  ["openai", "the tool calls", (answer) => answer.choices[0].message.tool_calls],
  ["openai-responses", "the output items", (answer) => answer.output],
  ["anthropic", "the message that is echoed", (answer, sdk) => sdk.model(answer)[0]],
  ["anthropic", "the content blocks", (answer) => answer.content],
  ["gemini", "the candidate", (answer) => answer.candidates[0]],
  ["gemini", "the content", (answer) => answer.candidates[0].content],
  ["gemini", "the parts", (answer) => answer.candidates[0].content.parts],
  ["gemini", "the function calls of the SDK", (answer) => answer.functionCalls],
]) {
  test(`PC1 ${standIn}: ${what} may be posted`, async () => {
    const results = await loop(standIn, [[add(1, 1), add(2, 2)]], { post });
    assert.deepEqual(results, seenAll(standIn, ["2", "4"]));
  });
}

// Were the stand-ins lax, the loops above would show nothing.
for (const [standIn, what, own, refusal] of [
  ["openai", "a missing result", (messages) => messages.slice(1), /exactly one result/],
  ["openai-responses", "a missing result", (input) => input.slice(1), /exactly one result/],
  ["anthropic", "text before a result", ([{ role, content }]) => [{ role, content: [{ type: "text", text: "?" }, ...content] }],
    /results are the first blocks/],
  ["anthropic", "a result twice", ([{ role, content }]) => [{ role, content: [...content, ...content] }], /exactly one result/],
  ["gemini", "a missing result", ([{ role, parts }]) => [{ role, parts: parts.slice(1) }], /as many responses as calls/],
  ["gemini without ids", "an id", ([{ role, parts }]) =>
    [{ role, parts: parts.map(({ functionResponse }) => ({ functionResponse: { ...functionResponse, id: "x" } })) }],
    /unknown name/],
]) {
  test(`the stand-in ${standIn} refuses ${what}`, async () => {
    await assert.rejects(loop(standIn, [[add(1, 1), add(2, 2)]], { own }), refusal);
  });
}
