// Cases about what has gone wrong in gateways for coding agents: 19 to 25.
import assert from "node:assert/strict";
import { both, only, result, tool, user, WEATHER } from "../ask.mjs";
import { typed } from "../fronts/events.mjs";

const PROVIDERS = ["openai", "anthropic", "gemini"];
const ROME = { name: "weather", input: { city: "Rome" } };
const PATCH = "*** Begin Patch\n*** Update File: größe.txt\n-\"22\"\n+\"23\"\n*** End Patch\n";
const CUSTOM = { type: "custom", name: "apply_patch", description: "Edits files.", format: { type: "grammar", syntax: "lark", definition: "start: /[\\s\\S]+/" } };
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const NAMESPACE = { type: "namespace", name: "mcp__booth", description: "Tools of a server.", tools: [{ type: "function", name: "add", description: "Adds.", strict: false, parameters: CITY }] };
const SEARCH = { type: "tool_search", execution: "client", description: "Finds tools.", parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"], additionalProperties: false } };

/** Members of the front's own format, which replace what a check says. */
const raw = (native) => ({ native });
const isResponses = (body) => body.input !== undefined;
/** The names of the functions that a provider got. */
const names = (body) => (body.tools ?? []).flatMap(({ name, function: one, functionDeclarations: many, function_declarations: snake = many }) => snake?.map(({ name }) => name) ?? one?.name ?? name);

/** One item of a Responses front and its output go back to the model, which accepts them. */
const roundTrip = (title, tools, turn, expected, output) =>
  PROVIDERS.flatMap((provider) =>
    both(title, provider, async (gateway, streamed) => {
      gateway.script(provider, turn, { text: "Done" });
      const { message } = await gateway.either(streamed, provider, { tools });
      const item = message.native.find(({ type }) => type === expected.type);
      assert.ok(item, JSON.stringify(message.native));
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, item[name]])), expected);
      const back = { native: [{ type: `${expected.type}_output`, call_id: item.call_id, output: "Done." }], ...(output && { native: [{ ...output, call_id: item.call_id }] }) };
      const answer = await gateway.either(streamed, provider, { tools, messages: [user(), message, back] });
      gateway.arrived(provider);
      assert.equal(answer.message.content, "Done");
    }),
  );

