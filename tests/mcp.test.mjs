// MCP over HTTP in each era, and who may call. The tables of crates/toolbooth/src/protocol/mcp/tests have
// every case. docs/PROTOCOLS.md lists the clauses.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Browser, PUBLIC, authorizing } from "./support/authorizing.mjs";
import { claims, hmac, issued, issuer, keyPair, token } from "./support/issuer.mjs";
import * as mcp from "./support/mcp.mjs";
import { SAMPLES, CANARY, FIXTURES, start } from "./support/worker.mjs";

const METADATA = `${PUBLIC}/.well-known/oauth-protected-resource/mcp`;
const SECRET = `${CANARY} of at least thirty-two bytes`;
const RSA = keyPair("RS256");

let services, keys;
const workers = {};
before(async () => {
  [services, keys] = await Promise.all([authorizing(), issuer(RSA)]);
  const resource = {
    AUTH: "jwt",
    JWT_SECRET: SECRET,
    JWKS_URL: keys.url,
    JWT_ISSUER: "https://login.example",
    PUBLIC_URL: PUBLIC,
  };
  const starting = {
    booth: start(SAMPLES),
    fixtures: start(FIXTURES),
    resource: start(FIXTURES, { vars: resource }),
    challenges: start(SAMPLES, { vars: { ...services.vars, AUTH: "jwt", JWT_SECRET: SECRET } }),
    own: start(SAMPLES, { vars: { ALLOWED_ORIGINS: "https://a.example", PUBLIC_URL: PUBLIC } }),
  };
  await Promise.all(Object.entries(starting).map(async ([name, worker]) => (workers[name] = await worker)));
});
after(async () => {
  await Promise.all([...Object.values(workers), services, keys].map((one) => one.close()));
});

/** Sends a legacy request. */
const legacy = (method, params, { worker = workers.booth, ...options } = {}) => mcp.legacy(worker, method, params, options);
/** Sends a modern request with its headers. */
const modern = (method, params, { worker = workers.booth, ...options } = {}) => mcp.modern(worker, method, params, options);
const ADD = { name: "Calculator_Add", arguments: { a: 2, b: 40 } };

