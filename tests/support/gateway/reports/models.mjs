// Reports about what a generation of models accepts: G01, G04 to G07, G16, G21, G22.
import assert from "node:assert/strict";
import { user } from "../ask.mjs";
import { check, claude, either, gpt, HI, passed, sent, W } from "./checks.mjs";

const OLD = claude("claude-sonnet-4-5");

/** A request with functions that OpenAI takes. */
const isTaken = (gateway) => {
  const { path, body } = gateway.at("openai").last;
  assert.ok(path.endsWith("/responses") || body.reasoning_effort === "none", `${path} with reasoning_effort ${body.reasoning_effort}`);
};

export const MODELS = [
  {
    number: "G01",
    reported: ["agentgateway/agentgateway#2501", "danny-avila/LibreChat#14231", "danny-avila/LibreChat#14355", "openai/openai-openapi#541"],
    title: "OpenAI's models that take functions with reasoning only at /responses are asked there",
    checks: [
      ...["gpt-5.4", "gpt-5.6-sol"].flatMap((model) =>
        either("a function and an effort", gpt(model), async (gateway, provider, streamed) => {
          gateway.script(provider);
          await gateway.either(streamed, provider, { messages: [HI], tools: [W], reasoning_effort: "high" });
          isTaken(gateway);
        }),
      ),
      ...either("a function alone", gpt("gpt-5.6-sol"), async (gateway, provider, streamed) => {
        gateway.script(provider);
        await gateway.either(streamed, provider, { messages: [HI], tools: [W] });
        isTaken(gateway);
      }),
    ],
  },
  {
    number: "G04",
    reported: ["promptfoo/promptfoo#9500", "CherryHQ/cherry-studio#15532", "OpenHands/software-agent-sdk#3427", "browserbase/stagehand#2231"],
    title: "Models that reject sampling parameters do not get them",
    checks: [
      ...["claude-opus-4-8", "claude-opus-5"].map((model) =>
        check("temperature and top_p", claude(model), async (gateway, provider) => {
          const { temperature, top_p, top_k } = await passed(gateway, provider, { messages: [HI], temperature: 0.2, top_p: 0.9, ...(gateway.front.name === "chat" && { top_k: 5 }) });
          assert.deepEqual([temperature, top_p, top_k], [undefined, undefined, undefined]);
        }, "chat responses"),
      ),
      check("an older model keeps temperature", OLD, async (gateway, provider) => {
        assert.equal((await passed(gateway, provider, { messages: [HI], temperature: 0.2 })).temperature, 0.2);
      }),
    ],
  },
  {
    number: "G05",
    reported: ["ex-machina-co/opencode-anthropic-auth#159", "cline/cline#13375", "MoonshotAI/kimi-code#610"],
    title: "A model that always thinks is not told not to",
    checks: ["claude-fable-5"].map((model) =>
      check("effort none", claude(model), async (gateway, provider) => {
        assert.notEqual((await passed(gateway, provider, { messages: [HI], reasoning_effort: "none" })).thinking?.type, "disabled");
      }, "chat responses"),
    ),
  },
  {
    number: "G06",
    reported: ["Yeachan-Heo/gajae-code#3913", "tractorjuice/arc-kit#577", "anthropics/claude-code#92387"],
    title: "A model gets an effort that it has",
    checks: [
      check("xhigh", claude("claude-sonnet-4-6"), async (gateway, provider) => {
        const { output_config, thinking } = await passed(gateway, provider, { messages: [HI], max_tokens: 64000, reasoning_effort: "xhigh" });
        const effort = output_config?.effort;
        assert.ok(["high", "max"].includes(effort) || (effort === undefined && thinking), `${effort}`);
      }, "chat responses"),
      check("a later model keeps xhigh", claude("claude-opus-4-8"), async (gateway, provider) => {
        assert.equal((await passed(gateway, provider, { messages: [HI], max_tokens: 64000, reasoning_effort: "xhigh" })).output_config?.effort, "xhigh");
      }, "chat responses"),
    ],
  },
  {
    number: "G07",
    reported: ["router-for-me/CLIProxyAPI#5319", "Kilo-Org/kilocode#8260", "livekit/agents#4973"],
    title: "A model without prefill gets a conversation that ends with the user",
    checks: [
      check("it ends with the assistant", claude("claude-opus-5"), async (gateway, provider) => {
        const arrived = await sent(gateway, provider, { messages: [HI, { role: "assistant", content: "partial" }] });
        if (arrived) assert.equal(arrived.messages.at(-1).role, "user");
      }, "chat responses"),
      check("an older model keeps its prefill", OLD, async (gateway, provider) => {
        assert.equal((await passed(gateway, provider, { messages: [HI, { role: "assistant", content: "partial" }] })).messages.at(-1).role, "assistant");
      }),
    ],
  },
  {
    number: "G16",
    reported: ["withceleste/celeste-python#393", "anthropics/claude-cookbooks#854"],
    title: "A model that rejects forced calls is not forced",
    checks: [
      ["required", "required"],
      ["one function", { type: "function", function: { name: "w" } }],
    ].map(([title, tool_choice]) =>
      check(title, claude("claude-mythos-5-1"), async (gateway, provider) => {
        const arrived = await passed(gateway, provider, { messages: [HI], tools: [W], tool_choice });
        assert.ok(!["any", "tool"].includes(arrived.tool_choice?.type), JSON.stringify(arrived.tool_choice));
      }, "chat responses"),
    ),
  },
  {
    number: "G21",
    reported: ["egoist/chatwise-releases#1393", "anomalyco/opencode#31546", "Yeachan-Heo/gajae-code#2791", "AAswordman/Operit#568"],
    title: "Summaries of thinking are asked for if the client can see them",
    checks: [
      check("an effort", claude("claude-opus-4-8"), async (gateway, provider) => {
        const { thinking } = await passed(gateway, provider, { messages: [HI], max_tokens: 64000, reasoning_effort: "high" });
        assert.equal(thinking?.display, "summarized", JSON.stringify(thinking));
      }, "chat responses"),
    ],
  },
  {
    number: "G22",
    title: "Media types as clients name them",
    checks: [
      check("image/jpg", claude("claude-opus-5"), async (gateway, provider) => {
        const image = { type: "image_url", image_url: { url: "data:image/jpg;base64,/9j/4AAQ" } };
        const arrived = await passed(gateway, provider, { messages: [user([{ type: "text", text: "what" }, image])] });
        const { source } = arrived.messages.at(-1).content.find(({ type }) => type === "image");
        assert.equal(source.media_type, "image/jpeg");
      }, "chat responses"),
      check("a file of text", claude("claude-opus-5"), async (gateway, provider) => {
        const file_data = "data:text/plain;base64,SGVsbG8=";
        const native =
          gateway.front.name === "chat"
            ? { messages: [{ role: "user", content: [{ type: "text", text: "what" }, { type: "file", file: { filename: "a.txt", file_data } }] }] }
            : { input: [{ role: "user", content: [{ type: "input_text", text: "what" }, { type: "input_file", filename: "a.txt", file_data }] }] };
        assert.match(JSON.stringify((await passed(gateway, provider, { native })).messages), /"Hello"|Hello/);
      }, "chat responses"),
    ],
  },
];
