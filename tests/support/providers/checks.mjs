// What JSON Schema cannot say of a request: how its parts belong together. Each check gets the value at its rule's place and the
// whole request, and returns what its rule's message needs if the rule is broken.
import { SUBSETS, taken } from "../schemas.mjs";

const list = (value) => (Array.isArray(value) ? value : []);
const THOUGHTS = ["thinking", "redacted_thinking"];

/** Breaks if the schema is not in the subset. */
function subset(name, schema) {
  try {
    taken(SUBSETS[name], schema);
  } catch (error) {
    return { found: error.message };
  }
}

/** The first pair of a message and its successor for which `broken` returns details. */
function inTurn(messages, broken) {
  let details;
  list(messages).some((message, at) => (details = broken(message, messages[at - 1], at)) !== undefined);
  return details;
}
const ofType = (message, type) => list(message?.content).filter((block) => block.type === type);

// Chat Completions.
/** Calls without results, and results without calls, in the order in which they are found. */
function pairs(messages) {
  const problems = [];
  let open = [];
  for (const [at, message] of list(messages).entries()) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id)) problems.push({ kind: "result", path: ["messages", at], found: message.tool_call_id });
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) problems.push({ kind: "call", path: ["messages", at], found: open.join(", ") });
    open = list(message.tool_calls).map(({ id }) => id);
  }
  if (open.length > 0) problems.push({ kind: "call", path: ["messages"], found: open.join(", ") });
  return problems;
}

// Responses.
const CALLS = ["function_call", "custom_tool_call", "tool_search_call", "local_shell_call", "shell_call", "apply_patch_call"];
const outputOf = (type) => (type === "tool_search_call" ? "tool_search_output" : `${type}_output`);
const words = (type, id) => `${type.replaceAll("_", " ")} ${id}`;

function itemPairs(input) {
  const problems = [];
  const open = new Map();
  for (const { type, call_id } of list(input)) {
    if (typeof call_id !== "string") continue;
    if (CALLS.includes(type)) open.set(call_id, type);
    else if (open.has(call_id) && outputOf(open.get(call_id)) === type) open.set(call_id, undefined);
    else problems.push({ kind: "result", found: `${type.replaceAll("_", " ")} with call_id ${call_id}` });
  }
  for (const [id, type] of open) if (type) problems.push({ kind: "call", found: words(type, id) });
  return problems;
}

/** The problems of either format. */
const unpaired = (body) => (body.messages ? pairs(body.messages) : itemPairs(body.input));
const partOf = (types) => (item) => {
  const part = list(item.content).find(({ type }) => !types.includes(type));
  return part && { found: part.type };
};

// Messages.
const problemsOf = {
  "results follow calls"(message, before, at) {
    const results = ofType(message, "tool_result").map(({ tool_use_id }) => tool_use_id);
    const missing = ofType(before, "tool_use").map(({ id }) => id).filter((id) => !results.includes(id));
    return missing.length > 0 ? { path: ["messages", at], found: missing.join(", ") } : undefined;
  },
  "calls precede results"(message, before, at) {
    const calls = ofType(before, "tool_use").map(({ id }) => id);
    const found = ofType(message, "tool_result").find(({ tool_use_id }) => !calls.includes(tool_use_id));
    return found && { path: ["messages", at], found: found.tool_use_id };
  },
};
const isAnthropic = ({ headers }) => headers !== undefined && "anthropic-version" in headers;
/** How many blocks have a mark for the cache. */
function marks(value) {
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + marks(one), 0);
  if (value === null || typeof value !== "object") return 0;
  return (value.cache_control ? 1 : 0) + (value.role || value.type === "tool_result" ? marks(value.content) : 0);
}
// Members that need a beta, and the beginning of its name.
const BETAS = { context_management: "context-management-", mcp_servers: "mcp-client-", output_format: "structured-outputs-" };
const VERSIONS = ["2023-06-01", "2026-10-21"];

// Gemini. Google documents these values for calls that another model made. As bytes they are base64 in JSON; the service takes both.
const FOREIGN = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"].flatMap((text) => [text, Buffer.from(text).toString("base64")]);
const called = (content) => list(content?.parts).filter(({ functionCall }) => functionCall);
const answered = (content) => list(content?.parts).flatMap(({ functionResponse }) => functionResponse ?? []);
const declared = ({ tools }) => list(tools).flatMap(({ functionDeclarations }) => list(functionDeclarations)).map(({ name }) => name);
const lowercase = (schema) => (schema?.type ? { ...schema, type: [schema.type].flat().map((type) => type.toLowerCase()).flat()[0] } : schema);

