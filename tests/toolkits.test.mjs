// The shipped toolkits, each example of each tool: what it sends to the service, and what it returns. One Worker has all of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import * as mcp from "./support/mcp.mjs";
import { TOOLKITS, inputOf, standIn, variables } from "./support/toolkits.mjs";
import { TOOLKITS as WORKER, start } from "./support/worker.mjs";

let service, worker;
before(async () => {
  service = await standIn();
  worker = await start(WORKER, { vars: { ...variables(service.base), ANONYMOUS_SCOPES: scopes().join(",") } });
});
after(async () => {
  await worker.close();
  await service.close();
});

const scopes = () => [...new Set(TOOLKITS.flatMap(({ definitions }) => definitions.flatMap(({ scopes = [] }) => scopes)))];
/** The header and the query with the credentials of a tool; both without them. */
function credentials({ provider, secret, in: place, name, scheme, basic } = {}) {
  if (provider) return { authorization: `${scheme ?? "Bearer"} token-of-${provider}` };
  if (basic) return { authorization: `Basic ${btoa(`secret-of-${basic.user}:secret-of-${basic.password}`)}` };
  if (place === "header") return { [name.toLowerCase()]: `${scheme ? `${scheme} ` : ""}secret-of-${secret}` };
  return {};
}

test("the Worker has every toolkit, and docs/TOOLKITS.md every tool", () => {
  assert.deepEqual(JSON.parse(readFileSync(new URL("toolkits/toolkits.json", import.meta.url))), TOOLKITS.map(({ name }) => name));
  const sections = readFileSync(new URL("../docs/TOOLKITS.md", import.meta.url), "utf8").split("\n### ");
  for (const { name, definitions } of TOOLKITS) {
    const section = sections.find((text) => text.includes(`\n\`${name}\`, ${definitions.length} tool`));
    assert.ok(section, `${name}: a section with the number of its tools`);
    for (const { id, title, annotations } of definitions) {
      const hint = annotations.read_only ? "reads" : annotations.destructive ? "destructive" : "changes";
      const row = `| \`${id.split("@")[0].split(".")[1]}\` | ${title} | ${hint} |`;
      assert.ok(section.includes(row), row);
    }
  }
});

test("the skills of toolkits are listed, and each names tools that exist", async () => {
  const { text } = await worker.get("/llms-full.txt");
  for (const [skill, tool] of [["triage-issues", "GitHub_ListIssues"], ["plan-a-meeting", "Calendar_GetBusyTimes"]]) {
    assert.ok(text.includes(skill), skill);
    assert.ok(text.slice(text.indexOf(skill)).includes(`\`${tool}\``), `${skill}: ${tool}`);
  }
});

for (const { name, definitions } of TOOLKITS) {
  for (const { id, http, examples, annotations, scopes = [], requirements } of definitions) {
    test(`${id}: hints, scopes and examples`, () => {
      const isRead = annotations.read_only;
      const needs = http.auth || http.url;
      // Calendar sends e-mails to the guests.
      if (http.method === "DELETE" || name === "calendar") assert.equal(annotations.destructive, !isRead);
      assert.deepEqual(scopes, needs ? [`${name}:${isRead ? "read" : "write"}`] : []);
      assert.equal(http.auth?.provider, requirements?.authorization[0].id);
      assert.ok(examples.some(({ response, request, value }) => response && request && value !== undefined), "an example with a request and a value");
    });
    for (const [index, example] of examples.entries()) {
      test(`${id}: ${example.title ?? `example ${index + 1}`}`, async () => {
        service.example = example;
        const context = { user_id: "ada", authorization: requirements?.authorization.map(({ id }) => ({ id, token: `token-of-${id}` })) };
        const { status, json } = await worker.call(id, inputOf(example, service.base), { context });
        assert.equal(status, 200, JSON.stringify(json));
        assert.deepEqual(service.wrong, []);
        const { line, headers, body } = service.request;
        if (example.request) assert.equal(line, example.request);
        if (example.request_body) assert.deepEqual(JSON.parse(body), example.request_body);
        const expected = credentials(http.auth);
        assert.equal(headers.authorization, expected.authorization);
        for (const [header, value] of Object.entries({ ...expected, ...http.headers })) assert.equal(headers[header.toLowerCase()], value);
        if (example.error) assert.deepEqual([json.success, json.error?.message], [false, example.error.message]);
        else assert.deepEqual(json.value ?? null, example.value);
      });
    }
  }
}

test("a file on GitHub is a resource, read with the user's authorization", async () => {
  service.example = TOOLKITS.find(({ name }) => name === "github").definitions.find(({ id }) => id.startsWith("GitHub.GetFile@")).examples[0];
  const params = { uri: "github://octocat/hello-world/docs/a%20b.md", _meta: { "toolbooth/context": { user_id: "ada", authorization: [{ id: "github", token: "token-of-github" }] } } };
  const { result } = (await mcp.modern(worker, "resources/read", params)).json;
  assert.deepEqual(result?.contents, [{ uri: params.uri, mimeType: "text/plain", text: "# Title\n" }]);
  assert.equal(service.request.line, "GET https://api.github.com/repos/octocat/hello-world/contents/docs%2Fa%20b.md");
  assert.equal(service.request.headers.authorization, "Bearer token-of-github");
  const escape = (await mcp.modern(worker, "resources/read", { ...params, uri: "github://octocat/hello-world/../../../user" })).json;
  assert.ok(escape.error, "a path does not leave the repository");
  assert.deepEqual(service.wrong, []);
});
