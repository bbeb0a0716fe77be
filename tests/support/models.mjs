// Stand-ins for model providers on a loopback port, for tool loops. The model follows a script. Like the
// real ones, the provider rejects requests that break its rules: names and schemas of tools, and exactly
// one result for every call.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { SUBSETS, sums, taken } from "./schemas.mjs";
import { listen } from "./server.mjs";

/**
 * Starts the stand-in for `provider`. `script` has the turns in which the model calls tools, each a list
 * of `{ name, input }` or `{ name, text }`, the latter with the model's literal arguments. After
 * them the model's reply contains all results it received, as JSON.
 *
 * `base` is its URL; `rejections` lists the rules that requests broke.
 */
export async function model(provider, script) {
  const rules = PROVIDERS[provider];
  const rejections = [];
  const server = await listen(async (request, response) => {
    const answer = (status, body) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    try {
      const parts = [];
      for await (const part of request) parts.push(part);
      assert.match(request.url, rules.path, "the path");
      rules.authorized(request.headers);
      const body = JSON.parse(Buffer.concat(parts));
      const tools = rules.tools(body);
      const { turns, results } = rules.conversation(body);
      assert.ok(turns <= script.length, "the conversation is longer than the script");
      const calls = script[turns];
      for (const { name } of calls ?? []) assert.ok(tools.has(name), `the tool ${name} is not declared`);
      answer(200, rules.answer(turns, calls, JSON.stringify(results)));
    } catch (error) {
      rejections.push(error.message);
      answer(400, { error: { code: 400, type: "invalid_request_error", status: "INVALID_ARGUMENT", message: error.message } });
    }
  });
  return { ...server, rejections };
}

const callId = (turn, at) => `call_${turn}_${at}`;

/** Checks the names, descriptions and schemas of tools; returns the set of names. `subset` selects the allowed schemas. */
function declared(tools, namePattern, propertyPattern, subset) {
  assert.ok(Array.isArray(tools) && tools.length > 0 && tools.length <= 128, "1 to 128 tools are allowed");
  const names = new Set();
  for (const tool of tools) {
    const { name, description, schema } = tool;
    assert.match(name, namePattern, "the name of a tool");
    assert.ok(!names.has(name), "two tools have one name");
    assert.ok(typeof description === "string" && description.length <= 1024, "a description has at most 1024 characters");
    taken(SUBSETS[subset(tool)], schema);
    for (const property of Object.keys(schema.properties ?? {})) {
      assert.match(property, propertyPattern, "the name of a property");
    }
    for (const required of schema.required ?? []) assert.ok(required in schema.properties, "required but not a property");
    names.add(name);
  }
  return names;
}

/** Checks that calls and results match one to one. */
function paired(calls, results) {
  assert.equal(new Set(calls).size, calls.length, "two calls have one id");
  assert.deepEqual([...results].sort(), [...calls].sort(), "every call has exactly one result");
}

const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ANY = /./;
const openaiSubset = ({ strict }) => (strict ? "openai strict" : "openai");
const bearer = (headers) => assert.match(headers.authorization ?? "", /^Bearer .+/, "the key");
const argumentsOf = ({ input, text }) => text ?? JSON.stringify(input);

