// A dry run of a deployment: what the Worker would find wrong with its configuration.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { entryOf, newKey } from "../packages/toolbooth/src/credentials.js";
import { isRejecting } from "../packages/toolbooth/src/deploy.js";
import { findings } from "../packages/toolbooth/src/findings.js";
import { checkKeys } from "../packages/toolbooth/src/key.js";
import { misspelled, oversized } from "../packages/toolbooth/src/variables.js";
import { root, run } from "./support/commands.mjs";
import { BINDINGS, SAMPLES, NOTES, deployed } from "./support/worker.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
process.chdir(scratch);
// Of a developer: not deployed.
writeFileSync(".dev.vars", "AUTH=none\nPLATFORM_KEY=theirs\n");

const KV = '[[kv_namespaces]]\nbinding = "KV"\n';
const D1 = '[[d1_databases]]\nbinding = "NOTES"\ndatabase_name = "notes"\n[[r2_buckets]]\nbinding = "ATTACHMENTS"\nbucket_name = "attachments"\n';
const CACHE = `${KV}id = "0"\n[[kv_namespaces]]\nbinding = "CACHE"\nid = "1"\n[[d1_databases]]\nbinding = "ABSENT"\ndatabase_name = "a"\ndatabase_id = "2"\n`;
const PLATFORM = `${CACHE}[[queues.producers]]\nbinding = "JOBS"\nqueue = "jobs"\n[[services]]\nbinding = "ECHO"\nservice = "echo"\n[[services]]\nbinding = "OTHER"\nservice = "other"\n[[services]]\nbinding = "PYTHON"\nservice = "python"\n`;

/** Writes a configuration with these variables and sections. */
function configure(bundle, vars, sections, flags = ["enable_request_signal"]) {
  const lines = Object.entries(vars).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  const main = join(root, bundle, "worker.js");
  const text = `name = "a"\nmain = "${main}"\ncompatibility_date = "${deployed.compatibilityDate}"\ncompatibility_flags = ${JSON.stringify(flags)}\n[vars]\n${lines.join("")}${sections}`;
  writeFileSync("wrangler.toml", text);
}

