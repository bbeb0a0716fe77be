// Gemini's generateContent: which requests it rejects, and its answers.
import { isDeepStrictEqual } from "node:util";
import { SUBSETS, taken } from "../schemas.mjs";
import { members, must, pathOf } from "./stand-in.mjs";

// Protocol Buffers' JSON takes both spellings and knows no other members.
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const REQUEST = "model contents tools toolConfig systemInstruction generationConfig safetySettings cachedContent labels serviceTier store";
const GENERATION = `stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens
 temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs thinkingConfig mediaResolution speechConfig`.replaceAll(/\s+/g, " ");
const PART = "text thought thoughtSignature inlineData fileData functionCall functionResponse";
// Google documents these values for calls that another model made. As bytes they are base64 in JSON; the service takes both.
const FOREIGN = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"].flatMap((text) => [text, Buffer.from(text).toString("base64")]);

/** `value` with camelCase names; those of structs such as arguments and schemas stay. */
function camelCased(value, key) {
  if (["args", "response", "parameters", "parametersJsonSchema", "responseJsonSchema", "responseSchema"].includes(key)) return value;
  if (Array.isArray(value)) return value.map((item) => camelCased(item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), camelCased(member, camel(name))]));
}
const unknown = (where) => (name) => `Invalid JSON payload received. Unknown name "${name}"${where && ` at '${where}'`}: Cannot find field.`;

const generate = {
  validate(sent, { model, state }) {
    const body = camelCased(sent);
    members(body, REQUEST, unknown(""));
    const names = tools(body);
    const config = body.toolConfig?.functionCallingConfig;
    if (config !== undefined) {
      members(config, "mode allowedFunctionNames streamFunctionCallArguments", unknown("tool_config.function_calling_config"));
      must(["AUTO", "ANY", "NONE", "VALIDATED"].includes(config.mode?.toUpperCase()), "Invalid value at 'tool_config.function_calling_config.mode'");
      const allowed = config.allowedFunctionNames ?? [];
      must(allowed.length === 0 || ["ANY", "VALIDATED"].includes(config.mode), "allowed_function_names should be set only when mode is ANY or VALIDATED.");
      must(allowed.every((name) => names.has(name)), "allowed_function_names must be declared functions.");
      must(names.size > 0, "Function calling config is set without function_declarations.");
    }
    members(body.generationConfig ?? {}, GENERATION, unknown("generation_config"));
    const { temperature, stopSequences } = body.generationConfig ?? {};
    must(temperature === undefined || (temperature >= 0 && temperature <= 2), "temperature must be in the range [0.0, 2.0].");
    must((stopSequences ?? []).length <= 5, "at most 5 stop sequences");
    contents(body.contents, model, state);
    if (body.systemInstruction) must(body.systemInstruction.parts?.every(({ text }) => text), "system_instruction: parts must have text");
  },

  reply(turn, { model, streamed, sse, body, state }) {
    const signs = model.startsWith("gemini-3");
    const parts = [];
    if (turn.thinking !== undefined) parts.push({ text: turn.thinking, thought: true });
    const texts = turn.text.map((text) => ({ text }));
    const calls = turn.calls.map(({ id, name, input = {}, signature }, at) => {
      const part = { functionCall: { ...(signs && { id: id.slice(-16) }), name, args: input } };
      if (signs && at === 0) part.thoughtSignature = signature ?? Buffer.from(`signature of ${turn.seed}`).toString("base64");
      if (part.thoughtSignature) state.issued.set(part.thoughtSignature, part.functionCall);
      return part;
    });
    const thoughts = turn.thinking === undefined ? {} : { thoughtsTokenCount: 7 };
    const usageMetadata = { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 5, ...thoughts, ...turn.usage };
    usageMetadata.totalTokenCount = usageMetadata.promptTokenCount + usageMetadata.candidatesTokenCount + (usageMetadata.thoughtsTokenCount ?? 0);
    const common = { modelVersion: model, responseId: turn.seed };
    const finishReason = turn.finish ?? "STOP";
    const blocked = turn.blocked && { promptFeedback: { blockReason: turn.blocked } };
    if (!streamed) {
      const text = turn.text.length > 0 ? [{ text: turn.text.join("") }] : [];
      const content = { role: "model", parts: [...parts, ...text, ...calls] };
      const candidate = { ...(content.parts.length > 0 && { content }), finishReason, index: 0 };
      return { body: { ...(blocked || { candidates: [candidate] }), usageMetadata, ...common } };
    }
    const chunk = (parts, rest = {}) => ({
      candidates: [{ ...(parts.length > 0 && { content: { role: "model", parts } }), index: 0, ...rest }],
      usageMetadata: rest.finishReason ? usageMetadata : { promptTokenCount: 10, totalTokenCount: 10 + (thoughts.thoughtsTokenCount ?? 0), ...thoughts },
      ...common,
    });
    // Calls and STOP may come in separate chunks.
    const chunks = [...parts, ...texts].map((part) => chunk([part]));
    if (calls.length > 0) chunks.push(chunk(calls));
    chunks.push(chunk(finishReason === "STOP" ? [{ text: "" }] : [], { finishReason }));
    const sent = blocked ? [{ ...blocked, usageMetadata, ...common }] : chunks;
    return { stream: true, array: !sse, events: sent.map((one) => ({ data: JSON.stringify(one) })) };
  },

  failure: (message) => ({ data: JSON.stringify(gemini.error(503, message)) }),
};

