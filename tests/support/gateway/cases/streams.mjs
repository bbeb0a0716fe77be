// Cases about usage and streams: 10 to 14.
import assert from "node:assert/strict";
import { both, only, user, WEATHER } from "../ask.mjs";

const PROVIDERS = ["openai", "anthropic", "gemini"];
const ROME = { name: "weather", input: { city: "Rome" } };
// Tokens are counted once: Anthropic's cached ones are not in its input, Gemini's thoughts not in its candidates.
const EXPECTED = {
  openai: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  anthropic: { prompt_tokens: 17, completion_tokens: 5, total_tokens: 22 },
  gemini: { prompt_tokens: 10, completion_tokens: 12, total_tokens: 22 },
};
const stream_options = { include_usage: true };

/** A turn that depends on how far a stream has come: OpenAI's Responses have more events before the first word. */
const after = (words, turn) => (body) => turn(body.input === undefined ? words : words + 3);

/** Neither a reason to stop nor a clean end. */
function failed({ errors, finishes, broken, text }) {
  assert.deepEqual(finishes, [], text);
  assert.ok(errors.length > 0 || broken, `no error: ${text}`);
}

export const STREAMS = [
  {
    number: 10,
    title: "Usage is complete, counted once, and streamed only on request",
    checks: PROVIDERS.flatMap((provider) => [
      ...both("input, output, total and cached tokens", provider, async (gateway, streamed) => {
        gateway.script(provider, { ...(provider === "gemini" && { thinking: "Hm." }), text: "Sunny" });
        const { usage } = await gateway.either(streamed, provider, streamed ? { stream_options } : {});
        const { prompt_tokens, completion_tokens, total_tokens } = usage;
        assert.deepEqual({ prompt_tokens, completion_tokens, total_tokens }, EXPECTED[provider]);
        assert.equal(usage.prompt_tokens_details?.cached_tokens, 4);
      }),
      ...only("chat", {
        title: "one usage chunk, after the reason to stop and without choices",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Sunny" });
          const { chunks, usages, done } = await gateway.stream(provider, { stream_options });
          assert.equal(usages.length, 1);
          assert.deepEqual(usages[0].choices, []);
          assert.equal(chunks.at(-1), usages[0]);
          assert.ok(done);
        },
      }, {
        title: "no usage unless the client asks for it",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Sunny" });
          const { usages, chunks } = await gateway.stream(provider, {});
          assert.deepEqual(usages, []);
          assert.ok(chunks.every(({ choices }) => choices.length === 1), "no chunk without choices");
        },
      }),
    ]),
  },
  {
    number: 11,
    title: "An error within a stream reaches the client as an error",
    checks: PROVIDERS.flatMap((provider) => [
      {
        title: "before the first word",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Sunny", fail: [0, "Overloaded"] });
          failed(await gateway.stream(provider, {}));
        },
      },
      {
        title: "after some words",
        provider,
        run: async (gateway) => {
          gateway.script(provider, after(provider === "anthropic" ? 4 : 2, (at) => ({ text: "Sunny and warm", fail: [at, "Overloaded"] })));
          const answer = await gateway.stream(provider, {});
          failed(answer);
          assert.ok(answer.errors[0]?.message, "the error has a message");
        },
      },
    ]),
  },
  {
    number: 12,
    title: "A stream that breaks off is an error",
    checks: PROVIDERS.flatMap((provider) => {
      const at = { openai: 3, anthropic: 4, gemini: 2 }[provider];
      return ["cut", "end"].map((how) => ({
        title: how === "cut" ? "the connection breaks" : "the stream just ends",
        provider,
        run: async (gateway) => {
          gateway.script(provider, after(at, (at) => ({ text: "Sunny and warm", [how]: at })));
          const answer = await gateway.stream(provider, {});
          failed(answer);
          assert.ok(!answer.done, "a clean end after a broken stream");
        },
      }));
    }),
  },
  {
    number: 13,
    title: "A stream has exactly one reason to stop and one end",
    checks: [
      ...PROVIDERS.map((provider) => ({
        title: "after a text and after calls",
        provider,
        run: async (gateway) => {
          for (const [turn, expected] of [[{ text: "Sunny" }, "stop"], [{ calls: [ROME] }, "tool_calls"]]) {
            gateway.script(provider, turn);
            const { finishes, done, text } = await gateway.stream(provider, { tools: [WEATHER] });
            assert.deepEqual(finishes, [expected]);
            assert.ok(done, text);
          }
        },
      })),
      {
        title: "a provider that leaves it out: one is added, or it is an error",
        provider: "openai",
        run: async (gateway) => {
          gateway.script("openai", { text: "Sunny", omit: ({ data }) => /"finish_reason":"stop"|"response.completed"/.test(data) });
          const { finishes, errors } = await gateway.stream("openai", {});
          assert.equal(finishes.length + errors.length, 1);
        },
      },
      ...PROVIDERS.map((provider) => ({
        title: "every event is what the types of the format say",
        provider,
        run: async (gateway) => {
          for (const turn of [{ text: "Sunny" }, { text: "Let me see.", calls: [ROME, ROME] }]) {
            gateway.script(provider, turn);
            gateway.front.grammar((await gateway.stream(provider, { tools: [WEATHER], stream_options })).text);
          }
        },
      })),
    ],
  },
  {
    number: 14,
    title: "Server-Sent Events in any framing",
    checks: PROVIDERS.flatMap((provider) =>
      [
        ["single bytes", { split: 1 }],
        ["CRLF, comments and several data lines", { eol: "\r\n", comments: true, multiline: true }],
        ["no space after the colon", { space: "" }],
      ].map(([title, framing]) => ({
        title,
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Größe: 22 °C 🌞, schön", calls: [{ name: "weather", input: { city: "Zürich 🏔" } }], ...framing });
          const { message, calls, finishes } = await gateway.stream(provider, { messages: [user()], tools: [WEATHER] });
          assert.equal(message?.content, "Größe: 22 °C 🌞, schön");
          assert.deepEqual(JSON.parse(calls[0].function.arguments), { city: "Zürich 🏔" });
          assert.deepEqual(finishes, ["tool_calls"]);
        },
      })),
    ),
  },
];
