// Reports about what a provider answers: G03, G11 to G13, G17, G18, G24, G25.
import assert from "node:assert/strict";
import { result } from "../ask.mjs";
import { call, calls, check, claude, either, google, HI, made, ROME, W } from "./checks.mjs";

const GLM = made("zai", "glm-5.3");
const MISTRAL = made("mistral", "magistral-medium");
const delta = (index, more) => ({ tool_calls: [{ index, ...more }] });
const named = { id: "call_7", type: "function" };

/** A stream that is one call of w for Rome. */
const oneCall = (title, deltas, text = ROME) =>
  check(title, GLM, async (gateway, provider) => {
    gateway.script(provider, { deltas, finish: "tool_calls", means: calls(call("call_7", text)) });
    const { calls: got, finishes, errors } = await gateway.stream(provider, { messages: [HI], tools: [W] });
    assert.deepEqual(errors, []);
    assert.deepEqual(got.map(({ function: one }) => [one.name, one.arguments]), [["w", text]]);
    assert.deepEqual(finishes, ["tool_calls"]);
  });

/** What must go back with a call. */
const goesBack = (title, model, more, expected, request) =>
  either(title, model, async (gateway, provider, streamed) => {
    gateway.script(provider, { content: "", tool_calls: [call("call_1")], ...more }, { content: "Done" });
    const ask = { tools: [W], ...request };
    const { message, calls: got } = await gateway.either(streamed, provider, { messages: [HI], ...ask });
    await gateway.choice(provider, { messages: [HI, message, result(got[0], "5")], ...ask });
    const assistant = gateway.arrived(provider).messages.find(({ role }) => role === "assistant");
    assert.match(JSON.stringify(assistant), expected);
  });

/** An ending of Gemini's without content is no success. */
const isNoSuccess = (finish) =>
  either(finish, google(), async (gateway, provider, streamed) => {
    gateway.script(provider, { parts: [], finish });
    const body = { messages: [HI], tools: [W] };
    if (!streamed) {
      const { status, json } = await gateway.chat(provider, body);
      if (status !== 200 || json.status === "failed") return;
      assert.ok(!["stop", "tool_calls"].includes(gateway.front.answer(json).finish), "an empty answer that completed");
      return;
    }
    const { finishes, errors } = await gateway.stream(provider, body);
    assert.ok(errors.length > 0 || !["stop", "tool_calls"].includes(finishes[0]), "an empty answer that completed");
  });

/** A gateway may ask DeepSeek in Anthropic's format, too. */
const GIVEN = /"(reasoning_content|thinking)":"I call w\."/;
const PICTURE = { parts: [{ text: "Here:" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }] };
const THINKS = [{ content: "" }, { content: [{ type: "thinking", thinking: [{ type: "text", text: "Hmm." }] }] }, { content: [{ type: "text", text: "Hello" }] }, { content: " there" }];
const REFERS = [{ content: "See " }, { content: [{ type: "text", text: "the page" }, { type: "reference", reference_ids: [1] }] }, { content: "." }];

