// `toolbooth import`: what becomes of the credentials of a document.
import assert from "node:assert/strict";
import { test } from "node:test";
import { imported, only, openapi } from "./support/import.mjs";

test("security becomes authorization of users, or secrets of the operator", () => {
  const schemes = {
    oauth: { type: "oauth2", flows: {} },
    other: { type: "openIdConnect", openIdConnectUrl: "https://id.example/.well-known/openid-configuration" },
    token: { type: "http", scheme: "Bearer" },
    key: { type: "apiKey", in: "header", name: "X-Key" },
    second: { type: "apiKey", in: "query", name: "key" },
    login: { type: "http", scheme: "basic" },
    cookie: { type: "apiKey", in: "cookie", name: "sid" },
    injected: { type: "apiKey", in: "cookie", name: "sid; admin" },
    digest: { type: "http", scheme: "digest" },
    // The same parameters again.
    third: { type: "apiKey", in: "query", name: "key" },
    upper: { type: "apiKey", in: "header", name: "x-KEY" },
  };
  const read = (security, options) => imported(openapi({ "/a": { get: { operationId: "a" } } }, { ...(security && { security }), components: { securitySchemes: schemes } }), options);
  const bearer = { in: "header", name: "Authorization", scheme: "Bearer" };
  for (const [security, auth, options] of [
    [undefined, undefined],
    [[], undefined],
    [[{}], undefined],
    [[{ key: [] }, { oauth: ["a"] }], { provider: "pets", scheme: "Bearer" }],
    [[{ oauth: [] }], { provider: "shop", scheme: "Bearer" }, { auth: { provider: "shop" } }],
    [[{ oauth: ["a"], other: ["b"] }], { provider: "pets", scheme: "Bearer" }],
    [[{ token: [] }], { secret: "PETS_TOKEN", ...bearer }],
    [[{ cookie: [] }], { secret: "PETS_API_KEY", in: "cookie", name: "sid" }],
    [[{ key: [], cookie: [] }], [{ secret: "PETS_API_KEY", in: "header", name: "X-Key" }, { secret: "PETS_COOKIE", in: "cookie", name: "sid" }]],
    [[{ second: [] }], { secret: "PETS_API_KEY", in: "query", name: "key" }],
    [[{ login: [] }], { basic: { user: "PETS_USER", password: "PETS_PASSWORD" } }],
    [[{ digest: [] }, { login: [] }], { basic: { user: "PETS_USER", password: "PETS_PASSWORD" } }],
    [[{ key: [], second: [] }], [{ secret: "PETS_API_KEY", in: "header", name: "X-Key" }, { secret: "PETS_SECOND", in: "query", name: "key" }]],
    [[{ key: [] }, { second: [], oauth: ["a"], other: ["b"] }], [{ provider: "pets", scheme: "Bearer" }, { secret: "PETS_API_KEY", in: "query", name: "key" }]],
    [[{ key: [], login: [] }, { login: [] }], [{ secret: "PETS_API_KEY", in: "header", name: "X-Key" }, { basic: { user: "PETS_USER", password: "PETS_PASSWORD" } }]],
    [[{ key: [], second: [] }], [{ secret: "SHOP", in: "header", name: "X-Key" }, { secret: "PETS_SECOND", in: "query", name: "key" }], { auth: { secret: "SHOP" } }],
    [[{ second: [], third: [] }], { secret: "PETS_API_KEY", in: "query", name: "key" }],
    [[{ key: [], upper: [], second: [], third: [] }], [{ secret: "PETS_API_KEY", in: "header", name: "X-Key" }, { secret: "PETS_SECOND", in: "query", name: "key" }]],
    // `--auth` chooses an alternative.
    [[{ oauth: [] }, { key: [] }], { secret: "SHOP", in: "header", name: "X-Key" }, { auth: { secret: "SHOP" } }],
    [[{ oauth: [] }, { oauth: [], key: [] }, { login: [] }, { second: [] }], { secret: "SHOP", in: "query", name: "key" }, { auth: { secret: "SHOP" } }],
    [[{ key: [] }, { oauth: [] }], { provider: "shop", scheme: "Bearer" }, { auth: { provider: "shop" } }],
    [undefined, { provider: "github", scheme: "Bearer" }, { auth: { provider: "github" } }],
    [undefined, { secret: "SHOP", ...bearer }, { auth: { secret: "SHOP" } }],
  ]) {
    const { tools, left } = read(security, options);
    assert.deepEqual(left, []);
    assert.deepEqual(tools.A.http.auth, auth, JSON.stringify(security));
    assert.deepEqual(tools.A.scopes, auth && ["pets:read"], JSON.stringify(security));
  }
  for (const [security, place, reason] of [
    [[{ injected: [] }], "#/components/securitySchemes/injected", "security of the kind apiKey in cookie is not supported"],
    [[{ key: [], digest: [] }], "#/components/securitySchemes/digest", "security of the kind http digest is not supported"],
    [[{ none: [] }], "#/security/0", 'names the security scheme "none", which the document does not have'],
  ]) {
    assert.deepEqual(read(security).left, [{ operation: "GET /a", place, reason }]);
  }
});

