// The whole loop with each provider's own SDK: get the list of tools, ask the model, post its response, send
// the results to the model, until it stops calling tools. Stand-ins enforce the providers' rules.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { model } from "./support/models.mjs";
import { SUBSETS, taken } from "./support/schemas.mjs";
import { SAMPLES, start } from "./support/worker.mjs";

let worker;
before(async () => (worker = await start(SAMPLES)));
after(() => worker.close());

const QUESTION = "What is to be done?";

const toolsOf = async (provider, query) => (await worker.get(`/providers/${provider}/tools${query}`)).json;

// How to use each SDK: `ask` returns the model's response, `text` its text, `model` its turn as it goes
// back into the conversation, and `member` names the part of Toolbooth's response to append.
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
 * Talks to the model until it responds with text; returns the results that it received. `post` selects the
 * part of each response to post, `own` adds the results of the client's own tools. `list` and `query` are
 * the queries of the list and of the calls.
 */
async function loop(standIn, script, { list = "", query = "", post = (answer) => answer, tools = [], own = (it) => it } = {}) {
  const provider = standIn.split(" ")[0];
  const server = await model(standIn, script);
  try {
    const sdk = SDKS[provider](server.base);
    const declared = await toolsOf(provider, list);
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
    assert.deepEqual(server.rejections, []);
  }
}

/** A tool that the client runs itself, in the provider's format. */
function ownTool(provider, schema, strict = false) {
  const tool = { name: "my_own_tool", description: "Mine." };
  switch (provider) {
    case "openai":
      return { type: "function", function: { ...tool, parameters: schema, strict } };
    case "openai-responses":
      return { type: "function", ...tool, parameters: schema, strict };
    case "anthropic":
      return { ...tool, input_schema: schema, strict };
    case "gemini":
      return { ...tool, parametersJsonSchema: schema };
  }
}