export const TRAPS = [
  {
    number: 19,
    title: "Arguments are never lost",
    checks: [
      ...PROVIDERS.flatMap((provider) =>
        both("60 KB of arguments", provider, async (gateway, streamed) => {
          const city = `Größe ${"🏔".repeat(15_000)}`;
          gateway.script(provider, { calls: [{ name: "weather", input: { city } }] });
          const { calls } = await gateway.either(streamed, provider, { tools: [WEATHER] });
          assert.ok(JSON.parse(calls[0].function.arguments).city === city, `${calls[0].function.arguments.length} characters`);
        }),
      ),
      ...only("messages", ["openai", "gemini"].map((provider) => ({
        title: "the deltas of a call without arguments add up to {}",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { calls: [{ name: "clock" }] });
          const { text } = await gateway.stream(provider, { tools: [tool("clock", { type: "object", properties: {} })] });
          assert.equal(typed(text).map(({ delta }) => delta?.partial_json ?? "").join(""), "{}");
        },
      }))),
      ...both("a provider that sends them only when they are complete", "responses", async (gateway, streamed) => {
        gateway.script("responses", { calls: [ROME], deltas: false });
        const { calls } = await gateway.either(streamed, "responses", { tools: [WEATHER] });
        assert.deepEqual(JSON.parse(calls[0].function.arguments), { city: "Rome" });
      }),
    ],
  },
  {
    number: 20,
    title: "Thinking is apart from text, and goes to no other provider",
    checks: [
      ...only("messages responses", ["anthropic", "gemini"].map((provider) => ({
        title: "before a text and a call, each in a block or an item of its own",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { thinking: "Rome, I think.", text: "Let me see.", calls: [ROME] });
          const { message, text } = await gateway.stream(provider, { tools: [WEATHER], reasoning_effort: "low" });
          gateway.front.grammar(text);
          assert.equal(message.content, "Let me see.");
          const types = message.native.map(({ type }) => type).filter((type) => type !== "redacted_thinking");
          const expected = gateway.front.name === "messages" ? ["thinking", "text", "tool_use"] : ["reasoning", "message", "function_call"];
          assert.deepEqual(types.slice(0, 3), expected);
          // Blocks and items that keep the state of a provider may follow: clients send them back as they are.
          assert.ok(types.slice(3).every((type) => type === expected[0]), `${types}`);
          assert.match(JSON.stringify(message.native[0]), /Rome, I think\./);
        },
      }))),
      ...[["gemini", "anthropic"], ["anthropic", "openai"], ["anthropic", "gemini"], ["gemini", "openai"]].flatMap(([from, to]) =>
        both(`a conversation with thoughts of ${from} goes on`, to, async (gateway, streamed) => {
          gateway.script(from, { thinking: "Rome, I think.", text: "Let me see.", calls: [ROME] });
          const { message, calls } = await gateway.either(streamed, from, { tools: [WEATHER], reasoning_effort: "low" });
          gateway.script(to, { text: "Done" });
          await gateway.choice(to, { tools: [WEATHER], messages: [user(), message, ...calls.map((call) => result(call, "5"))] });
          assert.doesNotMatch(JSON.stringify(gateway.arrived(to)), /Rome, I think|signature of/);
        }),
      ),
    ],
  },
  {
    number: 21,
    title: "Anthropic's form of usage has cached tokens apart",
    checks: only("messages", PROVIDERS.flatMap((provider) => [
      {
        title: "in an answer",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Sunny" });
          const { input_tokens, cache_read_input_tokens } = (await gateway.chat(provider)).json.usage;
          assert.deepEqual([input_tokens, cache_read_input_tokens], [provider === "anthropic" ? 10 : 6, 4]);
        },
      },
      {
        title: "in the last event of a stream",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Sunny" });
          const { usage } = typed((await gateway.stream(provider)).text).find(({ type }) => type === "message_delta");
          assert.deepEqual([usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens], [provider === "anthropic" ? 10 : 6, 4, 5]);
        },
      },
    ])),
  },
  {
    number: 22,
    title: "Errors are those of the client's format",
    checks: PROVIDERS.flatMap((provider) => [
      {
        title: "a provider that rejects the operator's key is no fault of the client's",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { status: 401 });
          const { status, json } = await gateway.chat(provider);
          assert.ok(status >= 500, `${status}`);
          if (gateway.front.name === "messages") assert.deepEqual([json.type, json.error.type], ["error", "api_error"]);
          assert.equal(typeof gateway.front.error(json).message, "string");
        },
      },
      {
        title: "the limit of a provider says when to try again",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { status: 429, headers: { "retry-after": "7" } });
          const { status, headers, json } = await gateway.chat(provider);
          assert.deepEqual([status, headers.get("retry-after")], [429, "7"]);
          if (gateway.front.name === "messages") assert.equal(json.error.type, "rate_limit_error");
        },
      },
      ...only("messages responses", {
        title: "a stream that breaks off ends with an event that says so",
        provider,
        run: async (gateway) => {
          gateway.script(provider, (body) => ({ text: "Sunny and warm", end: isResponses(body) ? 6 : provider === "gemini" ? 2 : 4 }));
          const last = typed((await gateway.stream(provider)).text).at(-1);
          if (gateway.front.name === "messages") assert.deepEqual([last.type, typeof last.error?.type, typeof last.error?.message], ["error", "string", "string"]);
          else assert.deepEqual([last.type, last.response?.status, typeof last.response?.error?.message], ["response.failed", "failed", "string"]);
        },
      }),
    ]),
  },
  {
    number: 23,
    title: "Tools that only Responses have reach every model, and come back",
    checks: only("responses", [
      ...roundTrip("a custom tool", [CUSTOM], (body) => ({ calls: [isResponses(body) ? { name: "apply_patch", text: PATCH } : { name: "apply_patch", input: { input: PATCH } }] }), { type: "custom_tool_call", name: "apply_patch", input: PATCH }),
      ...roundTrip("a function in a namespace", [NAMESPACE], (body) => ({ calls: [isResponses(body) ? { name: "add", namespace: "mcp__booth", input: { city: "x" } } : { name: names(body).find((name) => name.endsWith("add")), input: { city: "x" } }] }), { type: "function_call", name: "add", namespace: "mcp__booth", arguments: '{"city":"x"}' }),
      ...roundTrip("a search for tools", [SEARCH], (body) => ({ calls: [{ name: isResponses(body) ? "tool_search" : names(body)[0], input: { query: "add" } }] }), { type: "tool_search_call", execution: "client", arguments: { query: "add" } }, { type: "tool_search_output", execution: "client", status: "completed", tools: [NAMESPACE] }),
    ]),
  },
  {
    number: 24,
    title: "What only Anthropic has does no harm elsewhere",
    checks: only("messages", ["openai", "gemini"].flatMap((provider) => [
      {
        title: "marks for the cache cause no request of their own",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          const cache_control = { type: "ephemeral" };
          await gateway.choice(provider, raw({ system: [{ type: "text", text: "Be brief.", cache_control }], messages: [{ role: "user", content: [{ type: "text", text: "Why?", cache_control }] }] }));
          assert.match(JSON.stringify(gateway.arrived(provider)), /Be brief.*Why\?|Why\?.*Be brief/);
          assert.equal(gateway.at(provider).journal.length, 1);
        },
      },
      {
        title: "an image in a result",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
          const content = [{ type: "text", text: "A picture:" }, image];
          await gateway.choice(provider, {
            tools: [WEATHER],
            ...raw({ messages: [{ role: "user", content: "?" }, { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: {} }] }, { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content }] }] }),
          });
          assert.match(JSON.stringify(gateway.arrived(provider)), /iVBORw0KGgo=/);
        },
      },
      {
        title: "a tool of Anthropic's own is named, not sent",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          const { _2api } = await gateway.choice(provider, raw({ messages: [{ role: "user", content: "?" }], tools: [{ type: "web_search_20250305", name: "web_search" }] }));
          assert.match(JSON.stringify(_2api), /web_search/);
          assert.doesNotMatch(JSON.stringify(gateway.arrived(provider)), /web_search/);
        },
        own: true,
      },
    ])),
  },
  {
    number: 25,
    title: "The server's own tools run for every client",
    checks: PROVIDERS.flatMap((provider) =>
      both("two rounds are one answer", provider, async (gateway, streamed) => {
        gateway.script(provider, { text: "Let me add.", calls: [{ name: "Calculator_Add", input: { a: 17, b: 25 } }] }, { text: "It is 42." });
        const { message, finish, text } = await gateway.either(streamed, provider, gateway.front.compiledIn(["Calculator.Add"]));
        assert.equal(finish, "stop");
        assert.match(message.content, /It is 42\.$/);
        assert.match(JSON.stringify(gateway.arrived(provider)), /42/);
        if (streamed) gateway.front.grammar(text);
      }, { own: true }),
    ),
  },
];
