// Reports about what a request says: G02, G08, G09, G10, G14, G15, G19, G20, G23.
import assert from "node:assert/strict";
import { result, tool, user } from "../ask.mjs";
import { call, calls, check, claude, either, google, gpt, HI, made, objects, own, passed, sent, W } from "./checks.mjs";
import { CALLS_THE_FIRST, functions } from "./recorder.mjs";

const DEEPSEEK = made("deepseek", "deepseek-v4");
const OPUS = claude("claude-opus-5");
const MESSAGE = { type: "agent_message", author: "/main/a", recipient: "/root", content: [{ type: "input_text", text: "Found 3 bugs." }] };
const LONG = ["mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_console_message", "mcp__plugin_some-long-plugin-name_some-long-server-name__do_a_thing_with_a_long_name"];

/** At most one system message, the first; no role that only OpenAI has; all texts. */
function areOneSystem(body, texts) {
  const { messages } = body;
  const roles = messages.map(({ role }) => role);
  assert.ok(roles.every((role) => ["system", "user", "assistant", "tool"].includes(role)), `${roles}`);
  assert.ok(!roles.slice(1).includes("system"), `${roles}`);
  for (const text of texts) assert.ok(JSON.stringify(body).includes(text), `${text} is lost`);
}

/** Whether a text has something that is not white space. */
const hasText = (content) => (typeof content === "string" ? content.trim() !== "" : content.length > 0 && content.every(({ type, text }) => type !== "text" || text.trim() !== ""));

/** Gemini's order: a user content comes first, roles alternate, and a call follows the user or a result. Results may stand alone. */
function areInOrder({ contents }) {
  const hasResults = ({ parts = [] }) => parts.some((part) => part.functionResponse ?? part.function_response);
  const texts = contents.filter((content, at) => !(hasResults(content) && contents[at + 1] && (contents[at + 1].role ?? "user") === "user"));
  const roles = texts.map(({ role = "user" }) => (role === "function" ? "user" : role));
  assert.equal(contents[0].role ?? "user", "user", `${roles}`);
  assert.ok(roles.every((role, at) => at === 0 || role !== roles[at - 1]), `${roles}`);
}

/** Keywords that only narrow what is valid: a value that is right with them is right without them. */
const NARROWED = [
  tool("TaskCreate", {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { subject: { type: "string" }, metadata: { type: "object", description: "Whatever belongs to it", propertyNames: { type: "string" }, additionalProperties: {} } },
    required: ["subject"],
    additionalProperties: false,
  }),
  tool("Find", {
    type: "object",
    properties: {
      pattern: { type: "string", allOf: [{ pattern: "^a" }, { pattern: "b$" }] },
      paths: { type: "array", items: { type: "string" }, contains: { const: "src" }, uniqueItems: true },
      limit: { type: "integer", multipleOf: 5, exclusiveMinimum: 0 },
    },
    if: { required: ["limit"] },
    then: { required: ["paths"] },
  }),
  W,
];