const list = {
  answer: ({ models }) => ({ models: models.map((id) => ({ name: `models/${id}`, displayName: id, inputTokenLimit: 1048576, outputTokenLimit: 65536, supportedGenerationMethods: ["generateContent", "countTokens"] })) }),
};

export const gemini = {
  eol: "\r\n",

  models: ["gemini-3-pro-preview", "gemini-2.5-flash"],

  route(method, url) {
    if (method === "GET" && /^\/v1(?:beta)?\/models$/.test(pathOf(url))) return list;
    const [, model, action] = /^\/v1(?:beta)?\/models\/([^/:?]+):(generateContent|streamGenerateContent)$/.exec(pathOf(url)) ?? [];
    return method === "POST" && model && { ...generate, model, streamed: action === "streamGenerateContent", sse: /[?&]alt=sse\b/.test(url) };
  },

  // A wrong key is 400 here, not 401.
  unauthorized(headers, url, key) {
    const sent = headers["x-goog-api-key"] ?? new URL(url, "http://x").searchParams.get("key");
    if (sent === key) return undefined;
    return sent ? [400, "API key not valid. Please pass a valid API key.", "API_KEY_INVALID"] : [403, "Method doesn't allow unregistered callers."];
  },

  error(status, message, reason) {
    const names = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE" };
    const details = reason && [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" }];
    return { error: { code: status, message, status: names[status] ?? "UNKNOWN", ...(details && { details }) } };
  },
};

function tools({ tools = [] }) {
  const names = new Set();
  for (const tool of tools) {
    members(tool, "functionDeclarations googleSearch codeExecution urlContext googleMaps", unknown("tools[]"));
    must(!tool.functionDeclarations || tool.functionDeclarations.length > 0, "function_declarations must not be empty");
    for (const one of tool.functionDeclarations ?? []) {
      members(one, "name description parameters parametersJsonSchema response responseJsonSchema behavior", unknown("tools[].function_declarations[]"));
      must(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(one.name), "Invalid function name. Must start with a letter or an underscore.");
      must(!names.has(one.name), `Duplicate function declaration found: ${one.name}`);
      must(!(one.parameters && one.parametersJsonSchema), "parameters and parameters_json_schema are mutually exclusive");
      const { parameters, parametersJsonSchema: schema = parameters } = one;
      if (schema) taken(SUBSETS[parameters ? "gemini parameters" : "gemini"], { ...schema, type: schema.type?.toLowerCase() });
      names.add(one.name);
    }
  }
  return names;
}

function contents(list, model, { issued }) {
  must(Array.isArray(list) && list.length > 0, "contents is not specified");
  let calls = [];
  // The current turn starts with the last message of the user that is not a result.
  const start = list.findLastIndex(({ role, parts }) => role === "user" && parts?.some(({ functionResponse }) => !functionResponse));
  for (const [at, { role, parts, ...rest }] of list.entries()) {
    members(rest, "", unknown(`contents[${at}]`));
    must(["user", "model", "function"].includes(role), "Please use a valid role: user, model.");
    must(Array.isArray(parts) && parts.length > 0, "contents.parts must not be empty.");
    for (const part of parts) partRules(part, at);
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    must(results.length === calls.length, "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.");
    must(results.every(({ id }) => id === undefined || calls.some((call) => call.id === id)), "The id of a function response does not match a call.");
    const asked = parts.filter(({ functionCall }) => functionCall);
    must(asked.length === 0 || role === "model", "function calls have the role model");
    must(asked.length === 0 || at > 0, "Please ensure that function call turn comes immediately after a user turn or after a function response turn.");
    calls = asked.map(({ functionCall }) => functionCall);
    if (asked.length === 0) continue;
    const [{ thoughtSignature, functionCall }] = asked;
    if (model.startsWith("gemini-3") && at > start) must(thoughtSignature, `Function call is missing a thought_signature in functionCall parts. Function call '${functionCall.name}', position ${at}.`);
    if (thoughtSignature && !FOREIGN.includes(thoughtSignature)) {
      must(issued.get(thoughtSignature)?.name === functionCall.name, "Corrupted thought signature.");
      must(isDeepStrictEqual(issued.get(thoughtSignature).args, functionCall.args), "Corrupted thought signature.");
    }
  }
  must(calls.length === 0, "Please ensure that function call turn is followed by a function response turn.");
}

function partRules(part, at) {
  members(part, PART, unknown(`contents[${at}].parts[]`));
  const data = ["text", "inlineData", "fileData", "functionCall", "functionResponse"].filter((name) => part[name] !== undefined);
  must(data.length === 1, "part.data: exactly one field must be set");
  const struct = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (part.functionCall) {
    members(part.functionCall, "id name args", unknown(`contents[${at}].parts[].function_call`));
    must(part.functionCall.args === undefined || struct(part.functionCall.args), "Invalid value at 'function_call.args' (type.googleapis.com/google.protobuf.Struct)");
  }
  if (part.functionResponse) {
    members(part.functionResponse, "id name response willContinue scheduling parts", unknown(`contents[${at}].parts[].function_response`));
    must(part.functionResponse.name, "GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.");
    must(struct(part.functionResponse.response), "Invalid value at 'function_response.response' (type.googleapis.com/google.protobuf.Struct)");
  }
}
