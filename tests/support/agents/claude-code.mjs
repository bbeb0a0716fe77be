// Claude Code, as the requests of its version 2.1.330 were recorded, without their texts.
//
// The package of the program grants no licence: "All rights reserved", and its use is subject to Anthropic's Commercial or Consumer Terms,
// which ask for an account. So its chats are these recorded requests, sent once more, with a loop that runs the calls of the model as the
// program does. Only what needs no account, adding and listing servers, runs in the program itself: ../../agents-mcp.test.mjs.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import Anthropic from "@anthropic-ai/sdk";

const RECORDED = JSON.parse(await readFile(new URL("../gateway/claude-code.json", import.meta.url)));
/** The recording has at most the first 220 characters of a text. The longest description had this many, and the instructions more. */
const LONGEST = 18_780;
const REMINDER = "\n\n<system-reminder>\n<total_tokens>15000000 tokens left</total_tokens>\n</system-reminder>";
/** What newer models get: they think as much as they want. */
const ADAPTIVE = { thinking: { type: "adaptive" }, output_config: { effort: "high" } };
const TURNS = 12;

const text = (length) => "Lorem ipsum dolor sit amet. ".repeat(length / 28 + 1).slice(0, length);

/** A part of the recording, with a text for each that was removed. */
function filled(value) {
  if (Array.isArray(value)) return value.map(filled);
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]));
  if (typeof value !== "string") return value;
  return value.replace(/^<text, (\d+) characters>$/, (_, length) => text(Number(length)));
}

/** The first request for `prompt`: before the model has asked for anything, and without tools of MCP servers. */
function first(prompt) {
  const body = filled(RECORDED.body);
  const [{ role, content }] = body.messages;
  const [instructions] = body.system.slice(-1);
  instructions.text = text(LONGEST);
  const tools = body.tools.filter(({ name }) => !name.startsWith("mcp__"));
  tools.find(({ name }) => name === "Bash").description = text(LONGEST);
  const asked = { type: "text", text: prompt, cache_control: { type: "ephemeral" } };
  return { ...body, tools, messages: [{ role, content: [...content.slice(0, -1), asked] }] };
}

/** The tools of the program that the tests use. */
const LOCAL = {
  Read: async ({ file_path }) => (await readFile(file_path, "utf8")).split("\n").map((line, at) => `${at + 1}\t${line}`).join("\n"),
  async Edit({ file_path, old_string, new_string }) {
    const text = await readFile(file_path, "utf8");
    if (text.split(old_string).length !== 2) throw new Error("String to replace not found in file.");
    await writeFile(file_path, text.replace(old_string, () => new_string));
    return `The file ${file_path} has been updated successfully.`;
  },
  Bash: async ({ command }, cwd) => (await promisify(execFile)("bash", ["-c", command], { cwd, timeout: 60_000 })).stdout,
};

/**
 * Works on `prompt` in the folder `cwd` until the model has no more calls, and returns its last text. `adaptive`: as for models that
 * think as much as they want. `mcp`: the tools of an MCP server by their names there, each `{ declaration, call }`; the model finds them with ToolSearch.
 */
export async function claudeCode({ base, key, model, prompt, cwd, mcp = {}, adaptive = false, signal }) {
  const client = new Anthropic({ authToken: key, apiKey: null, baseURL: base, maxRetries: 0 });
  const { headers } = RECORDED;
  const body = { ...first(prompt), model, ...(adaptive && ADAPTIVE) };
  await fetch(`${base}/api/hello`, { method: "HEAD", signal });
  if (adaptive) body.messages.push({ role: "system", content: "Be brief." });
  for (let turn = 0; turn < TURNS; turn += 1) {
    const { stream: _, ...request } = body;
    const message = await client.beta.messages.stream(request, { headers, signal }).finalMessage();
    body.messages.push({ role: "assistant", content: message.content });
    const calls = message.content.filter(({ type }) => type === "tool_use");
    if (message.stop_reason !== "tool_use") return message.content.filter(({ type }) => type === "text").map(({ text }) => text).join("");
    const results = await Promise.all(calls.map((call) => result(call, { cwd, mcp, body })));
    // One mark for the cache, at the end of the conversation.
    for (const { content } of body.messages) if (Array.isArray(content)) for (const block of content) delete block.cache_control;
    results.at(-1).cache_control = { type: "ephemeral" };
    body.messages.push({ role: "user", content: results });
  }
  throw new Error(`the model has not come to an end after ${TURNS} turns`);
}

async function result({ id, name, input }, { cwd, mcp, body }) {
  const block = { tool_use_id: id, type: "tool_result" };
  try {
    if (name === "ToolSearch") {
      const [, own] = /^select:(.+)$/.exec(input.query);
      if (!body.tools.some((tool) => tool.name === own)) body.tools.push({ ...mcp[own].declaration, name: own, defer_loading: true });
      return { ...block, content: [{ type: "tool_reference", tool_name: own }] };
    }
    if (name in mcp) return { ...block, content: (await mcp[name].call(input)) + REMINDER };
    return { ...block, content: (await LOCAL[name](input, cwd)) + REMINDER, is_error: false };
  } catch (error) {
    return { ...block, content: `<tool_use_error>${error.message}</tool_use_error>`, is_error: true };
  }
}