/** Every schema of a request to Gemini, and those in it. */
function* schemasOf(body) {
  for (const { functionDeclarations } of list(body.tools)) for (const { parametersJsonSchema } of list(functionDeclarations)) yield* nested(parametersJsonSchema);
  yield* nested(body.generationConfig?.responseJsonSchema);
}
function* nested(value) {
  if (Array.isArray(value)) for (const one of value) yield* nested(one);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return;
  yield value;
  for (const one of Object.values(value)) yield* nested(one);
}

export const CHECKS = {
  "results follow calls"(_, context) {
    const { body } = context;
    if (body.contents) {
      return inTurn([...list(body.contents), {}], (content, before, at) =>
        answered(content).length === called(before).length ? undefined : { path: ["contents", at] });
    }
    if (isAnthropic(context)) return inTurn([...list(body.messages), { content: [] }], problemsOf["results follow calls"]);
    return unpaired(body).find(({ kind }) => kind === "call");
  },
  "calls precede results"(_, context) {
    if (isAnthropic(context)) return inTurn(context.body.messages, problemsOf["calls precede results"]);
    return unpaired(context.body).find(({ kind }) => kind === "result");
  },

  "the version is known"(_, { headers }) {
    const version = headers?.["anthropic-version"];
    return VERSIONS.includes(version) ? undefined : { found: version ?? "" };
  },
  "the newer version has no sampling"(body, { headers }) {
    const found = ["temperature", "top_p", "top_k"].find((name) => name in body);
    return headers?.["anthropic-version"] === "2026-10-21" && found ? { found } : undefined;
  },
  "betas are asked for"(body, { headers }) {
    const asked = (headers?.["anthropic-beta"] ?? "").split(",").map((one) => one.trim());
    const found = Object.keys(BETAS).find((name) => name in body && !asked.some((one) => one.startsWith(BETAS[name])));
    return found && { found };
  },
  "the budget fits"({ thinking, max_tokens }) {
    if (thinking?.type !== "enabled") return;
    return thinking.budget_tokens >= 1024 && thinking.budget_tokens < (max_tokens ?? Infinity) ? undefined : {};
  },
  "at most four cache marks"(body) {
    const found = [body, body.system, body.tools, body.messages].reduce((sum, part) => sum + marks(part), 0);
    return found > 4 ? { found } : undefined;
  },
  "a strict schema": ({ input_schema }) => subset("anthropic strict", input_schema),
  "tools have names of their own"({ tools }) {
    const names = list(tools).map(({ type, name, mcp_server_name }) => (type === "mcp_toolset" ? `mcp_toolset ${mcp_server_name}` : name));
    return new Set(names).size === names.length ? undefined : {};
  },
  "only the last message may be empty": (_, { body }) =>
    inTurn(body.messages, ({ role, content }, __, at) =>
      list(content).length > 0 || (role === "assistant" && at === body.messages.length - 1) ? undefined : { path: ["messages", at] }),
  "results are the first blocks": (_, { body }) =>
    inTurn(body.messages, (message, __, at) => {
      const { length } = ofType(message, "tool_result");
      return list(message.content).slice(0, length).every(({ type }) => type === "tool_result") ? undefined : { path: ["messages", at] };
    }),
  "calls have ids of their own"(_, { body }) {
    const ids = list(body.messages).flatMap((message) => ofType(message, "tool_use").map(({ id }) => id));
    return new Set(ids).size === ids.length ? undefined : {};
  },
  // Nothing is known to be issued when rules are tried without a stand-in.
  "thoughts are signed": (_, { body, issued }) =>
    inTurn(issued && body.messages, (message, __, at) => {
      const index = list(message.content).findIndex(({ type, signature, thinking }) => type === "thinking" && issued.get(signature) !== thinking);
      return index < 0 ? undefined : { path: ["messages", at, "content", index] };
    }),
  "thoughts precede the last calls": (_, { body }) =>
    inTurn(body.messages, (message, __, at) => {
      if (at < body.messages.length - 2 || ofType(message, "tool_use").length === 0) return;
      const [first] = message.content;
      return THOUGHTS.includes(first.type) ? undefined : { path: ["messages", at, "content", 0], found: first.type };
    }),
  "a user ends the conversation": (_, { body }) => (["assistant", "model"].includes(list(body.messages ?? body.contents).at(-1)?.role) ? {} : undefined),

  "an OpenAI schema": ({ parameters }) => subset("openai", parameters),
  "a strict OpenAI schema": ({ parameters }) => subset("openai strict", parameters),
  "no reference to an item": ({ input }) => {
    const item = list(input).find(({ type }) => type === "item_reference");
    return item && { id: item.id };
  },
  "parts of the assistant": partOf(["output_text", "refusal"]),
  "parts of the user": partOf(["input_text", "input_image", "input_file"]),
  "reasoning was issued": ({ encrypted_content }, { issued }) => (!issued || issued.has(encrypted_content) ? undefined : {}),
  "an item follows reasoning"(_, { body, path: [, at] }) {
    const next = body.input[at + 1];
    const follows = next && ["message", "reasoning", ...CALLS].includes(next.type ?? "message") && (next.role ?? "assistant") === "assistant";
    return follows ? undefined : {};
  },

  "a Gemini schema": ({ parametersJsonSchema }) => subset("gemini", lowercase(parametersJsonSchema)),
  "an older Gemini schema": ({ parameters }) => subset("gemini parameters", lowercase(parameters)),
  "a Gemini schema of answers": ({ responseJsonSchema }) => subset("gemini answer", responseJsonSchema),
  "references stand alone"(body) {
    for (const schema of schemasOf(body)) {
      if (typeof schema.$ref === "string" && Object.keys(schema).some((name) => !name.startsWith("$") && !["description", "default"].includes(name))) return { path: ["tools"] };
    }
  },
  "allowed functions are declared"(body) {
    const found = list(body.toolConfig?.functionCallingConfig?.allowedFunctionNames).find((name) => !declared(body).includes(name));
    return found && { found };
  },
  "calls come after users": (_, { body }) =>
    inTurn(body.contents, (content, before, at) => (called(content).length > 0 && (at === 0 || before.role === "model") ? { path: ["contents", at] } : undefined)),
  "results name their calls": (_, { body }) =>
    inTurn(body.contents, (content, before, at) => {
      const ids = called(before).map(({ functionCall }) => functionCall.id);
      return answered(content).some(({ id }) => id !== undefined && ids.some(Boolean) && !ids.includes(id)) ? { path: ["contents", at] } : undefined;
    }),
  "calls are signed"(_, { body }) {
    // The current turn starts with the last message of the user that is not a result.
    const start = list(body.contents).findLastIndex(({ role, parts }) => role === "user" && list(parts).some(({ functionResponse }) => !functionResponse));
    return inTurn(body.contents, (content, __, at) => {
      const [first] = called(content);
      return at > start && first && !first.thoughtSignature ? { path: [at], found: first.functionCall.name } : undefined;
    });
  },
  "signatures were issued": (_, { body, issued }) =>
    inTurn(issued && body.contents, (content) =>
      // What a client adds to the arguments, such as defaults, is no reason.
      called(content).some(({ thoughtSignature, functionCall: { name } }) =>
        thoughtSignature && !FOREIGN.includes(thoughtSignature) && issued.get(thoughtSignature)?.name !== name,
      ) ? {} : undefined),

  "reasoning comes back with calls": (_, { body }) =>
    body.thinking?.type === "disabled" ? undefined : inTurn(body.messages, ({ tool_calls, reasoning_content }, __, at) =>
      tool_calls && typeof reasoning_content !== "string" ? { path: ["messages", at] } : undefined),
  "one system message, the first": (_, { body }) =>
    inTurn(body.messages, ({ role }, __, at) => (role === "system" && at > 0 ? { path: ["messages", at] } : undefined)),
  "an assistant follows results": (_, { body }) =>
    inTurn(body.messages, ({ role }, before) => (before?.role === "tool" && !["tool", "assistant"].includes(role) ? { found: role } : undefined)),
  "a user or a result ends the conversation"(_, { body }) {
    const last = list(body.messages).at(-1);
    return last?.role === "assistant" && !last.prefix ? {} : undefined;
  },
};
