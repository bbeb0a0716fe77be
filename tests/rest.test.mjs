// REST on the real runtime: calls by POST and GET, and the documents with the clients that read them: Redocly,
// openapi-typescript with openapi-fetch, the typed client, and UTCP. tests/clients/rest_test.py has the clients in Python, and
// native tests the tables.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import "@utcp/http";
import { UtcpClient } from "@utcp/sdk";
import openapiTypescript, { astToString } from "openapi-typescript";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { root, run } from "./support/commands.mjs";
import { SAMPLES, CANARY, FIXTURES, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-for-rest`;
const LATEST = [
  "Calculator_Add",
  "Doorbell_Ring",
  "GitHub_CreateIssue",
  "GitHub_ListIssues",
  "Text_Slugify",
  "Weather_Current",
  "Weather_Forecast",
];
/** What the key may call. */
const PERMITTED = LATEST.filter((name) => name !== "GitHub_CreateIssue");
const bearer = { authorization: `Bearer ${KEY}` };

let booth, fixtures, closed, folder;
before(async () => {
  const API_KEYS = JSON.stringify([entryOf(KEY, "rest", ["github:read"])]);
  [booth, fixtures, closed] = await Promise.all([
    start(SAMPLES),
    start(FIXTURES),
    start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS } }),
  ]);
  folder = mkdtempSync(join(tmpdir(), "rest-"));
});
after(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([booth.close(), fixtures.close(), closed.close()]);
});

const post = (worker, name, input, headers) => worker.post(input, { path: `/rest/${name}`, headers });

test("a call: the body is the input, the response is the value", async () => {
  const sum = await post(booth, "Calculator_Add", { a: 2, b: 40 });
  assert.deepEqual([sum.status, sum.text, sum.headers["content-type"]], [200, "42", "application/json"]);
  assert.equal((await post(booth, "Text_Slugify__1_0_0", { text: "Crème" })).json, "cr-me");
  assert.equal((await post(fixtures, "Fixture_Silent", {})).text, "null");
  const unknown = await post(booth, "Calculator_Ad", {});
  assert.deepEqual([unknown.status, unknown.headers["content-type"]], [404, "application/problem+json"]);
  assert.match(unknown.json.detail, /did you mean Calculator_Add\?/);
  const failed = await post(booth, "Doorbell_Ring", { doorbell_id: "doorbell1" });
  assert.deepEqual(failed.json, {
    type: "urn:toolbooth:tool_error",
    title: "The tool failed",
    status: 422,
    detail: "Doorbell ID not found",
    developer_message: failed.json.developer_message,
    prompt: "ids: doorbell42,doorbell84",
    can_retry: true,
    retry_after_ms: 500,
  });
});

test("read-only tools with flat input accept GET", async () => {
  for (const [worker, path, status, value] of [
    [booth, "Calculator_Add?a=2&b=40.5", 200, 42.5],
    [booth, "Text_Slugify?text=Cr%C3%A8me+x&max_length=5&separator=_", 200, { slug: "crème", truncated: true }],
    [booth, "Calculator.Add%401?a=1&b=1", 200, 2],
    [booth, "Calculator_Add?a=2&b=x", 422, { b: "Must be a number" }],
    [booth, "Doorbell_Ring?doorbell_id=doorbell42", 405, undefined],
    [fixtures, "Fixture_Echo?any=1", 405, undefined],
  ]) {
    const reply = await worker.get(`/rest/${path}`);
    assert.deepEqual([reply.status, status === 200 ? reply.json : reply.json.parameter_errors], [status, value], path);
    const head = await worker.request("HEAD", `/rest/${path}`);
    assert.deepEqual([head.status, head.text], [status, ""]);
  }
  const event = (await booth.events()).find((one) => one["http.request.body.size"] === "a=2&b=40.5".length);
  assert.deepEqual([event.protocol, event["gen_ai.tool.name"]], ["rest", "Calculator_Add"]);
  assert.equal((await closed.get("/rest/Calculator_Add?a=1&b=1")).status, 401);
});

const openapi = async (worker, query = "", headers = {}) => (await worker.get(`/openapi.json${query}`, headers)).json;
const names = ({ paths }) => Object.values(paths).map(({ post }) => post.operationId);

test("documents contain what the caller may run, and the address of the server", async () => {
  const open = await openapi(booth);
  assert.deepEqual(names(open), LATEST);
  assert.deepEqual(Object.keys(open.paths), LATEST.map((name) => `/rest/${name}`));
  assert.deepEqual([open.servers, open.security], [[{ url: booth.address }], []]);
  assert.ok(!JSON.stringify(open.paths).includes("bearerAuth"), "callers need no credentials");
  assert.deepEqual(names(await openapi(booth, "?toolkit=Text,Weather")), LATEST.filter((name) => /^(Text|Weather)/.test(name)));
  assert.equal((await booth.get("/openapi.json?toolkit=Nothing")).status, 400);

  const own = await openapi(closed, "", bearer);
  assert.deepEqual(names(own), PERMITTED);
  assert.deepEqual([own.servers, own.security], [[{ url: closed.address }], [{ bearerAuth: [] }]]);
  assert.deepEqual(own.paths["/rest/GitHub_ListIssues"].post.security, [{ bearerAuth: ["github:read"] }]);
  for (const path of ["/utcp", "/llms.txt", "/llms-full.txt", "/client.ts"]) {
    const { text } = await closed.get(path, bearer);
    assert.ok(text.includes(closed.address) && !text.includes("toolbooth.invalid"), path);
    assert.ok(text.includes("GitHub_ListIssues") && !text.includes("GitHub_CreateIssue"), path);
  }
});

/** Keeps numbers as they are written: examples have larger integers than JavaScript. */
const exact = (_, value, { source }) => (typeof value === "number" ? JSON.rawJSON(source) : value);

test("every example without I/O has its value", async () => {
  const { paths } = JSON.parse((await booth.get("/openapi.json")).text, exact);
  for (const { post: operation } of Object.values(paths)) {
    const name = operation.operationId;
    if (/^(GitHub|Weather)/.test(name)) continue;
    const inputs = operation.requestBody.content["application/json"].examples;
    const values = operation.responses[200].content["application/json"].examples;
    assert.deepEqual(Object.keys(inputs), Object.keys(values), name);
    for (const [key, { value }] of Object.entries(inputs)) {
      const sent = await post(booth, name, JSON.stringify(value));
      assert.deepEqual(sent.json, JSON.parse(JSON.stringify(values[key].value)), `${name} ${key}`);
    }
  }
});

test("llms.txt is Markdown with a title, a summary and links", async () => {
  const { text, headers } = await booth.get("/llms.txt");
  assert.equal(headers["content-type"], "text/plain; charset=utf-8");
  assert.match(text, /^# Toolbooth\n\n> .+\n\n## Documents\n\n(- \[.+\]\(http.+\): .+\n)+\n## Tools\n\n(- \[\w+\]\(http.+\): .+\n)+$/);
  const links = [...text.matchAll(/\]\((.+?)\)/g)].map(([, link]) => link.slice(booth.address.length));
  for (const link of links.filter((link) => !link.startsWith("/rest/"))) assert.equal((await booth.get(link)).status, 200, link);
  const full = (await booth.get("/llms-full.txt")).text;
  assert.deepEqual([...full.matchAll(/^## (.+)$/gm)].map(([, name]) => name), LATEST);
});

test("Redocly finds no error in the OpenAPI documents", async () => {
  const config = join(folder, "redocly.yaml");
  // The license is the operator's to choose.
  writeFileSync(config, "extends: [recommended-strict]\nrules: {info-license: off, no-server-example.com: off, no-unused-components: off}\n");
  const documents = [[booth, {}], [fixtures, {}], [closed, bearer]].map(async ([worker, headers], at) => {
    const file = join(folder, `openapi-${at}.json`);
    writeFileSync(file, JSON.stringify(await openapi(worker, "", headers)));
    return file;
  });
  const files = (await Promise.all(documents)).join(" ");
  const lint = `node node_modules/@redocly/cli/bin/cli.js lint --config ${config} ${files}`;
  const { code, out, err } = await run(`REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true ${lint}`);
  assert.equal(code, 0, out + err);
});

test("the clients in TypeScript compile under --strict and call tools", async () => {
  const project = join(folder, "project");
  mkdirSync(project);
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
  for (const file of ["fetch.ts", "typed.ts"]) copyFileSync(join(root, "tests/support/rest", file), join(project, file));
  const write = (file, text) => writeFileSync(join(project, file), text);
  write("package.json", '{"type":"module"}');
  write("openapi.d.ts", astToString(await openapiTypescript(await openapi(booth))));
  write("client.ts", (await booth.get("/client.ts")).text);
  // The types of unusual schemas must compile at least.
  write("unusual.ts", (await fixtures.get("/client.ts")).text);
  write("unusual-openapi.d.ts", astToString(await openapiTypescript(await openapi(fixtures))));
  const strict = "--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --erasableSyntaxOnly";
  const target = "--noEmit --allowImportingTsExtensions --skipLibCheck --module nodenext --target es2022 --lib es2022,dom --types node";
  const compiled = await run(`cd ${project} && node node_modules/typescript/bin/tsc ${strict} ${target} *.ts`);
  assert.equal(compiled.code, 0, compiled.out);
  const execute = async (file) => {
    const { code, out, err } = await run(`cd ${project} && node ${file} ${booth.address}`);
    assert.equal(code, 0, err);
    return JSON.parse(out);
  };
  assert.deepEqual(await execute("fetch.ts"), { value: 42, reason: "Doorbell ID not found", prompt: "ids: doorbell42,doorbell84" });
  assert.deepEqual(await execute("typed.ts"), {
    server: booth.address,
    value: 42,
    slug: "crème_brûlée",
    reason: { message: "The tool failed: Doorbell ID not found", prompt: "ids: doorbell42,doorbell84" },
    missing: 404,
  });
});

test("make client packs the typed client for npm", async () => {
  const packed = join(folder, "packed");
  const made = await run(`make --silent client URL=${closed.address} KEY=${KEY} NAME=@example/tools OUT=${packed}`);
  assert.equal(made.code, 0, made.out + made.err);
  const script = `import * as all from "${packed}/package/client.js"; console.log(Object.keys(all).sort().join(), all.SERVER)`;
  const { code, out, err } = await run(`cd ${packed} && tar xzf *.tgz && node --input-type=module --eval '${script}' && cat package/client.d.ts`);
  assert.equal(code, 0, err);
  assert.ok(out.startsWith(`CallError,Client,SERVER ${closed.address}\n`), out);
  assert.match(out, /"Calculator_Add": \{/);
});

for (const path of ["/utcp", "/openapi.json"]) {
  test(`UTCP's client registers ${path} and calls tools`, async (t) => {
    // It prints requests with their headers.
    for (const level of ["log", "warn", "error"]) t.mock.method(console, level, () => {});
    for (const [worker, tools, auth] of [
      [booth, LATEST, undefined],
      [closed, PERMITTED, { auth_type: "api_key", api_key: bearer.authorization, var_name: "Authorization", location: "header" }],
    ]) {
      const client = await UtcpClient.create(folder, { variables: { tools_TOOLBOOTH_KEY: KEY } });
      const template = { name: "tools", call_template_type: "http", http_method: "GET", url: `${worker.address}${path}`, auth, auth_tools: auth };
      const { success, errors, manual } = await client.registerManual(template);
      assert.ok(success, errors?.join());
      assert.deepEqual(manual.tools.map(({ name }) => name), tools.map((name) => `tools.${name}`));
      assert.equal(await client.callTool("tools.Calculator_Add", { body: { a: 2, b: 40 } }), 42);
      await assert.rejects(client.callTool("tools.Doorbell_Ring", { body: { doorbell_id: "doorbell1" } }), /422/);
      await client.close();
    }
  });
}