test("a part of a request has one of several credentials", () => {
  const securitySchemes = { token: { type: "http", scheme: "bearer" }, login: { type: "http", scheme: "basic" }, key: { type: "apiKey", in: "header", name: "X-Key" } };
  const { tools, left, notes } = imported(openapi({ "/a": { get: { operationId: "a", security: [{ login: [], key: [], token: [] }] } } }, { components: { securitySchemes } }));
  assert.deepEqual(left, []);
  assert.deepEqual(tools.A.http.auth, [{ secret: "PETS_API_KEY", in: "header", name: "X-Key" }, { secret: "PETS_TOKEN", in: "header", name: "Authorization", scheme: "Bearer" }]);
  assert.deepEqual(notes, [["needs several credentials in the header authorization (login, key, token), which can have one: only the first that is supported is sent", ["#/paths/~1a/get/security/0"]]]);
});

test("credentials are optional if a request may be anonymous", () => {
  const securitySchemes = { key: { type: "apiKey", in: "header", name: "X-Key" }, digest: { type: "http", scheme: "digest" } };
  for (const [security, expected] of [
    [[{}, { key: [] }], true],
    [[{ key: [] }, {}], true],
    [[{ key: [] }], undefined],
    [[{}, { digest: [] }], undefined],
    [[{}], undefined],
  ]) {
    const { http } = only(openapi({ "/a": { get: { operationId: "a", security } } }, { components: { securitySchemes } }));
    assert.deepEqual([http.auth_optional, http.auth !== undefined], [expected, JSON.stringify(security).includes("key")], JSON.stringify(security));
  }
});