const GITHUB = /^OAUTH_PROVIDERS does not include "github"/;
const MODELS = JSON.stringify({ fast: { targets: [{ provider: "openai", model: "m" }] } });
const BUDGETED = JSON.stringify([{ ...entryOf("canary-key", "ada", []), budgets: [{ window: "1d", tool_calls: 5 }] }]);
const LEDGER = '[[durable_objects.bindings]]\nname = "LEDGER"\nclass_name = "Ledger"\n[[migrations]]\ntag = "ledger"\nnew_sqlite_classes = ["Ledger"]\n';
const CHALLENGES = { OAUTH_PROVIDERS: "github", OAUTH_GITHUB_CLIENT_ID: "a", OAUTH_GITHUB_CLIENT_SECRET: "b", PUBLIC_URL: "https://a.example", TOOL_ALLOWLIST: "GitHub.*,Note.*" };
const NO_KEY = /^MODELS\.fast\.targets\[0\]\.provider is openai, which needs the secret OPENAI_API_KEY$/;
// The last member: every call would be rejected although all secrets are stored.
for (const [what, bundle, vars, sections, expected, created, rejecting = false] of [
  ["nothing", NOTES, { AUTH: "none" }, KV + D1, {}, ["KV", "NOTES"]],
  ["AUTH", NOTES, {}, KV + D1, { calls: [/^AUTH is not set, so every call is rejected with 401/] }, ["KV", "NOTES"], true],
  ["keys, and what is less urgent", SAMPLES, { AUTH: "api-key" }, KV, { calls: [/^API_KEYS must be a JSON array/], notes: [GITHUB] }, ["KV"]],
  ["keys that are no JSON", NOTES, { AUTH: "api-key", API_KEYS: "[" }, KV + D1, { calls: [/^API_KEYS must be a JSON array/] }, ["KV", "NOTES"], true],
  ["a limit that is no number", NOTES, { AUTH: "none", MAX_BODY_BYTES: "x" }, KV + D1, { calls: [/^MAX_BODY_BYTES must be a whole number/] }, ["KV", "NOTES"], true],
  ["secrets of tokens", NOTES, { AUTH: "jwt" }, KV + D1, { calls: [/^JWT_SECRET .*must be set|JWKS_URL/] }, ["KV", "NOTES"]],
  ["sign-in: PUBLIC_URL and secrets", NOTES, { AUTH: "sign-in" }, KV + D1, { calls: [/^STATE_KEY is not set/, /^PUBLIC_URL must be set/, /^SIGN_IN_ALLOWED must name/] }, ["KV", "NOTES"], true],
  ["what is less urgent than the secrets of sign-in", NOTES, { AUTH: "api-key, sign-in", PUBLIC_URL: "https://a.example", TOOL_ALLOWLIST: "Notes.*,Note.*" }, KV + D1, { calls: [/^API_KEYS must/, /^STATE_KEY is not set/], notes: [/^TOOL_ALLOWLIST includes "Note\.\*"/] }, ["KV", "NOTES"]],
  ["what is less urgent than the secrets of challenges", SAMPLES, { AUTH: "api-key", ...CHALLENGES }, KV, { calls: [/^API_KEYS must/, /^STATE_KEY is not set/, /^GRANT_KEYS must/], notes: [/^TOOL_ALLOWLIST includes "Note\.\*"/] }, ["KV"]],
  ["a secret of a tool", BINDINGS, { AUTH: "none" }, PLATFORM, { tools: [/^PLATFORM_KEY is a secret that is not set; it disables Platform\.Send@1\.0\.0, Remote\.Ask@1\.0\.0, Script\.Private@1\.0\.0$/, /^SCRIPT_CITY is not set; it disables Remote\.Ask@1\.0\.0, Script\.Private@1\.0\.0$/], notes: [/^The Durable Object TASKS is not bound: /, /^OAUTH_PROVIDERS does not include "github", which Remote_Ask and 1 more require/] }, []],
  ["bindings", NOTES, { AUTH: "none" }, KV, { tools: [/^NOTES is not bound; it disables Notes\.Attach@1\.0\.0/, /^ATTACHMENTS is not bound/] }, ["KV"]],
  ["the store", NOTES, { AUTH: "none" }, D1, { notes: [/^KV: .* \/health responds with 503$/] }, ["NOTES"]],
  ["misspelled variables", NOTES, { AUTH: "none", TOOL_ALOWLIST: "Notes.*", OWN_NAME: "x" }, KV + D1, { notes: [/^TOOL_ALOWLIST is not a variable .*: did you mean TOOL_ALLOWLIST\?$/] }, ["KV", "NOTES"]],
  ["budgets without a ledger", SAMPLES, { AUTH: "api-key", API_KEYS: BUDGETED }, KV, { notes: [GITHUB, /^API_KEYS of "ada" has budgets, which need the Durable Object LEDGER: bind it/] }, ["KV"]],
  ["budgets with a ledger", SAMPLES, { AUTH: "api-key", API_KEYS: BUDGETED }, KV + LEDGER, { notes: [GITHUB] }, ["KV"]],
  ["the key of a model", NOTES, { AUTH: "none", MODELS }, KV + D1, { notes: [NO_KEY] }, ["KV", "NOTES"]],
]) {
  test(`what is not configured: ${what}`, async () => {
    configure(bundle, vars, sections);
    const got = await findings({});
    assert.deepEqual(got.created, created);
    assert.equal(isRejecting(got), rejecting);
    for (const affected of ["calls", "tools", "notes"]) {
      const patterns = expected[affected] ?? [];
      assert.equal(got[affected].length, patterns.length, `${affected}: ${got[affected].join("\n")}`);
      for (const pattern of patterns) assert.ok(got[affected].some((text) => pattern.test(text)), `${pattern} in ${got[affected].join("\n")}`);
    }
  });
}

test("a missing compatibility flag is named", async () => {
  configure(NOTES, { AUTH: "none" }, KV + D1, []);
  const { notes } = await findings({});
  assert.match(notes.join("\n"), /^compatibility_flags does not include enable_request_signal: /);
});

/** The first block of a section of a page in a language. */
function exampleOf(page, section, language) {
  const text = readFileSync(join(root, "docs", page), "utf8").split(new RegExp(`^#+ ${section}$`, "m"))[1];
  return new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m").exec(text)[1];
}

