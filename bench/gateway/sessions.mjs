// Requests as coding agents send them in the midst of a task: instructions, tools and a history of calls and results, about 100 KB. The
// members are those that Claude Code 2.1 and Codex 0.169 send; all names and texts are made up here.

/** The bytes of a request, about. */
export const BYTES = 100_000;
/** The share of them that are tools. */
const TOOLS = 0.35;
/** Only the last user message has it: the provider of the benchmark answers such requests as it would an agent. */
export const MARK = "AGENT-AT-WORK";
/** The function that the provider of the benchmark calls. */
export const CALLED = "run_command";

const WORDS = "the parser reads a token and keeps its place so that an error names the line where it began; each test states what it needs and fails alone".split(" ");

/** Text of about so many bytes, the same in each run: sentences, line breaks, and now and then what JSON escapes and what is not ASCII. */
function prose(bytes, seed) {
  let text = "";
  for (let at = 0; text.length < bytes; at += 1) {
    const word = WORDS[(seed * 7 + at * 5) % WORDS.length];
    text += at % 19 === 18 ? `${word}.\n` : at % 31 === 30 ? `"${word}" – ` : `${word} `;
  }
  return text.trimEnd();
}

/** What a file or a command prints: lines of code with indents and quotes. */
function listing(bytes, seed) {
  let text = "";
  for (let line = 1; text.length < bytes; line += 1) {
    const [verb, noun] = [WORDS[(seed + line) % WORDS.length], WORDS[(seed * 3 + line * 2) % WORDS.length]];
    text += `${String(line).padStart(5)}\t${"  ".repeat(line % 4)}const ${noun}_${line} = ${verb}("${noun}/${line}.ts", { strict: true, depth: ${line % 7} });\n`;
  }
  return text;
}

/** A tool: `{ name, description, parameters }`. */
function tool(name, at, bytes) {
  const property = (name, kind) => [name, { ...kind, description: prose(90, at) }];
  const properties = Object.fromEntries([
    property("path", { type: "string" }),
    property("limit", { type: "integer", minimum: 1 }),
    property("mode", { type: "string", enum: ["once", "each", "never"] }),
    property("edits", { type: "array", items: { type: "object", properties: { from: { type: "string" }, to: { type: "string" } }, required: ["from", "to"], additionalProperties: false } }),
    property("recursive", { type: "boolean" }),
  ]);
  const parameters = { type: "object", properties, required: ["path"], additionalProperties: false };
  const rest = bytes - JSON.stringify({ name, parameters }).length;
  return { name, description: prose(Math.max(rest, 80), at), parameters };
}

const NAMES = [CALLED, "read_file", "write_file", "edit_file", "find_files", "search_text", "list_tasks", "add_task", "finish_task", "ask_user", "fetch_page", "search_web", "start_agent", "stop_agent", "list_agents", "read_notebook", "edit_notebook", "view_image", "show_plan", "wait_for", "mcp__tracker__list_issues", "mcp__tracker__read_issue", "mcp__tracker__add_comment", "mcp__tracker__close_issue"];

/** The tools of a session: a few of them, such as that for commands, have pages of description. */
function tools(bytes) {
  const share = bytes / (NAMES.length + 12);
  return NAMES.map((name, at) => tool(name, at, at < 4 ? share * 4 : share));
}

/** The turns of a session until they have so many bytes: `{ text, call: { id, input }, output }`. */
function turns(bytes) {
  const all = [];
  for (let size = 0, at = 0; size < bytes; at += 1) {
    const call = { id: `call_${String(at).padStart(22, "0")}`, input: { path: `src/part_${at}/module_${at}.ts`, limit: 200 + at, mode: "once" } };
    const turn = { text: prose(160, at), call, output: listing(2400 + (at % 5) * 500, at) };
    all.push(turn);
    size += JSON.stringify(turn).length;
  }
  return all;
}

const INSTRUCTIONS = prose(9000, 3);
/** What an agent says about the project and the machine before the first request. */
const CONTEXT = [1, 2, 3].map((at) => prose(1200, at * 11));
const TASK = `Mend the parser, please: a number with two points is accepted. ${MARK}`;

/** The parts of a session: `{ tools, turns }`. */
function session(bytes = BYTES) {
  const own = tools(bytes * TOOLS);
  const rest = bytes - JSON.stringify([own, INSTRUCTIONS, CONTEXT]).length;
  return { tools: own, turns: turns(rest * 0.93) };
}

/** A request of Claude Code's kind, in Anthropic's format. */
export function claudeCode(bytes) {
  const { tools, turns } = session(bytes);
  const cache_control = { type: "ephemeral" };
  const text = (text, more) => ({ type: "text", text, ...more });
  const history = turns.flatMap(({ text: said, call: { id, input }, output }, at) => [
    { role: "assistant", content: [text(said), { type: "tool_use", id, name: CALLED, input }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: output, ...(at === turns.length - 1 && { cache_control }) }] },
  ]);
  return {
    messages: [{ role: "user", content: [...CONTEXT, TASK].map((part) => text(part)) }, ...history],
    system: [text("You are an agent that writes programs."), text(INSTRUCTIONS, { cache_control })],
    tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...parameters } })),
    metadata: { user_id: "device-0_account-0_session-0" },
    max_tokens: 32000,
    thinking: { type: "enabled", budget_tokens: 31999 },
    stream: true,
  };
}

/** A request of Codex's kind, in OpenAI's newer format. */
export function codex(bytes) {
  const { tools, turns } = session(bytes);
  const message = (role, ...texts) => ({ type: "message", role, content: texts.map((text) => ({ type: "input_text", text })) });
  const history = turns.flatMap(({ text, call: { id, input }, output }) => [
    { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] },
    { type: "function_call", name: CALLED, arguments: JSON.stringify(input), call_id: id },
    { type: "function_call_output", call_id: id, output },
  ]);
  return {
    instructions: INSTRUCTIONS,
    input: [message("developer", ...CONTEXT), message("user", TASK), ...history],
    tools: tools.map((one) => ({ type: "function", ...one, strict: false })),
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { effort: "medium", summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "00000000-0000-4000-8000-000000000000",
    stream: true,
  };
}

/** The same session in the format of Chat Completions, as other agents have it. */
export function chat(bytes) {
  const { tools, turns } = session(bytes);
  const history = turns.flatMap(({ text, call: { id, input }, output }) => [
    { role: "assistant", content: text, tool_calls: [{ id, type: "function", function: { name: CALLED, arguments: JSON.stringify(input) } }] },
    { role: "tool", tool_call_id: id, content: output },
  ]);
  return {
    messages: [{ role: "system", content: INSTRUCTIONS }, { role: "user", content: [...CONTEXT, TASK].join("\n\n") }, ...history],
    tools: tools.map((one) => ({ type: "function", function: one })),
    tool_choice: "auto",
    max_tokens: 32000,
    stream: true,
    stream_options: { include_usage: true },
  };
}