const add = (a, b) => ({ name: "Calculator_Add", input: { a, b } });
const STAND_INS = ["openai", "openai-responses", "anthropic", "gemini", "gemini without ids"];
const SLUG = '{"slug":"crème-brûlée","truncated":false}';
// A result as the model sees it: Anthropic marks errors, Gemini has values instead of text.
const seen = (standIn, result) => {
  if (result.startsWith("Error: ")) return standIn === "anthropic" ? `is_error ${result}` : result;
  return standIn.startsWith("gemini") && /^[\d{]/.test(result) ? JSON.parse(result) : result;
};
const seenAll = (standIn, results) => results.map((result) => seen(standIn, result));

for (const standIn of STAND_INS) {
  test(`PC7 ${standIn}: one call, then the final response`, async () => {
    assert.deepEqual(await loop(standIn, [[add(40, 2)]]), seenAll(standIn, ["42"]));
  });

  test(`PC10 ${standIn}: parallel calls, also of the same tool, over two turns`, async () => {
    const slug = { name: "Text_Slugify", input: { text: "Crème brûlée" } };
    const results = await loop(standIn, [[add(1, 1), add(2, 2), slug], [add(3, 3), add(4, 4)]]);
    assert.deepEqual(results, seenAll(standIn, ["2", "4", SLUG, "6", "8"]));
  });

  test(`PC16 ${standIn}: the model sees errors and retries`, async () => {
    const wrong = { name: "Calculator_Add", input: { a: 1 } };
    const ring = { name: "Doorbell_Ring", input: { doorbell_id: "doorbell1" } };
    const [invalid, failed, ...good] = await loop(standIn, [[wrong, ring, add(1, 2)], [add(1, 1)]]);
    const text = "Error: Invalid arguments for tool 'Calculator_Add'. b: Is required. Please retry.";
    assert.equal(invalid, seen(standIn, text));
    assert.match(failed, /Error: Doorbell ID not found/);
    assert.deepEqual(good, seenAll(standIn, ["3", "2"]));
  });

  test(`PC8 ${standIn}: the client also runs a tool itself`, async () => {
    // The client's tool is the second call of the turn; the results of a turn stay together.
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
    const options = { query: "?unknown=leave", tools: [ownTool(provider, { type: "object", properties: {} })], own };
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

for (const provider of ["openai", "openai-responses", "anthropic"]) {
  test(`PC7 T2.1 ${provider}: the loop with strict tools`, async () => {
    const list = "?strict=true&skip_incompatible=true";
    const strict = (await toolsOf(provider, list)).map((tool) => (tool.function ?? tool).strict);
    assert.ok(strict.length > 1 && strict.every((one) => one === true));
    const ring = { name: "Doorbell_Ring", input: { doorbell_id: "doorbell1" } };
    const [sum, failed, ...more] = await loop(provider, [[add(40, 2), ring], [add(1, 1)]], { list });
    assert.match(failed, /Error: Doorbell ID not found/);
    assert.deepEqual([sum, ...more], seenAll(provider, ["42", "2"]));
  });
}

// A client may post any of these parts of a response.
for (const [standIn, what, post] of [
  ["openai", "the assistant message", (answer) => answer.choices[0].message],
  ["openai", "the tool calls", (answer) => answer.choices[0].message.tool_calls],
  ["openai-responses", "the output items", (answer) => answer.output],
  ["anthropic", "the echoed message", (answer, sdk) => sdk.model(answer)[0]],
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

// The stand-ins must be strict, otherwise the loops above would prove nothing.
for (const [standIn, what, own, refusal] of [
  ["openai", "a missing result", (messages) => messages.slice(1), /exactly one result/],
  ["openai-responses", "a missing result", (input) => input.slice(1), /exactly one result/],
  ["anthropic", "text before a result", ([{ role, content }]) => [{ role, content: [{ type: "text", text: "?" }, ...content] }],
    /results are the first blocks/],
  ["anthropic", "a duplicate result", ([{ role, content }]) => [{ role, content: [...content, ...content] }], /exactly one result/],
  ["gemini", "a missing result", ([{ role, parts }]) => [{ role, parts: parts.slice(1) }], /as many responses as calls/],
  ["gemini without ids", "an id", ([{ role, parts }]) =>
    [{ role, parts: parts.map(({ functionResponse }) => ({ functionResponse: { ...functionResponse, id: "x" } })) }],
    /unknown name/],
]) {
  test(`the stand-in ${standIn} rejects ${what}`, async () => {
    await assert.rejects(loop(standIn, [[add(1, 1), add(2, 2)]], { own }), refusal);
  });
}

const object = (properties, more = {}) => ({ type: "object", properties, ...more });
const property = (schema) => object({ p: schema }, { required: ["p"], additionalProperties: false });
const OPENAI = ["openai", "openai-responses"];
const EVERY = [...OPENAI, "anthropic", "gemini"];
const nested = (levels) => (levels ? property(nested(levels - 1)) : { type: "string" });
const numbered = (count, type) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { type }]));
for (const [standIns, strict, what, schema, refusal] of [
  [EVERY, false, "a non-object type at the root", { type: "array", items: {} }, /that of an object/],
  [[...OPENAI, "anthropic"], false, "oneOf at the root", object({}, { oneOf: [{}] }), /oneOf at the root/],
  [OPENAI, false, "an array without items", property({ type: "array" }), /#\/properties\/p: array schema missing items/],
  [OPENAI, true, "a nested oneOf", property({ anyOf: [property({ oneOf: [{ type: "null" }] })] }), /'oneOf' is not permitted/],
  [[...OPENAI, "anthropic"], true, "a nested open object", property({ type: "array", items: object({}) }),
    /#\/properties\/p\/items: additionalProperties must be false/],
  [OPENAI, true, "a property that is not required", object({ p: { type: "string" } }, { additionalProperties: false }),
    /required must name every property/],
  [OPENAI, true, "a schema without a type", property({ description: "Any." }), /must have a type/],
  [OPENAI, true, "an unsupported format", property({ type: "string", format: "uri" }), /format 'uri'/],
  [OPENAI, true, "eleven levels", nested(10), /more than 10 levels/],
  [[...OPENAI, "anthropic"], true, "uniqueItems", property({ type: "array", items: { type: "string" }, uniqueItems: true }),
    /'uniqueItems' is not permitted/],
  [[...OPENAI, "anthropic"], true, "an external reference", property({ $ref: "https://a.example/s" }), /must be local/],
  [["anthropic"], true, "a bound", property({ type: "number", minimum: 1 }), /'minimum' is not permitted/],
  [["anthropic"], true, "minItems of two", property({ type: "array", items: {}, minItems: 2 }), /minItems must be 0 or 1/],
  [["anthropic"], true, "an object as a value", property({ enum: [{}] }), /enum has a value/],
  [["anthropic"], true, "a reference to itself", property({ $ref: "#" }), /must not be recursive/],
  [["anthropic"], true, "25 optional properties", object(numbered(25, "string"), { additionalProperties: false }), /24 optional/],
  [["anthropic"], true, "17 unions",
    object(numbered(17, ["string", "null"]), { required: Object.keys(numbered(17)), additionalProperties: false }), /16 unions/],
  [["gemini"], false, "a title beside $ref", object({ p: { $ref: "#/$defs/x", title: "T" } }, { $defs: { x: { type: "string" } } }),
    /alongside unsupported fields/],
  [["gemini"], false, "const", property({ const: 1 }), /'const' is not permitted/],
  [["gemini"], false, "pattern within a union", property({ oneOf: [{ type: "string", pattern: "x" }] }), /'pattern' is not permitted/],
  [["gemini"], false, "true as a value", property({ enum: [true] }), /enum has a value/],
]) {
  for (const standIn of standIns) {
    test(`the stand-in ${standIn} rejects ${what}${strict ? " of a strict tool" : ""}`, async () => {
      await assert.rejects(loop(standIn, [[add(1, 1)]], { tools: [ownTool(standIn, schema, strict)] }), refusal);
    });
  }
}

// The SDK rewrites the older member, so these schemas are tested without it.
for (const [what, schema, refusal] of [
  ["a list of types", object({ p: { type: ["string", "null"] } }), /#\/properties\/p: type must be one name/],
  ["additionalProperties", property({ type: "string" }), /#: 'additionalProperties' is not permitted/],
  ["a number as a value", object({ p: { enum: [1] } }), /enum has a value/],
  ["const", object({ p: { const: "x" } }), /'const' is not permitted/],
  ["$ref", object({ p: { $ref: "#/$defs/x" } }), /'\$ref' is not permitted/],
]) {
  test(`Gemini's older parameters: ${what} is rejected`, () => {
    assert.throws(() => taken(SUBSETS["gemini parameters"], schema), refusal);
  });
}
