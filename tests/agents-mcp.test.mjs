// Claude Code connects to the server by MCP, with the lines of docs/CLIENTS.md: its newest version, which speaks the modern era, and one of the
// legacy era. Adding and listing servers needs no account and no model. The use of the programs is subject to Anthropic's terms.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { command, QUIET } from "./support/agents/claude-code.mjs";
import { program } from "./support/agents/program.mjs";
import { root } from "./support/commands.mjs";
import { CANARY, SAMPLES, start } from "./support/worker.mjs";

const KEY = `${CANARY}-of-claude-code`;

let worker, line;
before(async () => {
  worker = await start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(KEY, "claude-code", ["*"])]) } });
  const page = await readFile(join(root, "docs/CLIENTS.md"), "utf8");
  [line] = /^claude mcp add .*TOOLBOOTH_KEY.*$/m.exec(page);
});
after(() => worker?.close());

/** Adds the server with the line for a key, and says what the program, by default the newest, then knows about it. */
function added(key, file) {
  const script = `${line.replace("https://tools.example.com", worker.address)} && claude mcp list`;
  return program("sh", ["-c", script], { env: { TOOLBOOTH_KEY: key, ...QUIET }, files: command(file) });
}

for (const [version, file] of [
  ["2.1.332"],
  ["1.0.128", "claude-code-1/cli.js"],
]) {
  test(`Claude Code ${version} adds the server and connects to it`, { timeout: 300_000 }, async () => {
    const { code, output, errors } = await added(KEY, file);
    assert.equal(code, 0, errors);
    assert.match(output, /^toolbooth: http:\S+\/mcp \(HTTP\) - [✓✔] Connected$/m);
  });
}

test("Claude Code does not connect with another key", { timeout: 300_000 }, async () => {
  const { output } = await added(`${KEY}-of-another`);
  assert.match(output, /^toolbooth: /m);
  assert.doesNotMatch(output, /Connected$/m);
});
