// A dry run of a deployment: what the Worker would find wrong with its configuration.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findings } from "../packages/toolbooth/src/findings.js";
import { root, run } from "./support/commands.mjs";
import { BINDINGS, BOOTH, NOTES, deployed } from "./support/worker.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
process.chdir(scratch);
// Of a developer: not deployed.
writeFileSync(".dev.vars", "AUTH=none\nPLATFORM_KEY=theirs\n");

const KV = '[[kv_namespaces]]\nbinding = "KV"\n';
const D1 = '[[d1_databases]]\nbinding = "NOTES"\ndatabase_name = "notes"\n[[r2_buckets]]\nbinding = "ATTACHMENTS"\nbucket_name = "attachments"\n';
const CACHE = `${KV}id = "0"\n[[kv_namespaces]]\nbinding = "CACHE"\nid = "1"\n[[d1_databases]]\nbinding = "ABSENT"\ndatabase_name = "a"\ndatabase_id = "2"\n`;
const PLATFORM = `${CACHE}[[queues.producers]]\nbinding = "JOBS"\nqueue = "jobs"\n[[services]]\nbinding = "ECHO"\nservice = "echo"\n`;

/** Writes a configuration with these variables and sections. */
function configure(bundle, vars, sections) {
  const lines = Object.entries(vars).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  const main = join(root, bundle, "worker.js");
  const text = `name = "a"\nmain = "${main}"\ncompatibility_date = "${deployed.compatibilityDate}"\n[vars]\n${lines.join("")}${sections}`;
  writeFileSync("wrangler.toml", text);
}

const GITHUB = /^OAUTH_PROVIDERS does not include "github"/;
for (const [what, bundle, vars, sections, status, expected, created] of [
  ["nothing", NOTES, { AUTH: "none" }, KV + D1, 200, [], ["KV", "NOTES"]],
  ["AUTH", NOTES, {}, KV + D1, 503, [/^AUTH is not set, so every call is rejected with 401/], ["KV", "NOTES"]],
  ["keys, and what is less urgent", BOOTH, { AUTH: "api-key" }, KV, 503, [/^API_KEYS must be a JSON array/, GITHUB], ["KV"]],
  ["secrets of tokens", NOTES, { AUTH: "jwt" }, KV + D1, 503, [/^JWT_SECRET .*must be set|JWKS_URL/], ["KV", "NOTES"]],
  ["sign-in: PUBLIC_URL and secrets", NOTES, { AUTH: "sign-in" }, KV + D1, 503, [/^PUBLIC_URL must be set/, /^STATE_KEY must have/], ["KV", "NOTES"]],
  ["a secret of a tool", BINDINGS, { AUTH: "none" }, PLATFORM, 200, [/^PLATFORM_KEY is not set; it disables Platform\.Send@1\.0\.0$/], []],
  ["bindings", NOTES, { AUTH: "none" }, KV, 200, [/^NOTES is not bound; it disables Notes\.Attach@1\.0\.0/, /^ATTACHMENTS is not bound/], ["KV"]],
  ["the store", NOTES, { AUTH: "none" }, D1, 503, [/^KV: /], ["NOTES"]],
]) {
  test(`what is not configured: ${what}`, async () => {
    configure(bundle, vars, sections);
    const got = await findings({});
    assert.deepEqual([got.status, got.created], [status, created], `${got.found}`);
    for (const pattern of expected) assert.ok(got.found.some((text) => pattern.test(text)), `${pattern} in ${got.found.join("\n")}`);
    if (expected.length < 2) assert.equal(got.found.length, expected.length, `${got.found}`);
  });
}

test("toolbooth deploy --dry-run prints it for the environment, and succeeds", async () => {
  configure(NOTES, { AUTH: "none" }, `${KV}${D1}[env.staging]\nvars = { AUTH = "api-key" }\n[[env.staging.kv_namespaces]]\nbinding = "KV"\n`);
  const toolbooth = (args) => run(`node ${root}/packages/toolbooth/bin/toolbooth.js deploy ${args}`, { cwd: scratch });
  mkdirSync("migrations");
  const complete = await toolbooth("--dry-run");
  assert.equal(complete.code, 0, complete.err);
  assert.match(complete.out, /^The Worker finds nothing wrong with its configuration\.\nThe first deployment creates KV and NOTES\.\nThen create the tables of NOTES: npx wrangler d1 migrations apply notes --remote$/m);
  // A scaffolded tool.
  mkdirSync("tools/shop", { recursive: true });
  writeFileSync("tools/shop/mod.rs", 'Variable::new("SHOP_BUY_URL", "https://shop.example", base_address);\nVariable::new("OTHER_URL", "https://other.test", base_address);');
  configure(NOTES, { AUTH: "none", SHOP_BUY_URL: "https://shop.test" }, `${KV}${D1}[env.staging]\nvars = { AUTH = "api-key" }\n[[env.staging.kv_namespaces]]\nbinding = "KV"\n[[env.staging.d1_databases]]\nbinding = "TALLY"\ndatabase_name = "tally"\ndatabase_id = "2"\n`);
  assert.doesNotMatch((await toolbooth("--dry-run")).out, /placeholder/);
  const { code, out, err } = await toolbooth("--dry-run --env staging");
  assert.equal(code, 0, err);
  const report = out.slice(out.indexOf("With the variables"));
  assert.match(report, /^With the variables of wrangler\.toml and without secrets, the Worker reports:\n\n  API_KEYS must be .*`npx toolbooth key` prints one/);
  assert.match(report, /^  NOTES is not bound; it disables /m);
  assert.match(report, /^Until that is solved, it serves no calls, and \/health responds with 503\.$/m);
  assert.match(report, /^  SHOP_BUY_URL is not set; its default is the placeholder https:\/\/shop\.example$/m);
  assert.doesNotMatch(report, /OTHER_URL/);
  assert.match(report, /^Before you deploy, apply new migrations of TALLY: npx wrangler d1 migrations apply tally --remote --env staging$/m);
  assert.match(report, /cannot be seen from here: npx wrangler secret list --env staging names them/);
});