export const REQUESTS = [
  {
    number: "G02",
    reported: ["EKKOLearnAI/hermes-studio#1926", "EKKOLearnAI/hermes-studio#2688", "BerriAI/litellm#39852", "ollama/ollama#17774"],
    title: "Servers with OpenAI's format get one system message, the first",
    checks: [
      check("instructions and a developer message", DEEPSEEK, async (gateway, provider) => {
        areOneSystem(await passed(gateway, provider, { messages: [{ role: "system", content: "Base." }, { role: "developer", content: "Permissions." }, HI] }), ["Base.", "Permissions.", "hi"]);
      }),
      check("a developer message alone", DEEPSEEK, async (gateway, provider) => {
        areOneSystem(await passed(gateway, provider, { messages: [{ role: "developer", content: "Permissions." }, HI] }), ["Permissions.", "hi"]);
      }),
      check("a later system message", made("qwen", "qwen3.8"), async (gateway, provider) => {
        const messages = [{ role: "system", content: "Base." }, HI, { role: "system", content: "agents available" }, { role: "assistant", content: "yes" }, user("go")];
        areOneSystem(await passed(gateway, provider, { messages }), ["Base.", "hi", "agents available", "yes", "go"]);
      }),
    ],
  },
  {
    number: "G08",
    reported: ["experientiallabs/experiential#804", "home-assistant/core#175637", "anomalyco/opencode#31259"],
    title: "Anthropic gets no text of white space alone",
    checks: [
      ["of the assistant", [HI, { role: "assistant", content: "\n\n" }, user("go on")]],
      ["of the user", [HI, { role: "assistant", content: "x" }, user("\n")]],
    ].map(([title, messages]) =>
      check(title, OPUS, async (gateway, provider) => {
        const arrived = await sent(gateway, provider, { messages });
        if (arrived) assert.ok(arrived.messages.every(({ content }) => hasText(content)), JSON.stringify(arrived.messages));
      }, "chat responses"),
    ),
  },
  {
    number: "G09",
    reported: ["NVIDIA-NeMo/Switchyard#502", "vllm-project/vllm#50295", "fw-ai/fireconnect#16", "Alishahryar1/free-claude-code#1572"],
    title: "Ids of calls are unique within a conversation",
    checks: [
      check("the same id in two turns, to Anthropic", OPUS, async (gateway, provider) => {
        const messages = [HI, calls(call("w:0")), result("w:0", "5"), calls(call("w:0", '{"city":"Oslo"}')), result("w:0", "6")];
        const arrived = await passed(gateway, provider, { messages, tools: [W] });
        const parts = arrived.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
        const ids = parts.filter(({ type }) => type === "tool_use").map(({ id }) => id);
        assert.equal(new Set(ids).size, 2, `${ids}`);
        assert.deepEqual(parts.filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => tool_use_id), ids);
      }),
      ...either("an answer with an id that the conversation has", made("moonshot", "kimi-k3"), async (gateway, provider, streamed) => {
        gateway.script(provider, { content: null, tool_calls: [call("w:0", '{"city":"Oslo"}')] });
        const { calls: got } = await gateway.either(streamed, provider, { messages: [HI, calls(call("w:0")), result("w:0", "5")], tools: [W] });
        assert.equal(got.length, 1);
        assert.notEqual(got[0].id, "w:0");
      }),
    ],
  },
  {
    number: "G10",
    reported: ["james-6-23/codex2api#341", "diegosouzapw/OmniRoute#13698", "diegosouzapw/OmniRoute#14041", "openai/codex#27423"],
    title: "Items that a gateway does not know do not end a session",
    checks: [
      ...[MESSAGE, { type: "compaction_summary", encrypted_content: "gAAAA" }, { type: "of_next_month", id: "x_1", detail: { n: 1 } }].map((item) =>
        check(`${item.type}, to OpenAI as it is`, gpt("gpt-5.6-sol"), async (gateway, provider) => {
          const { input } = await passed(gateway, provider, { native: { input: [{ role: "user", content: "hi" }, item] } });
          assert.deepEqual(input.find(({ type }) => type === item.type), item);
        }, "responses"),
      ),
      ...[OPUS, google(), DEEPSEEK].map((model) =>
        check("agent_message, elsewhere as a message of the user", model, async (gateway, provider) => {
          const arrived = await passed(gateway, provider, { native: { input: [{ role: "user", content: "hi" }, MESSAGE] } });
          assert.match(JSON.stringify(arrived.messages ?? arrived.contents), /Found 3 bugs\./);
        }, "responses"),
      ),
    ],
  },
  {
    number: "G14",
    reported: ["diegosouzapw/OmniRoute#13573", "google-gemini/gemini-cli#11814", "continuedev/continue#11164", "lobehub/lobehub#10049"],
    title: "Gemini gets contents in the order that it takes",
    checks: [
      ["a text and a call of the assistant's", [HI, { role: "assistant", content: "Let me check." }, calls(call("call_1")), result("call_1", "5")]],
      ["a conversation that begins with a call", [{ role: "system", content: "S" }, calls(call("call_1")), result("call_1", "5"), user("go")]],
      ["two messages of the user's", [HI, user("there"), calls(call("call_1")), result("call_1", "5")]],
    ].map(([title, messages]) =>
      check(title, google(), async (gateway, provider) => {
        const arrived = await passed(gateway, provider, { messages, tools: [W] });
        areInOrder(arrived);
        assert.match(JSON.stringify(arrived.contents), /functionCall|function_call/);
      }),
    ),
  },
  {
    number: "G15",
    reported: ["su-kaka/gcli2api#374"],
    title: "Gemini gets nothing beside $ref that it does not take",
    checks: [
      check("description and title", google(), async (gateway, provider) => {
        const P = { type: "object", properties: { city: { type: "string" } } };
        const schema = { type: "object", properties: { place: { $ref: "#/$defs/P", description: "The place.", title: "Place" } }, required: ["place"], $defs: { P } };
        const arrived = await passed(gateway, provider, { messages: [HI], response_format: { type: "json_schema", json_schema: { name: "x", schema } } });
        assert.match(JSON.stringify(arrived), /city/);
        for (const one of objects(arrived).filter(({ $ref }) => $ref)) {
          const more = Object.keys(one).filter((name) => !name.startsWith("$") && !["description", "default"].includes(name));
          assert.deepEqual(more, []);
        }
      }),
    ],
  },
  {
    number: "G19",
    reported: ["jwadow/kiro-gateway#182", "cline/cline#11885", "packit/ai-workflows#619", "NousResearch/hermes-agent#92659"],
    title: "Names of tools up to 128 characters",
    checks: [OPUS, gpt("gpt-5"), google()].flatMap((model) =>
      LONG.flatMap((name) =>
        either(`${name.length} characters`, model, async (gateway, provider, streamed) => {
          gateway.script(provider, CALLS_THE_FIRST);
          const { calls: got } = await gateway.either(streamed, provider, { messages: [HI], tools: [tool(name)] });
          assert.equal(got[0]?.function.name, name);
          const [{ name: arrived }] = functions(gateway.arrived(provider));
          assert.ok(arrived.length <= (provider === "anthropic" ? 128 : 64), arrived);
        }, "messages"),
      ),
    ),
  },
  {
    number: "G20",
    reported: ["farion1231/cc-switch#5490"],
    title: "Parameters without a type are an object's",
    checks: [
      ["null", null],
      ["type: null", { type: null, anyOf: [{ type: "object", properties: { q: { type: "string" } } }] }],
      ["no type", { properties: { q: { type: "string" } } }],
    ].map(([title, parameters]) =>
      check(title, DEEPSEEK, async (gateway, provider) => {
        const [{ schema }] = functions(await passed(gateway, provider, { messages: [HI], tools: [{ type: "function", function: { name: "a", description: "d", parameters } }] }));
        assert.equal(schema?.type, "object", JSON.stringify(schema));
      }, "chat responses"),
    ),
  },
  {
    number: "G23",
    title: "Keywords that only narrow what is valid cost neither a tool nor the request",
    checks: [
      check("tools of a coding agent", google("gemini-3-pro"), async (gateway, provider) => {
        const tools = functions(await passed(gateway, provider, { messages: [HI], tools: NARROWED }));
        assert.deepEqual(tools.map(({ name }) => name), ["TaskCreate", "Find", "w"]);
        for (const { schema } of tools.slice(0, 2)) assert.ok(Object.keys(schema.properties).length >= 2, JSON.stringify(schema));
        // What Gemini's types do not have.
        for (const one of objects(tools)) assert.deepEqual(Object.keys(one).filter((name) => ["propertyNames", "if", "then", "contains"].includes(name)), []);
      }),
      own(
        check("the answer says so", google("gemini-3-pro"), async (gateway, provider) => {
          gateway.script(provider);
          const { _2api } = await gateway.choice(provider, { messages: [HI], tools: NARROWED });
          assert.match(JSON.stringify(_2api.warnings), /propertyNames/);
        }),
      ),
    ],
  },
];
