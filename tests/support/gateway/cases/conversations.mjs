// Cases about what goes back to a model: 5 to 9.
import assert from "node:assert/strict";
import { both, CLOCK, result, user, WEATHER } from "../ask.mjs";

const tools = [WEATHER, CLOCK];
const ROME = { name: "weather", input: { city: "Rome" } };
const OSLO = { name: "weather", input: { city: "Oslo" } };
const call = (id, name = "weather", text = '{"city":"Rome"}') => ({ id, type: "function", function: { name, arguments: text } });
const assistant = (...tool_calls) => ({ role: "assistant", content: null, tool_calls });

/** A whole loop: the calls of `turns` one after the other, each answered, then a text. Returns the messages. */
async function loop(gateway, provider, streamed, turns, { body = {}, keep = (message) => message } = {}) {
  gateway.script(provider, ...turns, { text: "Done" });
  const messages = [user()];
  for (let at = 0; at <= turns.length; at++) {
    const { message, calls } = await gateway.either(streamed, provider, { tools, messages, ...body });
    gateway.arrived(provider);
    if (calls.length === 0) return messages;
    messages.push(keep(message), ...calls.map((one, place) => result(one, `result ${place}`)));
  }
  throw new Error("the model has not come to an end");
}

const parts = (body, role) => body.contents.filter((content) => content.role === role).flatMap((content) => content.parts);
const blocks = (body) => body.messages.flatMap(({ role, content }) => (typeof content === "string" ? [{ role, type: "text", text: content }] : content.map((block) => ({ role, ...block }))));
const withoutExtras = ({ role, content, tool_calls }) => ({ role, content, tool_calls: tool_calls.map(({ id, type, function: { name, arguments: text } }) => ({ id, type, function: { name, arguments: text } })) });