test("MC5 MC6 the server has the name, title and version of Cargo.toml, in MCP and in every document", async () => {
  const [, version] = /^version = "(.*)"$/m.exec(readFileSync(new URL("../Cargo.toml", import.meta.url), "utf8"));
  const server = { name: "toolbooth-app", title: "Toolbooth", version };
  const initialized = await legacy("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } });
  assert.deepEqual(initialized.json.result.serverInfo, server);
  assert.deepEqual((await modern("server/discover", {})).json.result._meta["io.modelcontextprotocol/serverInfo"], server);
  for (const path of ["/openapi.json", "/opentool/load"]) {
    const { info } = (await workers.booth.get(path)).json;
    assert.deepEqual([info.title, info.version], [server.title, version], path);
  }
  const index = (await workers.booth.get("/", { accept: "application/json" })).json;
  assert.deepEqual([index.name, index.version], [server.title, version]);
});

for (const [era, ask] of Object.entries({ legacy, modern })) {
  test(`MC9 a ${era} request needs no session and no Accept, and may have a trailing slash`, async () => {
    for (const path of ["/mcp", "/mcp/"]) {
      for (const headers of [{}, { accept: "*/*" }, { accept: "text/html" }, { "mcp-session-id": "x", "last-event-id": "7" }]) {
        const reply = await ask("tools/call", ADD, { path, headers });
        assert.deepEqual([reply.status, reply.json.result.structuredContent], [200, { result: 42 }]);
        assert.equal(reply.headers["mcp-session-id"], undefined);
        assert.equal(reply.headers["cache-control"], "no-store");
      }
    }
  });

  test(`MC20 MC21 ${era}: every tool is listed with a name and schemas that clients accept`, async () => {
    for (const worker of [workers.booth, workers.fixtures]) {
      const { tools } = (await ask("tools/list", {}, { worker })).json.result;
      const { items } = (await worker.get("/oxp/tools")).json;
      assert.deepEqual(tools.map(({ name }) => name), [...new Set(items.map(({ name }) => name))]);
      for (const { name, _meta } of tools) {
        assert.equal(items.filter((item) => item.name === name).at(-1).id, _meta["toolbooth/id"]);
      }
    }
  });

  test(`MC30 MC31 ${era}: every tool and version has a resource that can be read`, async () => {
    for (const worker of [workers.booth, workers.fixtures]) {
      const listed = (await ask("resources/list", {}, { worker })).json.result.resources;
      // These Workers have no static assets, where views are.
      const resources = listed.filter(({ uri }) => !uri.startsWith("ui://"));
      const { items } = (await worker.get("/oxp/tools")).json;
      assert.deepEqual(resources.map(({ name }) => name), items.map(({ id }) => id));
      for (const { uri } of resources) {
        const { contents } = (await ask("resources/read", { uri }, { worker })).json.result;
        assert.deepEqual(contents.map((one) => one.uri), [uri]);
      }
    }
    const absent = await ask("resources/read", { uri: "test://nowhere" });
    assert.deepEqual(absent.json.error.data, { uri: "test://nowhere" });
  });
}

test("MC8 parameters repeated in headers", async () => {
  const call = (args, headers) =>
    modern("tools/call", { name: "Fixture_Routed", arguments: args }, { worker: workers.fixtures, headers });
  for (const [args, headers, status] of [
    [{ region: "eu" }, { "mcp-param-region": "eu" }, 200],
    [{ region: "eu" }, { "Mcp-Param-Region": "=?base64?ZXU=?=" }, 200],
    [{ region: "eu" }, { "mcp-param-region": "us" }, 400],
  ]) {
    const reply = await call(args, headers);
    assert.equal(reply.status, status, reply.text);
    if (status === 400) assert.equal(reply.json.error.code, -32020);
  }
  const { tools } = (await modern("tools/list", {}, { worker: workers.fixtures })).json.result;
  const { inputSchema } = tools.find(({ name }) => name === "Fixture_Routed");
  assert.equal(inputSchema.properties.region["x-mcp-header"], "Region");
  const reply = await legacy("tools/call", { name: "Fixture_Routed", arguments: { region: "eu" } }, { worker: workers.fixtures });
  assert.equal(reply.status, 200, "legacy clients do not send such headers");
});

test("MC4 an unknown method: 404 and -32601", async () => {
  const { status, json } = await modern("tools/none", {});
  assert.deepEqual([status, json.error.code], [404, -32601]);
});

test("MC3 a notification: 202 without a body", async () => {
  const body = { jsonrpc: "2.0", method: "notifications/initialized" };
  assert.equal((await workers.booth.post(body, { path: "/mcp" })).status, 202);
});

for (const [origin, allowed] of [
  [undefined, true],
  ["http://localhost:3000", true],
  ["https://claude.ai", true],
  [PUBLIC, true],
  ["https://evil.example", false],
]) {
  test(`MC11 Origin ${origin}: ${allowed ? "served" : "403"}, and the same in CORS`, async () => {
    const worker = workers.own;
    const headers = origin === undefined ? {} : { origin };
    const reply = await modern("tools/call", ADD, { worker, headers });
    assert.equal(reply.status, allowed ? 200 : 403);
    const echoed = allowed ? origin : undefined;
    assert.equal(reply.headers["access-control-allow-origin"], echoed);
    const wrong = await worker.request("GET", "/mcp", { headers });
    assert.deepEqual([wrong.status, wrong.headers["access-control-allow-origin"]], [allowed ? 405 : 403, echoed]);
    const head = await worker.request("HEAD", "/mcp", { headers });
    assert.deepEqual([head.status, head.text], [wrong.status, ""]);
    if (origin === undefined) return;
    const asked = "content-type, mcp-protocol-version, mcp-method, mcp-name, Mcp-Param-Region, x-other";
    const preflight = await worker.request("OPTIONS", "/mcp", {
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": asked },
    });
    assert.equal(preflight.status, allowed ? 204 : 403);
    if (!allowed) return;
    const may = preflight.headers["access-control-allow-headers"].split(", ");
    for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region", "authorization"]) {
      assert.ok(may.includes(name), name);
    }
    assert.ok(!may.includes("x-other"));
  });
}

test("MC10 GET without credentials tells a client how to get them", async () => {
  const { status, headers, json } = await workers.resource.get("/mcp");
  assert.deepEqual([status, json.id], [401, null]);
  assert.match(headers["www-authenticate"], /resource_metadata=/);
});

test("MC11 the pages of known clients may call at /mcp alone", async () => {
  const body = { tool_id: "Calculator.Add", input: { a: 1, b: 2 } };
  const reply = await workers.own.post(body, { headers: { origin: "https://claude.ai" } });
  assert.equal(reply.status, 403);
});

const user = (more) => token({ alg: "HS256" }, claims({ iss: "https://login.example", ...more }), hmac(SECRET));
const bearer = (value) => ({ authorization: `Bearer ${value}` });

