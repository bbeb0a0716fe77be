// OpenAI: its endpoints, which requests to Chat Completions it rejects, and its answers.
import { SUBSETS, taken } from "../schemas.mjs";
import { responses } from "./responses.mjs";
import { Invalid, members, must, pathOf, pieces } from "./stand-in.mjs";

const REQUEST = `messages model audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens metadata modalities n
 parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort response_format
 safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity
 web_search_options`.replaceAll(/\s+/g, " ");
const MESSAGES = {
  system: "role content name",
  developer: "role content name",
  user: "role content name",
  assistant: "role content name refusal audio annotations tool_calls function_call",
  tool: "role content tool_call_id",
};
const unknown = (where) => (name) => `Unknown parameter: '${where}${name}'.`;

const chat = {
  validate(body) {
    members(body, REQUEST, (name) => `Unrecognized request argument supplied: ${name}`);
    must(typeof body.model === "string" && body.model, "you must provide a model parameter");
    must(!("max_tokens" in body && "max_completion_tokens" in body), "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.");
    must(body.stream || !body.stream_options, "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
    range(body, "temperature", 0, 2);
    range(body, "top_p", 0, 1);
    if (Array.isArray(body.stop)) must(body.stop.length <= 4, "Invalid 'stop': array too long. Expected at most 4.");
    tools(body);
    messages(body.messages);
  },

  reply(turn, { body }) {
    const finish = turn.finish ?? (turn.calls.length > 0 ? "tool_calls" : "stop");
    const common = { id: `chatcmpl-${turn.seed}`, created: 1700000000, model: body.model, service_tier: "default", system_fingerprint: "fp_1" };
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
      ...turn.usage,
    };
    const calls = turn.calls.map(({ id, name, input, text }) => ({
      id: `call_${id}`.slice(0, 40),
      type: "function",
      function: { name, arguments: text ?? JSON.stringify(input ?? {}) },
    }));
    if (body.stream) return { stream: true, events: events({ ...common, object: "chat.completion.chunk" }, turn, calls, finish, usage, body) };
    const message = { role: "assistant", content: turn.text.join("") || null, refusal: null, annotations: [] };
    if (calls.length > 0) message.tool_calls = calls;
    const choice = { index: 0, message, logprobs: null, finish_reason: finish };
    return { body: { ...common, object: "chat.completion", choices: [choice], usage } };
  },

  // OpenRouter's form; OpenAI itself sends the error alone.
  failure: (message) => ({ data: JSON.stringify({ choices: [], error: { message, type: "server_error", code: "server_error", param: null } }) }),
};

const embeddings = {
  validate(body) {
    members(body, "model input dimensions encoding_format user", (name) => `Unrecognized request argument supplied: ${name}`);
    must(typeof body.model === "string" && body.model, "you must provide a model parameter");
    must(["string", "object"].includes(typeof body.input) && body.input?.length > 0, "'$.input' is invalid.");
    must(["float", "base64", undefined].includes(body.encoding_format), "Invalid value for 'encoding_format'.");
  },
  answer({ body: { model, input, encoding_format } }) {
    const vector = new Float32Array([0.5, -0.25]);
    const embedding = encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
    const texts = typeof input === "string" || typeof input[0] === "number" ? [input] : input;
    return { object: "list", data: texts.map((_, index) => ({ object: "embedding", index, embedding })), model, usage: { prompt_tokens: 3, total_tokens: 3 } };
  },
};

const models = {
  answer: ({ models }) => ({ object: "list", data: models.map((id) => ({ id, object: "model", created: 1700000000, owned_by: "openai" })) }),
};

const ENDPOINTS = { "POST /v1/chat/completions": chat, "POST /v1/responses": responses, "POST /v1/embeddings": embeddings, "GET /v1/models": models };

export const openai = {
  models: ["gpt-4.1", "gpt-5.5"],

  route: (method, url) => ENDPOINTS[`${method} ${pathOf(url)}`],

  unauthorized: ({ authorization }, _, key) =>
    authorization === `Bearer ${key}` ? undefined : [401, `Incorrect API key provided: ${authorization?.slice(7)}.`, "invalid_api_key"],

  error(status, message, code = null) {
    const type = status === 429 ? "requests" : status >= 500 ? "server_error" : "invalid_request_error";
    return { error: { message, type, param: null, code: status === 429 ? "rate_limit_exceeded" : code } };
  },
};

function range(body, name, low, high) {
  const value = body[name];
  must(value === undefined || value === null || (value >= low && value <= high), `Invalid '${name}': must be from ${low} to ${high}.`);
}

