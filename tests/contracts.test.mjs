// The documents of docs/contracts; support/contract.mjs checks every response of every test against them, and
// clients/contracts_test.py tests what they say about requests.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { files, folder } from "../scripts/contracts.mjs";

test("docs/contracts contains what `make contracts` writes", () => {
  assert.deepEqual(readdirSync(folder).sort(), Object.keys(files).sort());
  for (const [name, text] of Object.entries(files)) {
    assert.ok(readFileSync(new URL(name, folder), "utf8") === text, `${name} differs: run \`make contracts\``);
  }
});

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The exit code of Redocly's linter for these files, and the rules and locations that it reports. */
const lint = (...documents) =>
  new Promise((resolve) => {
    const config = ["--config", path("support/redocly.yaml"), "--format", "json"];
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const command = [path("../node_modules/@redocly/cli/bin/cli.js"), "lint", ...config, ...documents];
    execFile(process.execPath, command, { env, timeout: 300_000 }, (failure, out) => {
      resolve({ code: failure ? (failure.code ?? failure.message) : 0, found: out.match(/(?<="(ruleId|pointer)": ").*(?=")/g) ?? [] });
    });
  });

test("Redocly finds nothing in docs/contracts", async () => {
  assert.deepEqual(await lint(...Object.keys(files).map((name) => fileURLToPath(new URL(name, folder)))), { code: 0, found: [] });
});

test("Redocly reports a wrong document", async (t) => {
  const temporary = mkdtempSync(join(tmpdir(), "contract-"));
  t.after(() => rmSync(temporary, { recursive: true }));
  const document = JSON.parse(files["auth.json"]);
  delete document.paths["/grants/{provider}"].options.parameters;
  delete document.paths["/check"].get.security;
  const file = join(temporary, "auth.json");
  writeFileSync(file, JSON.stringify(document));
  const { code, found } = await lint(file);
  assert.equal(code, 1);
  assert.deepEqual(found, [
    "path-parameters-defined",
    "#/paths/~1grants~1{provider}/options/parameters",
    "security-defined",
    "#/paths/~1check/get",
  ]);
});