export const CONVERSATIONS = [
  {
    number: 5,
    title: "Gemini 3 gets its thought signatures back",
    checks: [
      ...both("one call", "gemini", async (gateway, streamed) => {
        await loop(gateway, "gemini", streamed, [{ calls: [ROME] }]);
        const [{ thoughtSignature, thought_signature = thoughtSignature }] = parts(gateway.arrived("gemini"), "model");
        assert.match(Buffer.from(thought_signature, "base64").toString(), /^signature of /);
      }),
      ...both("parallel calls, of which the first is signed, over two turns", "gemini", async (gateway, streamed) => {
        await loop(gateway, "gemini", streamed, [{ calls: [ROME, OSLO] }, { calls: [OSLO, ROME] }]);
        const signed = parts(gateway.arrived("gemini"), "model").map(({ thoughtSignature, thought_signature }) => Boolean(thoughtSignature ?? thought_signature));
        assert.deepEqual(signed, [true, false, true, false]);
      }),
      {
        title: "a client that drops what it does not know can go on",
        provider: "gemini",
        run: (gateway) => loop(gateway, "gemini", false, [{ calls: [ROME, OSLO] }, { calls: [ROME] }], { keep: withoutExtras }),
      },
    ],
  },
  {
    number: 6,
    title: "Anthropic gets its thinking blocks back, first and with their signatures",
    checks: [
      ...both("a thinking block", "anthropic", async (gateway, streamed) => {
        await loop(gateway, "anthropic", streamed, [{ thinking: "Rome, I think.", calls: [ROME] }], { body: { reasoning_effort: "low" } });
        const [first] = blocks(gateway.arrived("anthropic")).filter(({ role }) => role === "assistant");
        assert.equal(first.type, "thinking");
        assert.match(Buffer.from(first.signature, "base64").toString(), /^signature of /);
      }),
      ...both("a thinking block and a redacted one, over two turns", "anthropic", async (gateway, streamed) => {
        const turn = { thinking: "Rome, I think.", redacted: "c2VjcmV0", text: "Let me see.", calls: [ROME, OSLO] };
        await loop(gateway, "anthropic", streamed, [turn, turn], { body: { reasoning_effort: "low" } });
        const types = blocks(gateway.arrived("anthropic")).filter(({ role }) => role === "assistant").map(({ type }) => type);
        const expected = ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"];
        assert.deepEqual(types, [...expected, ...expected]);
      }),
    ],
  },
  {
    number: 7,
    title: "Anthropic gets all results of a turn in one message, before any text",
    checks: [
      {
        title: "two results are one message",
        provider: "anthropic",
        run: async (gateway) => {
          await loop(gateway, "anthropic", false, [{ calls: [ROME, OSLO] }]);
          assert.deepEqual(gateway.arrived("anthropic").messages.map(({ role }) => role), ["user", "assistant", "user"]);
        },
      },
      {
        title: "a message of the user after the results",
        provider: "anthropic",
        run: async (gateway) => {
          gateway.script("anthropic", { text: "Done" });
          const messages = [user(), assistant(call("a"), call("b")), result("a", "1"), result("b", "2"), user("And tomorrow?")];
          await gateway.choice("anthropic", { tools, messages });
          const last = gateway.arrived("anthropic").messages.at(-1).content.map(({ type }) => type);
          assert.deepEqual(last, ["tool_result", "tool_result", "text"]);
        },
      },
      ...["openai", "anthropic", "gemini-2.5"].map((provider) => ({
        title: "results in another order than the calls",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          const messages = [user(), assistant(call("a"), call("b")), result("b", "2"), result("a", "1")];
          await gateway.choice(provider, { tools, messages });
          const body = gateway.arrived(provider);
          // Gemini's results have no other id on older models than their place.
          if (provider === "gemini-2.5") assert.match(JSON.stringify(body.contents.at(-1)), /1.*2/);
        },
      })),
    ],
  },
  {
    number: 8,
    title: "Gemini gets the function's name with each result, and calls without id get one",
    checks: [
      ...["gemini", "gemini-2.5"].map((provider) => ({
        title: "each result has the name of its tool",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { calls: [ROME, { name: "clock" }] }, { text: "Done" });
          const { message, calls } = await gateway.either(false, provider, { tools });
          await gateway.choice(provider, { tools, messages: [user(), message, result(calls[1], "noon"), result(calls[0], "rainy")] });
          const results = gateway.arrived(provider).contents.at(-1).parts.map((part) => part.functionResponse ?? part.function_response);
          const [weather, clock] = ["weather", "clock"].map((name) => JSON.stringify(results.find((one) => one.name === name)?.response));
          assert.match(weather ?? "no result named weather", /"rainy"/);
          assert.match(clock ?? "no result named clock", /"noon"/);
        },
      })),
      ...both("two calls of one tool have two ids", "gemini-2.5", async (gateway, streamed) => {
        gateway.script("gemini-2.5", { calls: [ROME, ROME] }, { calls: [ROME, ROME] });
        const first = (await gateway.either(streamed, "gemini-2.5", { tools })).calls;
        const second = (await gateway.either(streamed, "gemini-2.5", { tools })).calls;
        const ids = [...first, ...second].map(({ id }) => id);
        assert.ok(ids.every((id) => typeof id === "string" && id));
        assert.equal(new Set(ids).size, 4, `${ids}`);
      }),
    ],
  },
  {
    number: 9,
    title: "Results of any form are accepted",
    checks: [
      ...[
        ["a plain text", "Sunny, 22 °C"],
        ["a JSON object", '{"celsius":22}'],
        ["a JSON array", "[1,2]"],
        ["a number", "22"],
        ["nothing", ""],
        ["an error", "Error: Database connection failed."],
        ["text parts", [{ type: "text", text: "Sunny, " }, { type: "text", text: "22 °C" }]],
      ].flatMap(([what, content]) =>
        ["openai", "anthropic", "gemini-2.5"].map((provider) => ({
          title: what,
          provider,
          run: async (gateway) => {
            gateway.script(provider, { text: "Done" });
            await gateway.choice(provider, { tools, messages: [user(), assistant(call("a")), result("a", content)] });
            const arrived = JSON.stringify(gateway.arrived(provider)).replaceAll("\\", "");
            const texts = typeof content === "string" ? [content.replace(/^Error: /, "")] : content.map(({ text }) => text);
            for (const text of texts) assert.ok(arrived.includes(text), arrived);
          },
        })),
      ),
    ],
  },
];
