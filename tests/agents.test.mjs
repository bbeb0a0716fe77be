// Coding agents do a task with models of every format: they read a file, change it, run a command, and call a tool of the server, either
// by MCP or one that the gateway adds to the chat. The models are stand-ins that reject what the providers reject. Codex and Claude Code are the unmodified programs, configured by
// the lines of docs/GATEWAY.md.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { claudeCode } from "./support/agents/claude-code.mjs";
import { codex } from "./support/agents/codex.mjs";
import { root } from "./support/commands.mjs";
import { KEY, model, startGateway, STATE_KEY } from "./support/gateway/worker.mjs";
import { standIns } from "./support/providers/stand-in.mjs";

// DeepSeek takes its reasoning back, and knows no role but four; the template of Qwen takes one system message, and only as the first.
const DIALECTS = { deepseek: "deepseek-v4-pro", qwen: "qwen3.8-27b" };
const PROVIDERS = ["openai", "anthropic", "gemini", ...Object.keys(DIALECTS)];
const PROMPT = "It is 23 degrees now, not 22. Correct notes.txt, copy it to copy.txt, and add 17 and 25.";
const ANSWER = "Done: it is 23 °C, and the sum is 42.";
const PATCH = ["*** Begin Patch", "*** Update File: notes.txt", "@@", "-Größe: 22 °C", "+Größe: 23 °C", "*** End Patch", ""].join("\n");
const COPY = "cp notes.txt copy.txt && cat copy.txt";
const ADD = "mcp__toolbooth__Calculator_Add";
const SUM = { a: 17, b: 25 };
// The beginnings of names in MODELS. The gateway adds tools to chats with the first. Codex has other tools of its own for models whose names
// begin with gpt-5.5, and lets those of gpt-5.6-sol write programs that call the tools.
const ADDED = "booth";
// Claude Code asks every model whose name it does not know for adaptive thinking, which is newer than claude-sonnet-4-5.
const ADAPTIVE = "claude-opus-4-6";
const CODEX = "gpt-5.5";
const PROGRAMS = "gpt-5.6-sol";
const CLAUDE = "plain";
let served;
before(async () => {
  const upstream = await standIns();
  const entry = (provider) => {
    const [id, name] = provider in DIALECTS ? [provider, DIALECTS[provider]] : model(provider).split("/");
    return { targets: [{ provider: id, model: name }] };
  };
  const settings = Object.keys(DIALECTS).flatMap((id) => {
    const { key, base } = upstream[id];
    return Object.entries({ BASE_URL: `${base}/v1`, API_KEY: key, DIALECT: id }).map(([name, value]) => [`${id.toUpperCase()}_${name}`, value]);
  });
  const adaptive = (provider) => (provider === "anthropic" ? { targets: [{ provider, model: ADAPTIVE }] } : entry(provider));
  const named = (provider) => [
    [`${ADDED}-${provider}`, { ...adaptive(provider), tools: ["Calculator.Add"] }],
    [`${CLAUDE}-${provider}`, adaptive(provider)],
    ...[CODEX, PROGRAMS].map((name) => [`${name}-${provider}`, entry(provider)]),
  ];
  const MODELS = Object.fromEntries(PROVIDERS.flatMap(named));
  const vars = { STATE_KEY, MODELS: JSON.stringify(MODELS), PROVIDERS: ["answers", ...Object.keys(DIALECTS)].join(","), ...Object.fromEntries(settings) };
  served = await startGateway({ upstream, vars });
});
after(() => served.close());

