// Calls tools on workerd, with simulations of D1, KV, R2 and queues: for tests of tools with bindings.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { entryOf } from "./credentials.js";
import { failure } from "./difference.js";
import { migrations, startLocally } from "./local.js";
import { withSources } from "./stacks.js";

const KEY = "test-key";
const VERSION = "2026-07-28";
/** Secrets and required variables that wrangler.toml does not set. They get made-up values. */
let missing;

/** Calls the tools of a project as a client does. Each one has a Worker and storage of its own. */
export class ToolTest {
  #harness;
  #client;
  /** The requests to which the test has no response. */
  #unexpected = [];
  /** The requests that tools have sent: `{ method, url, headers, body }`. */
  requests = [];

  constructor(harness, client) {
    this.#harness = harness;
    this.#client = client;
  }

  /**
   * Starts the Worker with empty storage and the tables of the migrations. It ends with the test `t`, of `node:test` or vitest.
   *
   * `scopes`: those of the caller; otherwise it has all. `user`, `tokens` and `secrets`: what the client sends; the latter
   * are objects. `variables`: variables and secrets of the operator. `upstream` responds to the requests of tools: a function
   * from a `Request` to a `Response`. A request without a response fails the test.
   */
  static async start(t, { scopes = ["*"], user, tokens = {}, secrets = {}, variables = {}, upstream } = {}) {
    const bundle = process.env.TOOLBOOTH_TEST_WORKER;
    if (!bundle) throw new Error("Run this test with: toolbooth test");
    const vars = {
      AUTH: "api-key",
      API_KEYS: JSON.stringify([entryOf(KEY, "test", scopes)]),
      STATE_KEY: randomBytes(32).toString("base64"),
      // Only problems.
      LOG: "off",
      ...variables,
    };
    missing ??= await unset(bundle, vars);
    const madeUp = Object.fromEntries(missing.map((name) => [name, `example-${name}`]));
    const { harness, config } = await startLocally(bundle, { vars: { ...madeUp, ...vars }, forward: true });
    const pairs = (values, member) => Object.entries(values).map(([id, value]) => ({ id, [member]: value }));
    const test = new ToolTest(harness, { user_id: user, authorization: pairs(tokens, "token"), secrets: pairs(secrets, "value") });
    // The requests of the Worker arrive here.
    const { fetch } = globalThis;
    globalThis.fetch = async (url, request = new Request(url)) => {
      const { method, headers } = request;
      const body = await request.text();
      test.requests.push({ method, url: `${url}`, headers: Object.fromEntries(headers), body });
      const response = await upstream?.(new Request(url, { method, headers, ...(body && { body }) }));
      if (response) return response;
      test.#unexpected.push(`the test has no response to ${method} ${url}`);
      return new Response("the test has no response", { status: 599 });
    };
    ending(t, async () => {
      globalThis.fetch = fetch;
      await harness.close();
      if (test.#unexpected.length > 0) throw failure(`  ${test.#unexpected.join("\n  ")}`);
    });
    for (const database of config.d1_databases.filter((database) => existsSync(migrations(database)))) {
      await harness.getWorker().applyD1Migrations(database.binding);
    }
    // Logs what the configuration lacks. Otherwise it is logged after the first response, for which a test has no reason to wait.
    await (await harness.fetch("/health")).text();
    return test;
  }

  /** The Worker's bindings, such as a D1 database: `(await test.env()).NOTES`. */
  env() {
    return this.#harness.getWorker().getEnv();
  }

  /** The problems that were logged for the operator, and requests without a response, as text. */
  log() {
    const lines = this.#harness.getLogs().filter(({ level }) => level === "warn" || level === "error");
    return [...lines.map(({ message }) => withSources(message)), ...this.#unexpected].join("\n") || "empty";
  }

  /** Calls a tool by its id, with or without a version. Returns `{ value }`, `{ error }` or, if the call is rejected, `{ rejected }`. */
  async call(tool, input = {}) {
    const { status, body } = await this.#post("/tools/call", { tool_id: tool, input, context: this.#client });
    if (status !== 200) return { rejected: { status, ...body } };
    return body.success ? { value: body.value ?? null } : { error: body.error };
  }

  /** The value that a tool returns. Any other outcome fails the test. */
  async value(tool, input) {
    const outcome = await this.call(tool, input);
    if (!("value" in outcome)) this.#fail(tool, "a value", outcome);
    return outcome.value;
  }

  /** The error that a tool returns. Any other outcome fails the test. */
  async error(tool, input) {
    const outcome = await this.call(tool, input);
    if (!("error" in outcome)) this.#fail(tool, "an error of the tool", outcome);
    return outcome.error;
  }

  /** Calls a tool by a name that models see, as an MCP client that can answer everything. Returns the keys of its questions. */
  async asks(name, input = {}) {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": VERSION,
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    };
    const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input, _meta } };
    const headers = { "mcp-protocol-version": VERSION, "mcp-method": request.method, "mcp-name": name };
    const { body } = await this.#post("/mcp", request, headers);
    if (!body.result?.inputRequests) this.#fail(name, "questions", body.result ?? body.error);
    return Object.keys(body.result.inputRequests).sort();
  }

  #fail(tool, expected, outcome) {
    assert.fail(`${tool}: expected ${expected}, got ${JSON.stringify(outcome)}; log: ${this.log()}`);
  }

  async #post(path, body, headers = {}) {
    const response = await this.#harness.fetch(path, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }
}

/** Ends something with a test of `node:test` or vitest. */
function ending(t, end) {
  if (t.onTestFinished) t.onTestFinished(end);
  else t.after(end);
}

/** The variables and secrets without which tools are disabled, as /health names them. */
async function unset(bundle, vars) {
  // Only a caller with all scopes reads the names of tools there.
  const API_KEYS = JSON.stringify([entryOf(KEY, "test", ["*"])]);
  const { harness } = await startLocally(bundle, { vars: { ...vars, AUTH: "api-key", API_KEYS }, forward: true });
  try {
    const response = await harness.fetch("/health", { headers: { authorization: `Bearer ${KEY}` } });
    const { problems = [], warnings = [] } = await response.json();
    return [...problems, ...warnings].flatMap((text) => /^(\w+) is (?:a secret that is )?not set; it disables /.exec(text)?.[1] ?? []);
  } finally {
    await harness.close();
  }
}
