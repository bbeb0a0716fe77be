// The reporter that says why a whole test file has failed.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { root, run } from "./support/commands.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));

for (const [what, body, expected] of [
  [
    "a rejection after the end of a test",
    'test("a", () => void setImmediate(() => Promise.reject(new Error("late")))); after(() => new Promise((end) => process.once("unhandledRejection", end)));',
    /^\n✖ a\.test\.mjs ended with 1:\n\n.*Test "a" .*"Error: late"/,
  ],
  ["an exit", 'test("a", () => { console.error("a hint"); process.exit(3); });', /^\n✖ a\.test\.mjs ended with 3:\n\na hint\n$/],
  ["a signal", 'test("a", () => process.kill(process.pid, "SIGKILL"));', /^\n✖ a\.test\.mjs ended with SIGKILL:\n\nit printed nothing to stderr\n$/],
  ["a test that fails by itself", 'test("a", () => { console.error("a hint"); throw new Error("now"); });', /^$/],
]) {
  test(`what it says about ${what}`, async () => {
    writeFileSync(join(scratch, "a.test.mjs"), `import { after, test } from "node:test";\n${body}\n`);
    const { code, out } = await run(`node --test --test-reporter=${root}/tests/support/late.mjs a.test.mjs`, { cwd: scratch });
    assert.equal(code, 1);
    assert.match(out, expected);
  });
}
