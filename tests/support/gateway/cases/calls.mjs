// Cases about the calls in an answer: 1 to 4, 17 and 18.
import assert from "node:assert/strict";
import { both, CLOCK, only, result, tool, user, WEATHER } from "../ask.mjs";

const tools = [WEATHER, CLOCK];
const ROME = { name: "weather", input: { city: "Rome" } };
const OSLO = { name: "weather", input: { city: "Oslo" } };
const args = (calls) => calls.map(({ function: { arguments: text } }) => text);
const decoded = (calls) => args(calls).map((text) => JSON.parse(text));
const HISTORY = (id, text = '{"city":"Rome"}') => [
  user(),
  { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "weather", arguments: text } }] },
  result(id, "Sunny"),
];

/** A check that a reason to stop gets OpenAI's name, in an answer and in a stream. */
const finish = (provider, reason, expected, more = {}) =>
  both(`${reason} is ${expected}`, provider, async (gateway, streamed) => {
    gateway.script(provider, { text: "Well,", finish: reason, ...more });
    const answer = await gateway.either(streamed, provider, {});
    assert.equal(answer.finish, expected);
  });

export const CALLS = [
  {
    number: 1,
    title: "Parallel calls of Anthropic's have their own index",
    checks: [
      ...both("two calls after a text arrive whole and in order", "anthropic", async (gateway, streamed) => {
        gateway.script("anthropic", { text: "Let me see.", calls: [ROME, OSLO] });
        const { message, calls, finish } = await gateway.either(streamed, "anthropic", { tools });
        assert.equal(message.content, "Let me see.");
        assert.deepEqual(decoded(calls), [{ city: "Rome" }, { city: "Oslo" }]);
        assert.equal(finish, "tool_calls");
        assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
      }),
      ...only("chat", {
        title: "the first call has index 0, the next 1, and only the first delta of each has id and name",
        provider: "anthropic",
        run: async (gateway) => {
          gateway.script("anthropic", { text: "Let me see.", calls: [ROME, OSLO] });
          const { chunks } = await gateway.stream("anthropic", { tools });
          const deltas = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
          const indices = deltas.map(({ index }) => index);
          assert.deepEqual([...new Set(indices)], [0, 1]);
          assert.deepEqual(indices, indices.toSorted());
          for (const index of [0, 1]) {
            const [first, ...rest] = deltas.filter((delta) => delta.index === index);
            assert.ok(first.id && first.type === "function" && first.function.name === "weather", JSON.stringify(first));
            assert.ok(rest.every(({ id, function: { name } = {} }) => !id && !name), JSON.stringify(rest));
          }
        },
      }, {
        title: "an answer has the index too",
        provider: "anthropic",
        own: true,
        run: async (gateway) => {
          gateway.script("anthropic", { text: "Let me see.", calls: [ROME, OSLO] });
          const { message } = await gateway.choice("anthropic", { tools });
          assert.deepEqual(message.tool_calls.map(({ index }) => index), [0, 1]);
        },
      }),
    ],
  },
  {
    number: 2,
    title: "A call without arguments has {}",
    checks: [
      ...["anthropic", "gemini"].flatMap((provider) =>
        both("the arguments are {}", provider, async (gateway, streamed) => {
          gateway.script(provider, { calls: [{ name: "clock" }] });
          const { calls } = await gateway.either(streamed, provider, { tools });
          assert.deepEqual(args(calls), ["{}"]);
        }),
      ),
      ...only("chat messages", both("no text at all becomes {}", "openai", async (gateway, streamed) => {
        gateway.script("openai", { calls: [{ name: "clock", text: "" }] });
        assert.deepEqual(args((await gateway.either(streamed, "openai", { tools })).calls), ["{}"]);
      }, { own: true })),
      ...["anthropic", "gemini-2.5"].map((provider) => ({
        title: "an earlier call with empty arguments goes back as an object",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          const messages = HISTORY("call_1", "");
          messages[1].tool_calls[0].function.name = "clock";
          await gateway.choice(provider, { messages, tools });
          gateway.arrived(provider);
        },
      })),
    ],
  },
  {
    number: 3,
    title: "Calls of Gemini's end as calls, although it says STOP",
    checks: ["gemini", "gemini-2.5"].flatMap((provider) =>
      both("the reason is tool_calls", provider, async (gateway, streamed) => {
        gateway.script(provider, { calls: [ROME] });
        const { calls, finish } = await gateway.either(streamed, provider, { tools });
        assert.deepEqual(decoded(calls), [{ city: "Rome" }]);
        assert.equal(finish, "tool_calls");
      }),
    ),
  },
  {
    number: 4,
    title: "Each reason to stop has a name of the client's format",
    checks: [
      ...finish("anthropic", "max_tokens", "length"),
      ...finish("anthropic", "stop_sequence", "stop"),
      ...finish("anthropic", "refusal", "content_filter"),
      ...finish("anthropic", "pause_turn", "length"),
      ...finish("anthropic", "model_context_window_exceeded", "length"),
      ...finish("gemini", "MAX_TOKENS", "length"),
      ...finish("gemini", "SAFETY", "content_filter"),
      ...finish("gemini", "RECITATION", "content_filter"),
      ...finish("gemini", "PROHIBITED_CONTENT", "content_filter"),
      ...finish("gemini", "SOMETHING_NEW", "length"),
      ...both("a blocked prompt is content_filter", "gemini", async (gateway, streamed) => {
        gateway.script("gemini", { blocked: "SAFETY" });
        assert.equal((await gateway.either(streamed, "gemini", {})).finish, "content_filter");
      }),
      ...both("a malformed call is not a clean end", "gemini", async (gateway, streamed) => {
        gateway.script("gemini", { finish: "MALFORMED_FUNCTION_CALL" });
        const answer = await gateway.either(streamed, "gemini", { tools }).catch((error) => ({ error }));
        assert.ok(answer.error || JSON.stringify(answer._2api?.warnings ?? "").includes("MALFORMED_FUNCTION_CALL"), JSON.stringify(answer));
      }, { own: true }),
      ...both("an unknown reason is named in a warning", "gemini", async (gateway, streamed) => {
        gateway.script("gemini", { text: "Well,", finish: "SOMETHING_NEW" });
        const { _2api } = await gateway.either(streamed, "gemini", {});
        assert.match(JSON.stringify(_2api?.warnings ?? ""), /SOMETHING_NEW/);
      }, { own: true }),
    ],
  },
  {
    number: 17,
    title: "Malformed arguments reach the client as they are, and do not break the next request",
    checks: [
      // In an answer of Anthropic's form, the input is an object.
      ...only("chat responses", both("OpenAI's arguments are untouched", "openai", async (gateway, streamed) => {
        gateway.script("openai", { calls: [{ name: "weather", text: '{"city": "Rome",' }, { name: "clock", text: "{ }" }] });
        const { calls } = await gateway.either(streamed, "openai", { tools });
        assert.deepEqual(args(calls), ['{"city": "Rome",', "{ }"]);
      })),
      {
        title: "Anthropic's deltas are untouched",
        provider: "anthropic",
        run: async (gateway) => {
          gateway.script("anthropic", { calls: [{ name: "weather", text: '{"city": "Rome",' }] });
          const { calls } = await gateway.either(true, "anthropic", { tools });
          assert.deepEqual(args(calls), ['{"city": "Rome",']);
        },
      },
      ...only("chat responses", ["openai", "anthropic", "gemini-2.5"].map((provider) => ({
        title: "a conversation with malformed arguments can go on",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          await gateway.choice(provider, { messages: HISTORY("call_1", '{"city": "Rome",'), tools });
          gateway.arrived(provider);
        },
      }))),
      ...only("chat", both("validate_tool_arguments makes them an error", "openai", async (gateway, streamed) => {
        const request_options = { validate_tool_arguments: true };
        for (const text of ['{"city": "Rome",', '{"town": "Rome"}']) {
          gateway.script("openai", { calls: [{ name: "weather", text }] });
          const answer = streamed ? await gateway.stream("openai", { tools, request_options }) : await gateway.chat("openai", { tools, request_options });
          const error = streamed ? answer.errors[0] : answer.json.error;
          assert.equal(error?.code, "invalid_tool_arguments", answer.text);
        }
      }, { own: true })),
    ],
  },
  {
    number: 18,
    title: "Ids of calls survive a change of provider",
    checks: [
      ...["openai", "anthropic", "gemini", "gemini-2.5"].flatMap((provider) =>
        both("ids have at most 40 characters of A-Z, a-z, 0-9, _ and -, and are unique", provider, async (gateway, streamed) => {
          gateway.script(provider, { calls: [ROME, ROME, OSLO] });
          const { calls } = await gateway.either(streamed, provider, { tools });
          for (const { id } of calls) assert.match(id, /^[A-Za-z0-9_-]{1,40}$/);
          assert.equal(new Set(calls.map(({ id }) => id)).size, 3);
        }),
      ),
      ...[["gemini", "openai"], ["gemini", "anthropic"], ["anthropic", "openai"], ["openai", "gemini"], ["anthropic", "gemini"]].map(([from, to]) => ({
        title: `calls of ${from} go on with ${to}`,
        provider: to,
        run: async (gateway) => {
          gateway.script(from, { calls: [ROME, OSLO] });
          const { message, calls } = await gateway.either(false, from, { tools });
          gateway.script(to, { text: "Done" });
          await gateway.choice(to, { tools, messages: [user(), message, ...calls.map((call) => result(call, "5"))] });
          gateway.arrived(to);
        },
      })),
      // A client of a provider's own format sends only ids that the provider accepts.
      ...[["openai", "chat messages"], ["anthropic", "chat responses"]].flatMap(([provider, fronts]) => only(fronts, {
        title: "ids of other gateways, long and with other characters, are accepted",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          await gateway.choice(provider, { messages: HISTORY(`functions.weather:0/${"x".repeat(100)}`), tools });
          gateway.arrived(provider);
        },
      })),
      {
        title: "OpenAI's and Anthropic's own ids are passed through",
        provider: "openai",
        run: async (gateway) => {
          for (const [provider, id] of [["openai", "call_abc"], ["anthropic", "toolu_abc"]]) {
            gateway.script(provider, { calls: [{ ...ROME, id: "abc" }] });
            assert.equal((await gateway.either(false, provider, { tools: [tool("weather")] })).calls[0].id, id);
          }
        },
      },
    ],
  },
];
