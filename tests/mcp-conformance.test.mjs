// Runs MCP's conformance suite for both eras, with the settings of `make dev FIXTURES=mcp`. tests/mcp/legacy.yml lists what a
// server without sessions cannot do in the older era, with the reasons.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { run } from "./support/commands.mjs";
import { LOCAL } from "./support/site.mjs";
import { TOOLKITS } from "./support/toolkits.mjs";
import { CANARY, TOOLKITS as DEFINITIONS, start } from "./support/worker.mjs";

let worker, results;
before(async () => {
  results = mkdtempSync(join(tmpdir(), "conformance-"));
  worker = await start("target/mcp", { vars: { ALLOWED_ORIGINS: LOCAL, STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`, DEVELOPMENT: "true" } });
});
after(async () => {
  rmSync(results, { recursive: true });
  await worker?.close();
});

/** Runs the suite. Fails if it does. */
async function suite(options, address = `${worker.address}/mcp`) {
  const { code, out, err } = await run(`node_modules/.bin/conformance server --url '${address}' --timeout 120000 ${options}`);
  assert.equal(code, 0, `${out}${err}`.split("=== SUMMARY ===").at(-1));
  return out;
}

for (const [revision, questions, more] of [
  ["2026-07-28", 14, ""],
  ["2025-11-25", 0, "--expected-failures tests/mcp/legacy.yml"],
]) {
  test(`${questions ? "MC52 " : ""}the suite of ${revision} passes`, async () => {
    const output = join(results, revision);
    const options = `--requirements ${revision} ${more} -o ${output}`;
    await suite(options);
    /** The checks of each scenario whose name has this prefix. */
    const checks = (name) => {
      const scenarios = readdirSync(output).filter((scenario) => scenario.startsWith(`server-${name}`));
      return scenarios.map((scenario) => JSON.parse(readFileSync(join(output, scenario, "checks.json"))));
    };
    const passed = (scenario) => scenario.length > 1 && scenario.every(({ status }) => status === "SUCCESS");
    const asked = checks("input-required-result-");
    assert.equal(asked.length, questions, "MC52 the suite runs all scenarios with questions");
    assert.ok(asked.every(passed), JSON.stringify(asked));
    const rebinding = checks("dns-rebinding-protection");
    assert.ok(rebinding.length === 1 && passed(rebinding[0]), `MC11 ${JSON.stringify(rebinding)}`);
  });

  // An extension, so no revision requires them, and they need --force. A server that does not declare it would skip every check and pass.
  test(`MC60 the scenarios about skills pass in ${revision}`, async () => {
    for (const [scenario, checks] of [["enumeration", 32], ["manifest", 6], ["directory", 7]]) {
      const output = join(results, `${revision}-${scenario}`);
      await suite(`--scenario sep-2640-skills-${scenario} --spec-version ${revision} --force -o ${output}`);
      const [folder] = readdirSync(output);
      const found = JSON.parse(readFileSync(join(output, folder, "checks.json")));
      // Only 2026-07-28 says how long results may be cached.
      const isRun = ({ id, status }) => status === "SUCCESS" || (questions === 0 && id.endsWith("-cache-attributes"));
      assert.ok(found.length === checks && found.every(isRun), JSON.stringify(found, null, 1));
    }
  });

  // No revision requires it yet.
  test(`the pending scenario about keywords of schemas passes in ${revision}`, async () => {
    const out = await suite(`--scenario json-schema-2020-12 --spec-version ${revision}`);
    assert.match(out, /Passed: (\d+)\/\1/);
  });
}

// An extension of 2026-07-28. The scenario about notifications, which are optional, is a stub that skips itself.
const TASKS = {
  "tasks-lifecycle": 9,
  "tasks-capability-negotiation": 5,
  "tasks-wire-fields": 4,
  "tasks-request-state-removal": 3,
  "tasks-mrtr-input": 4,
  "tasks-request-headers": 5,
  "tasks-dispatch-and-envelope": 9,
  "tasks-required-task-error": 3,
  "tasks-mrtr-composition": 2,
};

test("MC80 the scenarios about tasks pass", async () => {
  const waiting = Object.entries(TASKS);
  const next = async () => {
    for (let one; (one = waiting.shift()) !== undefined; ) {
      const [scenario, checks] = one;
      const output = join(results, scenario);
      await suite(`--scenario ${scenario} --force -o ${output}`);
      const [folder] = readdirSync(output);
      const found = JSON.parse(readFileSync(join(output, folder, "checks.json")));
      assert.ok(found.length === checks && found.every(({ status }) => status === "SUCCESS"), `${scenario} ${JSON.stringify(found, null, 1)}`);
    }
  };
  // They mostly wait, but for no longer than ten seconds: a busy machine could not run all at once.
  await Promise.all([next(), next()]);
});

// The others call tools of the suite's own.
test("the scenarios that need no special tools pass with the shipped toolkits, listed and searched", async () => {
  const scopes = TOOLKITS.flatMap(({ definitions }) => definitions.flatMap(({ scopes = [] }) => scopes));
  const large = await start(DEFINITIONS, { vars: { ANONYMOUS_SCOPES: [...new Set(scopes)].join(",") } });
  try {
    for (const [revision, scenarios] of [["2025-11-25", ["server-initialize", "ping", "tools-list"]], ["2026-07-28", ["tools-list", "caching"]]]) {
      for (const scenario of scenarios) {
        for (const mode of ["all", "search"]) {
          const out = await suite(`--scenario ${scenario} --spec-version ${revision}`, `${large.address}/mcp?tools=${mode}`);
          assert.match(out, /Passed: ([1-9]\d*)\/\1/, `${revision} ${scenario} ${mode}`);
        }
      }
    }
  } finally {
    await large.close();
  }
});
