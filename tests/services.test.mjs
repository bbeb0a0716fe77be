// Tools that another Worker runs ("service" in the definition, tests/bindings/remote): what it gets, and what becomes of its answers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "./support/commands.mjs";
import { BINDINGS, CANARY, start } from "./support/worker.mjs";

// Answers as docs/TOOLS.md says, and otherwise.
const OTHER = `
const answers = {
  value: { value: { a: [1, "é"] } },
  "wrong value": { value: 7 },
  error: { error: { message: "It does not work", prompt: "Use 1", detail: "d", retryAfter: 1500 } },
  "bare error": { error: {} },
  refused: { refused: "github" },
  both: { value: {}, error: { message: "x" } },
  neither: {},
  list: [1],
  nothing: null,
};
export default {
  async fetch(request) {
    const text = await request.text();
    const body = JSON.parse(text);
    const kind = body.input.do;
    if (kind === "show") {
      const { method, url, headers } = request;
      return Response.json({ value: { method, url, type: headers.get("content-type"), names: [...headers.keys()].sort(), body } });
    }
    if (kind === "status") return new Response(text, { status: 500 });
    if (kind === "moved") return new Response(text, { status: 302, headers: { location: "https://elsewhere.example/" } });
    if (kind === "no JSON") return new Response(text);
    if (kind === "long") return new Response("x".repeat(2 ** 20 + 1));
    if (kind === "throw") throw new Error(text);
    return Response.json(answers[kind]);
  },
};`;

/** Calls the functions of samples/python in place of that Worker: without the network, workerd has no Python. */
const PYTHON = `import sys; sys.path.insert(0, "${root}/samples/python/python/src"); import tools; print(tools.answer(sys.stdin.read()))`;
const python = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  response.end(execFileSync("python3", ["-B", "-c", PYTHON], { input: text }));
});
// To the server above.
const forwarding = () => `export default { fetch: (request) => fetch(new Request("http://127.0.0.1:${python.address().port}/", request)) };`;

let worker, unbound;
const vars = { PLATFORM_KEY: `${CANARY}-key`, SCRIPT_CITY: "Oslo" };
before(async () => {
  await new Promise((resolve) => python.listen(0, "127.0.0.1", resolve));
  const bindings = { OTHER: { type: "worker", worker: "other" }, PYTHON: { type: "worker", worker: "python" } };
  const services = { other: OTHER, python: forwarding() };
  [worker, unbound] = await Promise.all([start(BINDINGS, { vars, bindings, services }), start(BINDINGS, { vars })]);
});
after(async () => {
  python.closeAllConnections();
  python.close();
  await Promise.all([worker.close(), unbound.close()]);
});

const context = {
  user_id: "ada",
  authorization: [{ id: "github", token: `${CANARY}-token` }, { id: "mail", token: CANARY }],
  secrets: [{ id: "PIN", value: `${CANARY}-pin` }, { id: "OTHER_PIN", value: CANARY }],
};
const ask = (kind, on = worker) => on.call("Remote.Ask", { do: kind }, { context });

test("it gets what the definition names, and nothing else of the request or of this Worker", async () => {
  const { json } = await ask("show");
  const { url, names, ...got } = json.value;
  assert.deepEqual(got, {
    method: "POST",
    type: "application/json",
    body: {
      tool: "Remote.Ask",
      version: "1.0.0",
      input: { do: "show" },
      user: "ada",
      tokens: { github: `${CANARY}-token` },
      secrets: { PIN: `${CANARY}-pin`, PLATFORM_KEY: `${CANARY}-key` },
      variables: { SCRIPT_CITY: "Oslo" },
    },
  });
  assert.equal(new URL(url).pathname, "/call");
  assert.deepEqual(names.filter((name) => /auth|cookie|key/i.test(name)), []);
});

test("the input is validated before, and the value afterwards", async () => {
  assert.deepEqual((await worker.call("Remote.Ask", { do: 1 }, { context })).json.parameter_errors, { do: "Must be a string" });
  assert.deepEqual((await ask("value")).json.value, { a: [1, "é"] });
  const { json } = await ask("wrong value");
  assert.deepEqual([json.success, json.value], [false, undefined]);
});

test("an error of the tool, and a token that a service has rejected", async () => {
  const { json } = await ask("error");
  assert.deepEqual(json.error, { message: "It does not work", developer_message: "d", can_retry: true, additional_prompt_content: "Use 1", retry_after_ms: 1500 });
  assert.equal((await ask("bare error")).json.error.message, "The tool failed");
  const refused = await ask("refused");
  assert.notEqual(refused.status, 200);
  assert.match(refused.text, /github/);
});

for (const [kind, problem] of [
  ["status", "status 500"],
  ["moved", "status 302"],
  ["no JSON", "the response is not an object with value, error or refused"],
  ["both", "the response is not an object with value, error or refused"],
  ["neither", "the response is not an object with value, error or refused"],
  ["list", "the response is not an object with value, error or refused"],
  ["nothing", "the response is not an object with value, error or refused"],
  ["long", "the response is too large"],
  ["throw", "an exception"],
]) {
  test(`an answer that is none: ${kind}`, async () => {
    assert.deepEqual((await ask(kind)).json.error, { message: "The tool failed", can_retry: false });
    const lines = (await worker.logs()).filter(({ message }) => message.includes('"service"'));
    const { level, message } = lines.at(-1);
    assert.deepEqual([level, JSON.parse(message)], ["warn", { event: "service", tool: "Remote.Ask@1.0.0", problem }]);
  });
}

test("without the binding, the tool is disabled", async () => {
  const { status, json } = await ask("value", unbound);
  assert.equal(json.message, "Tool 'Remote_Ask' is not configured", `${status}`);
});

test("the sample in Python: its examples", async () => {
  const { examples } = JSON.parse(readFileSync(join(root, "samples/python/text/Keywords@1.0.0.json"), "utf8"));
  for (const { input, value, error } of examples) {
    const { json } = await worker.call("Text.Keywords", input);
    if (error) assert.equal(json.error.message, error.message);
    else assert.deepEqual(json.value, value);
  }
});
