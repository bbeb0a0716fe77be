// Reads Chat Completions as a strict client does: answers, chunks and whole streams.
import assert from "node:assert/strict";
import { z } from "zod";
import { parse } from "./events.mjs";

const count = z.int().nonnegative();
const USAGE = z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count });
const FINISH = z.enum(["stop", "length", "tool_calls", "content_filter"]);
const CALL = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
  index: count.optional(),
  extra_content: z.looseObject({}).optional(),
});
const COMMON = { id: z.string().min(1), created: z.int(), model: z.string().min(1), system_fingerprint: z.string().nullish(), service_tier: z.string().nullish() };
const logprobs = z.null().optional();

/** An answer that is not streamed. */
export const COMPLETION = z.strictObject({
  ...COMMON,
  object: z.literal("chat.completion"),
  choices: z.array(
    z.strictObject({
      index: count,
      message: z.looseObject({ role: z.literal("assistant"), content: z.string().nullable(), tool_calls: z.array(CALL).min(1).optional() }),
      finish_reason: FINISH,
      logprobs,
    }),
  ).length(1),
  usage: USAGE,
  _2api: z.looseObject({}).optional(),
});

const DELTA = z.looseObject({
  role: z.literal("assistant").optional(),
  content: z.string().nullish(),
  tool_calls: z.array(CALL.partial().extend({ index: count, function: z.object({ name: z.string(), arguments: z.string() }).partial().optional() })).optional(),
});

/** A chunk of a stream. */
export const CHUNK = z.strictObject({
  ...COMMON,
  object: z.literal("chat.completion.chunk"),
  choices: z.array(z.strictObject({ index: count, delta: DELTA, finish_reason: FINISH.nullable(), logprobs })).max(1),
  usage: USAGE.nullish(),
  _2api: z.looseObject({}).optional(),
});

/**
 * What a client makes of a stream: `message` as it goes back into the conversation, with the unknown members of its
 * parts; `calls` in order of their index, each with the number of deltas; `finishes`, `usages`, `errors`; `done`.
 */
export function fold(text) {
  const folded = { message: { role: "assistant", content: null }, calls: [], chunks: [], finishes: [], usages: [], errors: [], done: false };
  for (const { event, data } of parse(text)) {
    if (data === undefined) continue;
    if (data === "[DONE]") {
      folded.done = true;
      continue;
    }
    const chunk = JSON.parse(data);
    if (chunk.error || event === "error") {
      folded.errors.push(chunk.error ?? chunk);
      continue;
    }
    folded.chunks.push(chunk);
    if (chunk.usage) folded.usages.push(chunk);
    if (chunk._2api) folded._2api = { ...folded._2api, ...chunk._2api };
    for (const { delta = {}, finish_reason } of chunk.choices) {
      if (finish_reason) folded.finishes.push(finish_reason);
      add(folded, delta);
    }
  }
  folded.calls = (folded.message.tool_calls ?? []).filter(Boolean);
  return folded;
}

function add({ message }, { role, content, tool_calls = [], ...rest }) {
  if (typeof content === "string") message.content = (message.content ?? "") + content;
  for (const { index, function: { name, arguments: text, ...extra } = {}, ...more } of tool_calls) {
    message.tool_calls ??= [];
    const call = (message.tool_calls[index] ??= { function: { name: "", arguments: "" } });
    Object.assign(call, more);
    Object.assign(call.function, extra);
    if (name) call.function.name += name;
    if (text) call.function.arguments += text;
  }
  // Lists grow, texts and objects too; anything else is replaced.
  for (const [key, value] of Object.entries(rest)) message[key] = merged(message[key], value);
}

function merged(before, value) {
  if (before === undefined || before === null) return value;
  if (Array.isArray(value)) return [...before, ...value];
  if (typeof value === "string") return before + value;
  if (value && typeof value === "object") {
    const result = { ...before };
    for (const [key, member] of Object.entries(value)) result[key] = merged(before[key], member);
    return result;
  }
  return value;
}

/** Each chunk is what OpenAI's types say, the first has the role, and all have one id. */
function grammar(text) {
  const { chunks } = fold(text);
  for (const chunk of chunks) CHUNK.parse(chunk);
  assert.equal(chunks[0].choices[0].delta.role, "assistant");
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1, "one id");
  assert.ok(text.trimEnd().endsWith("data: [DONE]"), text);
}

export const chat = {
  name: "chat",
  path: "/v1/chat/completions",
  request: (body) => body,
  answer({ choices: [{ message, finish_reason: finish }], usage, _2api }) {
    return { message, calls: message.tool_calls ?? [], finish, usage, _2api };
  },
  fold(text) {
    const folded = fold(text);
    return { ...folded, usage: folded.usages[0]?.usage };
  },
  grammar,
  compiledIn: (allowed, search) => ({ tools: [{ type: "toolbooth", allowed, search, require_approval: "never" }] }),
  error: ({ error }) => error,
};
