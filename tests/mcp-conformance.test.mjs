// The conformance suite of MCP against the Worker of its fixtures, for both eras. What a server
// without sessions cannot do in the older one is in tests/mcp/legacy.yml, each with its reason.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { run } from "./support/commands.mjs";
import { CANARY, start } from "./support/worker.mjs";

let worker, results;
before(async () => {
  results = mkdtempSync(join(tmpdir(), "conformance-"));
  worker = await start("target/mcp", { vars: { STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes` } });
});
after(async () => {
  rmSync(results, { recursive: true });
  await worker.close();
});

for (const [revision, more] of [
  ["2026-07-28", ""],
  ["2025-11-25", "--expected-failures tests/mcp/legacy.yml"],
]) {
  test(`the suite of ${revision} passes`, async () => {
    // The suite's check of origins wants the name of this machine.
    const url = `${worker.address.replace("127.0.0.1", "localhost")}/mcp`;
    const suite = `node_modules/.bin/conformance server --url ${url} --requirements ${revision} ${more} -o ${results}`;
    const { code, out, err } = await run(suite);
    assert.equal(code, 0, `${out}${err}`.split("=== SUMMARY ===").at(-1));
  });
}

test("MC52 the suite has asked and answered, and skipped none of it", () => {
  const ran = readdirSync(results).filter((name) => name.startsWith("server-input-required-result-"));
  assert.equal(ran.length, 14);
  for (const scenario of ran) {
    const checks = JSON.parse(readFileSync(join(results, scenario, "checks.json")));
    assert.ok(checks.length > 1 && checks.every(({ status }) => status === "SUCCESS"), scenario);
  }
});