export const ANSWERS = [
  {
    number: "G03",
    reported: ["musistudio/claude-code-router#1041", "continuedev/continue#9606", "continuedev/continue#10193", "smallmain/vscode-unify-chat-provider#286"],
    title: "Reasoning that a provider must get back goes back to it",
    checks: [
      ...goesBack("reasoning_content", made("deepseek", "deepseek-v4-pro"), { reasoning_content: "I call w." }, GIVEN, { reasoning_effort: "high" }),
      ...goesBack("reasoning_content that the client did not ask to see", made("deepseek", "deepseek-v4-pro"), { reasoning_content: "I call w." }, GIVEN),
      ...goesBack(
        "reasoning_details",
        made("openrouter", "google/gemini-3-pro"),
        { reasoning: "I call w.", reasoning_details: [{ type: "reasoning.encrypted", data: "U0lHTkFUVVJF", id: "call_1", format: "google-gemini-v1", index: 0 }] },
        /"reasoning_details":.*U0lHTkFUVVJF/,
      ),
    ],
  },
  {
    number: "G11",
    reported: ["diegosouzapw/OmniRoute#6730", "router-for-me/CLIProxyAPI#3748", "router-for-me/CLIProxyAPI#3471", "TriDefender/zcode-api#23"],
    title: "A call may come in any order of its parts",
    checks: [
      oneCall("the id, then the name, then the arguments", [delta(0, named), delta(0, { function: { name: "w" } }), delta(0, { function: { arguments: ROME } })]),
      oneCall("arguments before the name", [delta(0, { function: { arguments: "" } }), delta(0, { ...named, function: { name: "w", arguments: ROME } })]),
      oneCall("arguments in the first part, the name in the last", [delta(0, { ...named, function: { arguments: '{"city":' } }), delta(0, { function: { name: "w", arguments: '"Rome"}' } })]),
      check("a call of empty strings beside a text is none", made("local", "x"), async (gateway, provider) => {
        gateway.script(provider, { deltas: [{ content: "Hi", ...delta(0, { id: "", type: "function", function: { name: "", arguments: "" } }) }], means: { content: "Hi" } });
        const { calls: got, message, finishes, errors } = await gateway.stream(provider, { messages: [HI], tools: [W] });
        assert.deepEqual([errors, got, message.content, finishes], [[], [], "Hi", ["stop"]]);
      }),
    ],
  },
  {
    number: "G12",
    reported: ["BerriAI/litellm#16272", "BerriAI/litellm#16434", "vercel/ai#8072", "Arize-ai/openinference#3761"],
    title: "Content in parts is text and reasoning",
    checks: [
      ["thinking and text", THINKS, "Hello there"],
      ["text and a reference", REFERS, "See the page."],
    ].flatMap(([title, deltas, expected]) => [
      check(`${title}, streamed`, MISTRAL, async (gateway, provider) => {
        gateway.script(provider, { deltas, means: { content: expected } });
        const { message, text, errors } = await gateway.stream(provider, { messages: [HI], reasoning_effort: "high" });
        assert.deepEqual([errors, message.content], [[], expected]);
        if (gateway.front.name === "chat") assert.doesNotMatch(text, /"content": ?\[/);
      }),
      check(title, MISTRAL, async (gateway, provider) => {
        gateway.script(provider, { content: deltas.flatMap(({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content)), means: { content: expected } });
        assert.equal((await gateway.choice(provider, { messages: [HI] })).message.content, expected);
      }),
    ]),
  },
  {
    number: "G13",
    reported: ["envoyproxy/ai-gateway#1465"],
    title: "A placeholder before the arguments is no call",
    checks: [
      oneCall("{} and then the parts", [delta(0, { ...named, function: { name: "w", arguments: "{}" } }), delta(0, { function: { arguments: '{"city":' } }), delta(0, { function: { arguments: '"Rome"}' } })]),
      oneCall("{}, and the id and the name again", [delta(0, { ...named, function: { name: "w", arguments: "{}" } }), delta(0, { ...named, function: { name: "w", arguments: ROME } })]),
      oneCall("{} and nothing more", [delta(0, { ...named, function: { name: "w", arguments: "{}" } })], "{}"),
    ],
  },
  {
    number: "G17",
    reported: ["NousResearch/hermes-agent#83886"],
    title: "An ending that is a failure is no success",
    checks: ["MISSING_THOUGHT_SIGNATURE", "NO_IMAGE", "UNEXPECTED_TOOL_CALL"].flatMap(isNoSuccess),
  },
  {
    number: "G18",
    reported: ["maximhq/bifrost#7032", "agentgateway/agentgateway#3438", "Wei-Shaw/sub2api#4798"],
    title: "Pictures in answers reach the client, or are an error",
    checks: either("a text and a picture", google("gemini-3-pro-image"), async (gateway, provider, streamed) => {
      gateway.script(provider, PICTURE);
      const reply = await (streamed ? gateway.stream(provider, { messages: [HI] }) : gateway.chat(provider, { messages: [HI] }));
      const isError = reply.status !== 200 || (reply.errors ?? []).length > 0;
      if (gateway.front.name === "messages" && isError) return;
      assert.ok(!isError, reply.text.slice(0, 300));
      assert.match(reply.text, /iVBORw0KGgo=/);
      if (gateway.front.name === "responses") assert.match(reply.text, /image_generation_call/);
    }),
  },
  {
    number: "G24",
    title: "Errors of providers are legible",
    checks: [
      ["short", "ollamarunner: the file preollama.bin is missing"],
      ["blank", "NONEMPTY_INPUT required"],
    ].map(([provider, message]) =>
      check("a key that is a common word", { provider, target: { model: "qwen3", maker: "local" } }, async (gateway) => {
        gateway.script(provider, { status: 400, message });
        const { status, text } = await gateway.chat(provider, { messages: [HI] });
        assert.equal(status, 400);
        assert.ok(text.includes(message), text.slice(0, 300));
      }),
    ),
  },
  {
    number: "G25",
    title: "An overloaded Anthropic is 529 in the client's format",
    checks: [
      check("529", claude("claude-opus-5"), async (gateway, provider) => {
        gateway.script(provider, { status: 529, type: "overloaded_error", message: "Overloaded" });
        const { status, json } = await gateway.chat(provider, { messages: [HI] });
        assert.deepEqual([status, json.error?.type], [529, "overloaded_error"]);
      }, "messages"),
    ],
  },
];