/** The lines for an agent in docs/GATEWAY.md, with the address of the Worker. */
async function documented(title, language) {
  const page = await readFile(join(root, "docs/GATEWAY.md"), "utf8");
  const [, lines] = new RegExp(`^### ${title}$.*?^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page);
  return lines.replaceAll("https://tools.example.com", served.address);
}

/** Runs `use` in a folder with the files of the task, and checks what has become of them. */
async function task(provider, turns, use) {
  const cwd = await mkdtemp(join(tmpdir(), "task-"));
  const upstream = served.upstream[provider];
  upstream.script(...turns(cwd));
  try {
    await writeFile(join(cwd, "notes.txt"), "Größe: 22 °C\n");
    const answer = await use(cwd);
    assert.deepEqual(upstream.rejections, [], "what the provider rejected");
    assert.match(answer, new RegExp(ANSWER));
    for (const name of ["notes.txt", "copy.txt"]) assert.equal(await readFile(join(cwd, name), "utf8"), "Größe: 23 °C\n");
    // The last request has the result of each step.
    const conversation = JSON.stringify(upstream.last.body);
    for (const part of ["Größe: 22 °C", "Größe: 23 °C", "42"]) assert.ok(conversation.includes(part), part);
  } finally {
    await rm(cwd, { recursive: true });
  }
}

/** A call of the tool `name` as the provider got it: tools of MCP servers may have longer names there, or a namespace. */
function call(body, name, input, text) {
  const inner = ({ type, name, tools }) => (type === "namespace" ? tools.map((tool) => ({ ...tool, namespace: name })) : undefined);
  const added = (Array.isArray(body.input) ? body.input : []).flatMap(({ tools }) => tools ?? []);
  const tools = [...(body.tools ?? []), ...added].flatMap((tool) => inner(tool) ?? tool.functionDeclarations ?? tool.function ?? { name: tool.type, ...tool });
  const found = tools.find((tool) => tool.name === name && !tool.namespace) ?? tools.find((tool) => tool.name.endsWith(name));
  assert.ok(found, `${name} is not one of the tools: ${tools.map(({ name }) => name)}`);
  const { type, namespace } = found;
  return { name: found.name, ...(namespace && { namespace }), ...(type === "custom" ? { text } : { input: text === undefined ? input : { input: text } }) };
}
const step = (name, input, text) => (body) => ({ thinking: "The next step.", calls: [call(body, name, input, text)] });

/** What a model does with each kind of tools that Codex has. */
const STEPS = {
  [ADDED]: [
    step("exec_command", { cmd: "cat notes.txt" }),
    step("exec_command", { cmd: `apply_patch <<'EOF'\n${PATCH}EOF` }),
    step("exec_command", { cmd: COPY }),
    step("Calculator_Add", SUM),
  ],
  [CODEX]: [
    step("exec_command", { cmd: "cat notes.txt" }),
    step("apply_patch", undefined, PATCH),
    step("exec_command", { cmd: COPY }),
    step("tool_search", { query: "add two numbers" }),
    step("Calculator_Add", SUM),
  ],
  [PROGRAMS]: [`exec_command({ cmd: "cat notes.txt" })`, `apply_patch(${JSON.stringify(PATCH)})`, `exec_command({ cmd: "${COPY}" })`, `${ADD}(${JSON.stringify(SUM)})`].map((code) =>
    step("exec", undefined, `text(JSON.stringify(await tools.${code}));`),
  ),
};

for (const name of [ADDED, CODEX, PROGRAMS]) {
  for (const provider of PROVIDERS) {
    test(`Codex with the model ${name}-${provider}`, { timeout: 300_000 }, async () => {
      await task(provider, () => [...STEPS[name], { text: ANSWER }], async (cwd) => {
        const lines = (await documented("Codex", "toml")).replace(/^model = .*$/m, `model = "${name}-${provider}"`);
        // With tools that the gateway adds, it knows no server of MCP.
        const config = name === ADDED ? lines.replace(/^\[mcp_servers[^]*/m, "") : lines;
        const { code, output, errors, hosts } = await codex({ config, env: { TOOLBOOTH_KEY: KEY }, prompt: PROMPT, cwd });
        assert.equal(code, 0, errors);
        assert.deepEqual(hosts, [], "hosts that it asked for");
        return output;
      });
    });
  }
}

for (const name of [ADDED, CLAUDE]) {
  for (const provider of PROVIDERS) {
    test(`Claude Code with the model ${name}-${provider}`, { timeout: 300_000 }, async () => {
      const turns = (cwd) => {
        const file_path = join(cwd, "notes.txt");
        return [
          step("Read", { file_path }),
          step("Edit", { file_path, old_string: "22", new_string: "23" }),
          step("Bash", { command: COPY, description: "Copy the file" }),
          ...(name === CLAUDE ? [step("ToolSearch", { query: `select:${ADD}` })] : []),
          step(name === CLAUDE ? ADD : "Calculator_Add", SUM),
          { text: ANSWER },
        ];
      };
      const lines = (await documented("Claude Code", "sh")).replace(/--model .*$/m, `--model ${name}-${provider}`);
      const mcp = name === CLAUDE ? { toolbooth: { type: "http", url: `${served.address}/mcp`, headers: { Authorization: `Bearer ${KEY}` } } } : {};
      await task(provider, turns, async (cwd) => {
        const { code, output, errors, hosts } = await claudeCode({ lines, env: { TOOLBOOTH_KEY: KEY }, prompt: PROMPT, tools: `Read,Edit,Bash,${ADD}`, mcp, cwd });
        assert.equal(code, 0, errors + output);
        assert.deepEqual(hosts, [], "hosts that it asked for");
        return output;
      });
    });
  }
}