/** Chat Completions: each assistant message with tool_calls is followed by one tool message per call. */
const openai = {
  path: /^\/v1\/chat\/completions$/,
  authorized: bearer,
  tools({ tools }) {
    for (const { type, function: { strict = false } } of tools) {
      assert.equal(type, "function");
      assert.equal(typeof strict, "boolean");
    }
    return declared(
      tools.map(({ function: { parameters: schema, ...tool } }) => ({ ...tool, schema })),
      OPENAI_NAME,
      ANY,
      openaiSubset,
    );
  },
  conversation({ messages }) {
    let turns = 0;
    const results = [];
    for (let at = 0; at < messages.length; at++) {
      assert.notEqual(messages[at].role, "tool", "a tool message without a call");
      if (messages[at].role !== "assistant" || !messages[at].tool_calls) continue;
      turns++;
      const calls = messages[at].tool_calls.map(({ id, type, function: { arguments: text } }) => {
        assert.equal(type, "function");
        assert.equal(typeof text, "string", "arguments are a string");
        return id;
      });
      const answers = messages.slice(at + 1, at + 1 + calls.length);
      for (const { role, content } of answers) {
        assert.equal(role, "tool", "tool messages follow their calls");
        assert.equal(typeof content, "string", "the content of a tool message is a string");
        results.push(content);
      }
      paired(calls, answers.map(({ tool_call_id }) => tool_call_id));
      at += calls.length;
    }
    return { turns, results };
  },
  answer(turn, calls, text) {
    const tool_calls = calls?.map((call, at) => ({
      id: callId(turn, at),
      type: "function",
      function: { name: call.name, arguments: argumentsOf(call) },
    }));
    const message = calls ? { role: "assistant", content: null, tool_calls } : { role: "assistant", content: text };
    const choice = { index: 0, finish_reason: calls ? "tool_calls" : "stop", logprobs: null, message };
    return { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices: [choice] };
  },
};

