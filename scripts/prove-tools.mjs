// Proves that the tests do not depend on the deployed tools: removes all of them from a copy of this repository, adds
// others, and runs the native tests and those on workerd that build or list tools.
//
// CARGO_TARGET_DIR is that of the copy, if it is set.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../tests/support/commands.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "toolbooth-tools-"));
/** The tests on workerd that run the commands, list tools or start `make dev`. */
const TESTS = ["access", "definitions", "envelope", "project", "provider-lists", "site", "weather"].map((name) => `tests/${name}.test.mjs`);

/** Runs a command in the copy. Fails, with its output, if it fails. */
async function command(text) {
  console.log(`== ${text}`);
  const start = performance.now();
  const { code, out, err } = await run(text, { cwd: copy });
  assert.equal(code, 0, `${text}\n${out}${err}`);
  console.log(`${((performance.now() - start) / 1000).toFixed(1)} s`);
  return out;
}

/** Changes a file of the copy. */
function change(path, edit) {
  const before = readFileSync(join(copy, path), "utf8");
  const after = edit(before);
  assert.notEqual(after, before, path);
  writeFileSync(join(copy, path), after);
}

try {
  const { out } = await run("git ls-files", { cwd: root });
  for (const path of out.trim().split("\n")) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    // Make compares the times of files.
    cpSync(join(root, path), join(copy, path), { preserveTimestamps: true, recursive: true, verbatimSymlinks: true });
  }
  for (const path of [".tools", "node_modules"]) symlinkSync(join(root, path), join(copy, path));

  // As docs/PROJECT.md says.
  const toolkits = readdirSync(join(copy, "tools"), { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  assert.ok(toolkits.length > 0, "tools/ has links");
  for (const { name } of toolkits) rmSync(join(copy, "tools", name));
  change("tools/lib.rs", (text) => text.replaceAll(/^mod (?!tests).*\n/gm, ""));
  rmSync(join(copy, "tools/toolkits.json"));
  await command("cargo test --offline --quiet --package toolbooth-tools");

  await command("make tool ID=Greeter.Hello");
  await command("make tool ID=Orders.Find HTTP=1 SCOPES=orders:read,orders:all");
  await command("make tool ID=Greeter.Card SCOPES=cards");
  // The last one returns content.
  change("tools/greeter/Card@0.1.0.json", (text) =>
    text
      .replace(/^  "output_schema": .*$/m, '  "content": true,')
      .replace('"value": "Ada"', '"value": [{ "type": "text", "text": "Ada" }]'));
  change("tools/greeter/mod.rs", (text) => {
    const [before, card] = text.split("async fn card");
    return `${before}async fn card${card.replace(/Ok\((.*)\)/, "Ok(vec![toolbooth::tool::ContentBlock::text($1)])")}`;
  });
  await command("cargo fmt --all");
  await command("cargo test --offline --quiet --workspace");
  await command("make target/samples/worker.js target/fixtures/worker.js target/mcp/worker.js target/site/index.html build");
  await command(`node_modules/.bin/node --test ${TESTS.join(" ")}`);
  console.log("\nThe tests do not depend on the tools.");
} finally {
  rmSync(copy, { recursive: true, force: true });
}