test("MC13 a client without a token learns where to get one", async () => {
  const worker = workers.resource;
  const pointer = `, scope="fixture:private fixture:run fixture:tell", resource_metadata="${METADATA}"`;
  for (const [headers, error] of [
    [{}, ""],
    [bearer("x"), ', error="invalid_token", error_description="the credentials are not valid"'],
  ]) {
    for (const ask of [legacy, modern]) {
      const reply = await ask("tools/list", {}, { worker, headers });
      assert.equal(reply.status, 401);
      assert.equal(reply.headers["www-authenticate"], `Bearer realm="toolbooth"${error}${pointer}`);
    }
  }
  const elsewhere = await worker.post({ tool_id: "Fixture.Silent", input: {} });
  assert.ok(!elsewhere.headers["www-authenticate"].includes("resource_metadata"), "other protocols do not point there");
});

test("MC14 the metadata of the resource are public at both paths", async () => {
  for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
    const { status, json, headers } = await workers.resource.get(path, { origin: "https://claude.ai" });
    assert.equal(status, 200);
    assert.equal(headers["access-control-allow-origin"], "https://claude.ai");
    assert.deepEqual(json, {
      resource: `${PUBLIC}/mcp`,
      resource_name: "Toolbooth",
      authorization_servers: ["https://login.example"],
      bearer_methods_supported: ["header"],
      scopes_supported: ["fixture:private", "fixture:run", "fixture:tell"],
    });
    assert.equal((await workers.booth.get(path)).status, 404, "no issuer to ask");
    for (const [method, sent, expected] of [
      ["GET", { "if-none-match": headers.etag }, 304],
      ["GET", { origin: "https://evil.example" }, 403],
      ["OPTIONS", {}, 204],
      ["PUT", {}, 405],
    ]) {
      assert.equal((await workers.resource.request(method, path, { headers: sent })).status, expected);
    }
  }
});

test("MC15 a token must be intended for this resource", async () => {
  const ask = (more) => {
    const headers = bearer(issued(RSA, { iss: "https://login.example", ...more }));
    return modern("tools/list", {}, { worker: workers.resource, headers });
  };
  assert.equal((await ask({ aud: `${PUBLIC}/mcp` })).status, 200);
  assert.equal((await ask({ aud: ["https://other.example", `${PUBLIC}/mcp`] })).status, 200);
  for (const aud of [undefined, "https://other.example/mcp", PUBLIC, `${PUBLIC}/mcp/`]) {
    const reply = await ask({ aud });
    assert.equal(reply.status, 401, aud);
    assert.match(reply.headers["www-authenticate"], /error_description="the token is for another audience"/);
  }
});

test("MC16 a token with insufficient scopes: 403 with the required ones", async () => {
  const call = (scope) =>
    modern("tools/call", { name: "Fixture_Scoped" }, { worker: workers.resource, headers: bearer(user({ scope })) });
  const refused = await call("fixture:run");
  assert.equal(refused.status, 403);
  assert.ok(refused.json.id !== undefined && refused.json.error.message.includes("fixture:tell"));
  const { "www-authenticate": header } = refused.headers;
  assert.match(header, /error="insufficient_scope", scope="[^"]*fixture:tell[^"]*", resource_metadata="/);
  const [, wanted] = /scope="([^"]*)"/.exec(header);
  assert.equal((await call(wanted)).status, 200);
  const names = async (scope) => {
    const options = { worker: workers.resource, headers: bearer(user({ scope })) };
    const { result } = (await modern("tools/list", {}, options)).json;
    assert.equal(result.cacheScope, "private");
    return result.tools.map(({ name }) => name);
  };
  assert.ok(!(await names("")).includes("Fixture_Scoped"));
  assert.ok((await names(wanted)).includes("Fixture_Scoped"));
});

test("MC40 a call, a question, a grant, and the call again", async () => {
  const call = (more) => {
    const params = { name: "GitHub_CreateIssue", arguments: { owner: "octocat", repository: "hello-world", title: "Found a bug" } };
    const options = { worker: workers.challenges, headers: bearer(user({ sub: `${CANARY}-carol`, scope: "github:write" })) };
    return modern("tools/call", { ...params, ...more }, { ...options, can: { elicitation: { url: {} } } });
  };
  const { result } = (await call()).json;
  assert.equal(result.resultType, "input_required");
  const { params } = result.inputRequests.github;
  const again = { requestState: result.requestState, inputResponses: { github: { action: "accept" } } };
  assert.equal((await call(again)).json.result.resultType, "input_required", "there is no grant yet");
  assert.equal((await new Browser(workers.challenges).grant(params)).status, 200);
  const done = (await call(again)).json.result;
  assert.deepEqual([done.resultType, done.isError], ["complete", undefined]);
  assert.equal(done.structuredContent.number, 1347);
  assert.equal((await call({ ...again, requestState: `${result.requestState}a` })).json.error.code, -32602);
});