function tools({ tools, tool_choice, parallel_tool_calls }) {
  if (tools === undefined) {
    must(tool_choice === undefined, "'tool_choice' is only allowed when 'tools' are specified.");
    must(parallel_tool_calls === undefined, "'parallel_tool_calls' is only allowed when 'tools' are specified.");
    return;
  }
  must(Array.isArray(tools) && tools.length > 0, "[] is too short - 'tools'");
  must(tools.length <= 128, "Invalid 'tools': array too long. Expected an array with maximum length 128.");
  const names = tools.map((tool) => {
    members(tool, "type function", unknown("tools[]."));
    must(tool.type === "function", `Invalid value: '${tool.type}'. Supported values are: 'function' and 'custom'.`);
    members(tool.function, "name description parameters strict", unknown("tools[].function."));
    must(/^[a-zA-Z0-9_-]{1,64}$/.test(tool.function.name), "Invalid 'tools[].function.name': string does not match pattern.");
    must((tool.function.description ?? "").length <= 1024, "Invalid 'tools[].function.description': string too long.");
    if (tool.function.parameters) taken(SUBSETS[tool.function.strict ? "openai strict" : "openai"], tool.function.parameters);
    return tool.function.name;
  });
  if (tool_choice === undefined || ["auto", "none", "required"].includes(tool_choice)) return;
  must(typeof tool_choice === "object" && ["function", "allowed_tools"].includes(tool_choice?.type), "Invalid 'tool_choice'.");
  if (tool_choice.type === "function") {
    members(tool_choice, "type function", unknown("tool_choice."));
    must(names.includes(tool_choice.function?.name), "Tool choice 'function' not found in 'tools' parameter.");
  }
}

function messages(list) {
  must(Array.isArray(list) && list.length > 0, "[] is too short - 'messages'");
  let open = [];
  for (const [at, message] of list.entries()) {
    const where = `messages[${at}]`;
    must(message.role in MESSAGES, `Invalid value: '${message.role}' at '${where}.role'.`);
    members(message, MESSAGES[message.role], unknown(`${where}.`));
    if (message.role === "tool") {
      must(open.includes(message.tool_call_id), `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`);
      open = open.filter((id) => id !== message.tool_call_id);
    } else {
      must(open.length === 0, `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open}`);
    }
    content(message, where);
    if (message.tool_calls !== undefined) open = calls(message.tool_calls, where);
  }
  must(open.length === 0, `The following tool_call_ids did not have response messages: ${open}`);
}

function content({ role, content, tool_calls }, where) {
  if (role === "assistant" && (content === null || content === undefined)) {
    return must(tool_calls, `Invalid value for 'content': expected a string, got null at '${where}'.`);
  }
  if (typeof content === "string") return;
  must(Array.isArray(content) && content.length > 0, `Invalid type for '${where}.content'.`);
  for (const part of content) {
    const types = role === "user" ? ["text", "image_url", "input_audio", "file"] : role === "assistant" ? ["text", "refusal"] : ["text"];
    must(types.includes(part.type), `Invalid value: '${part.type}' at '${where}.content'.`);
    if (part.type === "text") must(typeof part.text === "string", `Missing '${where}.content[].text'.`);
  }
}

function calls(list, where) {
  must(Array.isArray(list) && list.length > 0, `[] is too short - '${where}.tool_calls'`);
  const ids = list.map((call) => {
    members(call, "id type function", unknown(`${where}.tool_calls[].`));
    must(call.type === "function", `Missing required parameter: '${where}.tool_calls[].type'.`);
    must(typeof call.id === "string" && call.id.length <= 40, `Invalid '${where}.tool_calls[].id': string too long. Expected a string with maximum length 40.`);
    members(call.function, "name arguments", unknown(`${where}.tool_calls[].function.`));
    must(typeof call.function.arguments === "string", `Invalid type for '${where}.tool_calls[].function.arguments': expected a string.`);
    return call.id;
  });
  if (new Set(ids).size !== ids.length) throw new Invalid(`Duplicate ids in '${where}.tool_calls'.`);
  return ids;
}

function* events(common, turn, calls, finish, usage, body) {
  const included = body.stream_options?.include_usage;
  const chunk = (delta, finish_reason = null) => ({
    data: JSON.stringify({ ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...(included && { usage: null }) }),
  });
  yield chunk({ role: "assistant", content: calls.length > 0 ? null : "", refusal: null });
  for (const content of turn.text) yield chunk({ content });
  for (const [index, { id, type, function: { name, arguments: text } }] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, id, type, function: { name, arguments: "" } }] });
    for (const part of pieces(text)) yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
  }
  yield chunk({}, finish);
  if (included) yield { data: JSON.stringify({ ...common, choices: [], usage }) };
  yield { data: "[DONE]" };
}