const SECRETS = { API_KEYS: JSON.stringify([newKey("operator", ["*"]).entry]), STATE_KEY: "0".repeat(32), OAUTH_GITHUB_CLIENT_SECRET: "s", OAUTH_CORP_CLIENT_SECRET: "s", OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
const SIGN_IN = exampleOf("SIGN-IN.md", "Start", "toml");
const NOBODY = SIGN_IN.replace(/^SIGN_IN_ALLOWED = .*\n/m, "");
// The last members: the variable that an example in JSON is the value of, and the rest of the configuration.
for (const [page, section, variable, rest = SIGN_IN] of [
  ["OPERATING.md", "Example: a team"],
  ["SIGN-IN.md", "Start"],
  ["SIGN-IN.md", "What people can give to a client", "SIGN_IN_ALLOWED", NOBODY],
  ["SIGN-IN.md", "Models and budgets", "SIGN_IN_ALLOWED", NOBODY],
  ["SIGN-IN.md", "Groups of the company"],
  ["SIGN-IN.md", "Sign in with the company", "ENTERPRISE_ISSUERS"],
  ["GATEWAY.md", "Names of your own", "MODELS"],
  ["GATEWAY.md", "What chats cost", "MODELS"],
]) {
  test(`the example in docs/${page} is valid: ${section}`, async () => {
    const toml = variable ? rest : exampleOf(page, section, "toml");
    const json = variable ? { [variable]: exampleOf(page, section, "json") } : {};
    configure(NOTES, { MODELS, ...json }, `${toml.replace("[vars]\n", "")}${KV}${D1}${LEDGER}`);
    const { calls, tools, notes } = await findings({ vars: SECRETS });
    // The examples have scopes of tools that this Worker does not have.
    const others = notes.filter((note) => !/ the scope "github:.*", which no tool requires$/.test(note));
    assert.deepEqual({ calls, tools, others }, { calls: [], tools: [], others: [] });
  });
}

test("a variable that nothing reads is named if it resembles one that is read", () => {
  for (const [name, meant] of [
    ["TOOL_ALOWLIST", "TOOL_ALLOWLIST"],
    ["PUBILC_URL", "PUBLIC_URL"],
    ["OAUTH_GITHUB_CLIENT_IDS", "OAUTH_GITHUB_CLIENT_ID"],
    ["STOCK_KY", "STOCK_KEY"],
    ["STATE_KEY"],
    ["LOGS"],
    ["MY_SETTING"],
  ]) {
    const expected = meant ? [`${name} is not a variable that the Worker or its tools read: did you mean ${meant}?`] : [];
    assert.deepEqual(misspelled({ OAUTH_PROVIDERS: "github", [name]: "x" }, ["STOCK_KEY"]), expected);
  }
});

test("a variable that Cloudflare does not store is named, with its bytes", () => {
  const at = (length) => "x".repeat(length);
  for (const [value, bytes] of [[at(5120)], [at(5121), "5,121"], ["ü".repeat(2561), "5,122"], [{ a: at(5120) }, "5,128"], [7], [undefined]]) {
    const expected = bytes ? [`API_KEYS has ${bytes} bytes. Cloudflare stores at most 5,120 of a variable or a secret, and rejects the deployment`] : [];
    assert.deepEqual(oversized({ AUTH: "none", API_KEYS: value }), expected);
  }
});

test("toolbooth key --check tells which entries of a file the Worker rejects", async () => {
  configure(NOTES, {}, KV + D1);
  const entry = (name, rest = {}) => ({ ...newKey(name, []).entry, ...rest });
  const command = () => run(`node ${root}/packages/toolbooth/bin/toolbooth.js key --check keys.json`, { cwd: scratch });
  writeFileSync("keys.json", JSON.stringify([entry("a"), entry("b", { scopes: ["gateway"] })]));
  const accepted = await command();
  assert.equal(accepted.code, 0, accepted.err);
  assert.match(accepted.out, /^The Worker accepts every entry of keys\.json\.$/m);
  for (const [text, message] of [
    [JSON.stringify([entry("a"), entry("b", { hash: "x" })]), /^API_KEYS\[1\]\.hash of "b" must be 64 hexadecimal digits$/m],
    [JSON.stringify([entry("a", { tools: ["Note.*"] })]), /^API_KEYS limits "a" to "Note\.\*", but there is no such tool$/m],
    ['[{"name":"a"},', /^keys\.json is not valid JSON: it ends too early\./],
    ['[\n {"name": "a" "scopes": []}]', /^keys\.json is not valid JSON, at line 2, column 15\./],
    ["[1,,2]", /^keys\.json is not valid JSON\./],
    [`${JSON.stringify(Array.from({ length: 50 }, (_, index) => entry(`person ${index}`)))}\n`, /^API_KEYS has [\d,]+ bytes\. Cloudflare stores at most 5,120 of a variable or a secret/],
    ["{}", /^API_KEYS must be a JSON array/m],
  ]) {
    writeFileSync("keys.json", text);
    await assert.rejects(checkKeys("keys.json"), { name: "Error", message });
  }
  const rejected = await command();
  assert.equal(rejected.code, 1);
  assert.match(rejected.err, /^API_KEYS must be a JSON array/m);
});

test("toolbooth deploy --dry-run prints it for the environment, and fails if calls would be rejected although all secrets are stored", async () => {
  const toolbooth = (args) => run(`node ${root}/packages/toolbooth/bin/toolbooth.js deploy ${args}`, { cwd: scratch });
  mkdirSync("migrations");
  // A scaffolded tool.
  mkdirSync("tools/shop", { recursive: true });
  writeFileSync("tools/shop/mod.rs", 'Variable::new("SHOP_BUY_URL", "https://shop.example", base_address);\nVariable::new("OTHER_URL", "https://other.test", base_address);');
  // One of a tool in TypeScript, and one with the address of a service.
  writeFileSync("tools/shop/toolkit.json", JSON.stringify({ variables: { SHOP_SELL_URL: { kind: "base", default: "https://shop.example" }, SHOP_API_URL: { kind: "base", default: "https://api.shop.test" }, SHOP_KEY: { kind: "secret" } } }));
  configure(NOTES, { AUTH: "none", SHOP_BUY_URL: "https://shop.test", SHOP_SELL_URL: "https://shop.test" }, `${KV}${D1}[env.staging]\nvars = { AUTH = "api-key" }\n[[env.staging.kv_namespaces]]\nbinding = "KV"\n[[env.staging.d1_databases]]\nbinding = "TALLY"\ndatabase_name = "tally"\ndatabase_id = "2"\n`);
  const complete = await toolbooth("--dry-run");
  assert.equal(complete.code, 0, complete.err);
  assert.doesNotMatch(`${complete.out}${complete.err}`, /no target environment was specified/);
  assert.match(complete.out, /^The Worker finds nothing wrong with its configuration\.\nThe first deployment creates KV and NOTES\.\nThen create the tables of NOTES: npx wrangler d1 migrations apply notes --remote$/m);
  const { code, out, err } = await toolbooth("--dry-run --env staging");
  assert.equal(code, 0, err);
  const [report] = /^What the Worker reports [^]*/m.exec(out) ?? assert.fail(out);
  const calls = /^Every call is rejected until you fix this, and \/health responds with 503:\n  API_KEYS must be .*`npx toolbooth key` prints one\n    npx wrangler secret put API_KEYS --env staging\n\n/m;
  assert.match(report, calls);
  assert.match(report, /^These tools are disabled until you fix this:\n(  .*\n)*  NOTES is not bound; it disables /m);
  assert.match(report, /^Worth knowing:\n(  .*\n)*  SHOP_BUY_URL is not set; its default is the placeholder https:\/\/shop\.example\n  SHOP_SELL_URL is not set; its default is the placeholder https:\/\/shop\.example$/m);
  assert.doesNotMatch(report, /OTHER_URL|SHOP_API_URL|SHOP_KEY/);
  assert.match(report, /^Before you deploy, apply new migrations of TALLY: npx wrangler d1 migrations apply tally --remote --env staging$/m);
  assert.match(report, /cannot be seen from here: npx wrangler secret list --env staging names them/);
  assert.doesNotMatch(err, /would reject every call/);
  configure(NOTES, {}, KV + D1);
  const rejecting = await toolbooth("--dry-run");
  assert.equal(rejecting.code, 1, rejecting.out);
  assert.match(rejecting.err, /^The deployed Worker would reject every call\.$/m);
});