test("OAuth without a page for users is a grant of the server", () => {
  const flow = (tokenUrl) => ({ tokenUrl, scopes: { read: "r" } });
  const code = { authorizationUrl: "https://id.example/authorize", ...flow("https://id.example/token") };
  const schemes = (flows, rest = {}) => ({ it: { type: "oauth2", flows }, key: { type: "apiKey", in: "header", name: "X-Key" }, ...rest });
  const read = (flows, security = [{ it: ["read"] }], options = {}, rest = {}) => imported(openapi({ "/a": { get: { operationId: "a", security } } }, { components: { securitySchemes: schemes(flows) }, ...rest }), options);
  const client = { client_id: "PETS_CLIENT_ID", client_secret: "PETS_CLIENT_SECRET" };
  const grant = { oauth2: { token_url: "PETS_TOKEN_URL", ...client, scopes: ["read"] } };
  const ofUser = { oauth2: { token_url: "PETS_TOKEN_URL", ...client, username: "PETS_OAUTH_USER", password: "PETS_OAUTH_PASSWORD", scopes: ["read"] } };
  const provider = { provider: "pets", scheme: "Bearer" };
  const key = { secret: "PETS_API_KEY", in: "header", name: "X-Key" };
  for (const [flows, auth, security, options] of [
    [{ clientCredentials: flow("https://id.example/token") }, grant],
    [{ password: flow("https://id.example/token") }, ofUser],
    [{ password: flow("https://id.example/token"), clientCredentials: flow("https://id.example/token") }, grant],
    [{ clientCredentials: flow("https://id.example/token"), authorizationCode: code }, provider],
    [{ clientCredentials: flow("https://id.example/token") }, key, [{ it: [] }, { key: [] }]],
    [{ clientCredentials: flow("https://id.example/token") }, [grant, key], [{ it: ["read"], key: [] }]],
    [{ clientCredentials: flow("https://id.example/token") }, provider, undefined, { auth: { provider: "pets" } }],
    [{ implicit: code }, provider],
    // A provider without a token endpoint is worse than a key.
    [{ implicit: code }, key, [{ it: [] }, { key: [] }]],
    [{ authorizationCode: code }, provider, [{ key: [] }, { it: [] }]],
    [{ deviceAuthorization: {} }, key, [{ it: [] }, { key: [] }]],
  ]) {
    const { tools, left } = read(flows, security, options);
    assert.deepEqual([left, tools.A?.http.auth], [[], auth], JSON.stringify([flows, security]));
  }
  assert.deepEqual(read({ deviceAuthorization: {} }).left.map(({ reason }) => reason), ["security of the kind oauth2 with the flow deviceAuthorization is not supported"]);
  for (const [tokenUrl, rest, expected] of [
    ["https://id.example/o/token/?a=b#c", {}, "https://id.example/o/token/?a=b"],
    ["token", {}, "https://pets.example/v1/token"],
    ["/token", {}, "https://pets.example/token"],
    ["/token", { servers: [] }, undefined],
    ["http://id.example/token", {}, undefined],
    ["https://10.0.0.1/token", {}, undefined],
    ["https://localhost/token", {}, undefined],
    ["https://user@id.example/token", {}, undefined],
    ["https://{tenant}.example/token", {}, undefined],
    [{}, {}, undefined],
  ]) {
    const { credentials } = read({ clientCredentials: flow(tokenUrl) }, undefined, {}, rest);
    assert.deepEqual([...credentials.variables], [["PETS_TOKEN_URL", { kind: "url", ...(expected && { default: expected }) }], ["PETS_CLIENT_ID", { kind: "text" }], ["PETS_CLIENT_SECRET", { kind: "secret" }]], String(tokenUrl));
  }
  const swagger = { swagger: "2.0", info: { title: "Pets" }, host: "pets.example", paths: { "/a": { get: { operationId: "a", security: [{ it: [] }] } } } };
  const { tools } = imported({ ...swagger, securityDefinitions: { it: { type: "oauth2", flow: "application", tokenUrl: "https://id.example/token", scopes: {} } } });
  assert.deepEqual(tools.A.http.auth, { oauth2: { token_url: "PETS_TOKEN_URL", ...client } });
});

test("--auth says where it does not apply", () => {
  const securitySchemes = { oauth: { type: "oauth2", flows: { authorizationCode: {} } }, key: { type: "apiKey", in: "header", name: "X-Key" } };
  const read = (security, auth) => imported(openapi({ "/a": { get: { operationId: "a", security } } }, { components: { securitySchemes } }), { auth }).notes;
  assert.deepEqual(read([{ oauth: [] }], { secret: "SHOP" }), [["--auth secret:SHOP does not apply, because none of the alternatives is a key", ["#/paths/~1a/get/security"]]]);
  assert.deepEqual(read([{ key: [] }], { provider: "shop" }), [["--auth provider:shop does not apply, because none of the alternatives is the token of a user", ["#/paths/~1a/get/security"]]]);
  assert.deepEqual(read([{ oauth: [] }, { key: [] }], { secret: "SHOP" }), []);
});

test("parameters that are credentials are no part of the input", () => {
  const query = (name, description) => ({ name, in: "query", required: true, description, schema: { type: "string" } });
  const parameters = [query("token"), query("access_token"), query("key", "An API key."), query("key_id"), { ...query("oauth_token"), in: "header" }, { ...query("token"), in: "path" }];
  const fields = { access_token: { description: "Authentication token." }, token: { description: "A card." } };
  const requestBody = { content: { "application/x-www-form-urlencoded": { schema: { properties: fields } } } };
  const properties = (options) => Object.keys(only(openapi({ "/{token}": { post: { parameters, requestBody } } }), options).input_schema.properties);
  assert.deepEqual(properties({ auth: { provider: "pets" } }), ["key_id", "token__path", "token"]);
  assert.deepEqual(properties(), ["token__query", "access_token__query", "key", "key_id", "oauth_token", "token__path", "access_token", "token"]);
});
