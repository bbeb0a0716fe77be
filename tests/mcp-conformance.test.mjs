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

for (const [revision, questions, more] of [
  ["2026-07-28", 14, ""],
  ["2025-11-25", 0, "--expected-failures tests/mcp/legacy.yml"],
]) {
  test(`${questions ? "MC52 " : ""}the suite of ${revision} passes`, async () => {
    // The suite's check of origins wants the name of this machine.
    const url = `${worker.address.replace("127.0.0.1", "localhost")}/mcp`;
    const output = join(results, revision);
    const suite = `node_modules/.bin/conformance server --url ${url} --requirements ${revision} ${more} -o ${output}`;
    const { code, out, err } = await run(suite);
    assert.equal(code, 0, `${out}${err}`.split("=== SUMMARY ===").at(-1));
    const asked = readdirSync(output).filter((name) => name.startsWith("server-input-required-result-"));
    assert.equal(asked.length, questions, "MC52 the suite asks and answers, and skips none of it");
    for (const scenario of asked) {
      const checks = JSON.parse(readFileSync(join(output, scenario, "checks.json")));
      assert.ok(checks.length > 1 && checks.every(({ status }) => status === "SUCCESS"), scenario);
    }
  });
}