/** Responses: a list of items, each function_call followed by one function_call_output. */
const responses = {
  path: /^\/v1\/responses$/,
  authorized: bearer,
  tools({ tools }) {
    for (const tool of tools) {
      assert.equal(tool.type, "function");
      assert.ok("parameters" in tool && "strict" in tool, "parameters and strict are required");
    }
    return declared(tools.map(({ parameters: schema, ...tool }) => ({ ...tool, schema })), OPENAI_NAME, ANY, openaiSubset);
  },
  conversation({ input }) {
    const items = (type) => input.filter((item) => item.type === type);
    const calls = items("function_call").map(({ call_id }) => call_id);
    const outputs = items("function_call_output");
    for (const { call_id, output } of outputs) {
      assert.ok(call_id.length <= 64, "a call_id has at most 64 characters");
      assert.equal(typeof output, "string", "an output is a string");
      const at = (type) => input.findIndex((item) => item.type === type && item.call_id === call_id);
      assert.ok(at("function_call") < at("function_call_output"), "an output follows its call");
    }
    paired(calls, outputs.map(({ call_id }) => call_id));
    return {
      turns: new Set(calls.map((id) => id.split("_")[1])).size,
      results: outputs.map(({ output }) => output),
    };
  },
  answer(turn, calls, text) {
    const output = calls?.map((call, at) => ({
      type: "function_call",
      id: `fc_${turn}_${at}`,
      call_id: callId(turn, at),
      name: call.name,
      arguments: argumentsOf(call),
      status: "completed",
    })) ?? [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ];
    return { id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m", output };
  },
};

/** Messages: all results come first in the message that follows their calls. */
const anthropic = {
  path: /^\/v1\/messages$/,
  authorized(headers) {
    assert.ok(headers["x-api-key"] || headers.authorization, "the key");
    assert.match(headers["anthropic-version"] ?? "", /^\d{4}-\d{2}-\d{2}$/);
  },
  tools({ tools }) {
    const strict = tools.filter(({ strict }) => strict);
    assert.ok(strict.length <= 20, "at most 20 tools are strict");
    const { optional, unions } = sums(strict.map(({ input_schema }) => input_schema));
    assert.ok(optional <= 24 && unions <= 16, "strict tools have at most 24 optional properties and 16 unions");
    return declared(
      tools.map(({ input_schema: schema, ...tool }) => ({ ...tool, schema })),
      /^[a-zA-Z0-9_-]{1,64}$/,
      /^[a-zA-Z0-9_.-]{1,64}$/,
      ({ strict }) => (strict ? "anthropic strict" : "anthropic"),
    );
  },
  conversation({ messages }) {
    let turns = 0;
    const results = [];
    messages.forEach(({ role, content }, at) => {
      assert.equal(role, at % 2 ? "assistant" : "user", "the roles alternate");
      assert.ok(content.length > 0, "a message is not empty");
      const blocks = typeof content === "string" ? [] : content;
      const answers = blocks.filter(({ type }) => type === "tool_result");
      const before = messages[at - 1]?.content ?? [];
      const calls = typeof before === "string" ? [] : before.filter(({ type }) => type === "tool_use");
      if (calls.length > 0) turns++;
      paired(calls.map(({ id }) => id), answers.map(({ tool_use_id }) => tool_use_id));
      blocks.slice(0, answers.length).forEach(({ type, content, is_error = false }) => {
        assert.equal(type, "tool_result", "results are the first blocks");
        assert.equal(typeof is_error, "boolean");
        results.push(is_error ? `is_error ${content}` : content);
      });
    });
    return { turns, results };
  },
  answer(turn, calls, text) {
    const content = calls
      ? [
          { type: "text", text: "Let me check." },
          ...calls.map(({ name, input }, at) => ({ type: "tool_use", id: callId(turn, at), name, input })),
        ]
      : [{ type: "text", text }];
    return {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: calls ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  },
};

/**
 * generateContent: the model's parts are echoed unchanged, followed by one response per call. `ids`: newer
 * models give calls ids and sign their thoughts; older ones reject ids.
 */
const gemini = (ids) => ({
  path: /^\/v1(beta)?\/models\/m:generateContent$/,
  authorized: (headers) => assert.ok(headers["x-goog-api-key"], "the key"),
  tools({ tools }) {
    // Google's Python SDK writes this member in snake case, which the API accepts, too.
    const functions = tools
      .flatMap((tool) => tool.functionDeclarations)
      .map(({ parameters_json_schema: snake, parametersJsonSchema = snake, ...declaration }) => ({ ...declaration, ...(parametersJsonSchema && { parametersJsonSchema }) }));
    for (const { parameters, parametersJsonSchema } of functions) {
      assert.ok(!parameters !== !parametersJsonSchema, "parameters or parametersJsonSchema, not both");
    }
    return declared(
      functions.map(({ parameters, parametersJsonSchema: schema = parameters, ...tool }) => ({
        ...tool,
        older: parameters !== undefined,
        schema: { ...schema, type: schema.type.toLowerCase() },
      })),
      /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
      /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
      ({ older }) => (older ? "gemini parameters" : "gemini"),
    );
  },
  conversation({ contents }) {
    let turns = 0;
    const results = [];
    contents.forEach(({ role, parts }, at) => {
      if (role === "model") {
        const calls = parts.filter((part) => part.functionCall);
        for (const [place, part] of calls.entries()) {
          const signature = this.signature(turns, place);
          assert.equal(part.thoughtSignature, signature, "a thoughtSignature must be echoed");
        }
        if (calls.length > 0) turns++;
        return;
      }
      assert.equal(role, "user", "results have the role user");
      const calls = (contents[at - 1]?.parts ?? []).flatMap((part) => part.functionCall ?? []);
      const answers = parts.flatMap((part) => part.functionResponse ?? []);
      assert.equal(answers.length, calls.length, "as many responses as calls");
      const key = ({ id, name }) => (ids ? `${id} ${name}` : name);
      assert.deepEqual(answers.map(key), calls.map(key), "a response has the id and name of its call");
      for (const { id, response } of answers) {
        assert.equal(id !== undefined, ids, ids ? "a response has an id" : "unknown name \"id\"");
        assert.ok(Object.prototype.toString.call(response) === "[object Object]", "a response is an object");
        assert.ok(isDeepStrictEqual(Object.keys(response), ["output"]) || isDeepStrictEqual(Object.keys(response), ["error"]));
        results.push(response.error ?? response.output);
      }
    });
    return { turns, results };
  },
  signature: (turn, at) => (ids && at === 0 ? Buffer.from(`signature ${turn}`).toString("base64") : undefined),
  answer(turn, calls, text) {
    const parts = calls?.map(({ name, input }, at) => ({
      functionCall: { ...(ids && { id: callId(turn, at) }), name, args: input },
      thoughtSignature: this.signature(turn, at),
    })) ?? [{ text }];
    return { candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts } }], modelVersion: "m" };
  },
});

const PROVIDERS = {
  openai,
  "openai-responses": responses,
  anthropic,
  gemini: gemini(true),
  "gemini without ids": gemini(false),
};
