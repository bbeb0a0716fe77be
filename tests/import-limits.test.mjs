// `toolbooth import`: documents that are not supported, not valid or hostile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { imported, openapi } from "./support/import.mjs";

test("what is not supported, or not valid, is left out with its place and the reason", () => {
  const paths = JSON.parse(`{
    "/ok": {"get": {"operationId": "ok", "parameters": [{"name": "c", "in": "cookie", "schema": {}}]}},
    "/cookie": {"get": {"parameters": [{"name": "c", "in": "cookie", "required": true}]}},
    "/matrix/{a}": {"get": {"parameters": [{"name": "a", "in": "path", "required": true, "style": "matrix"}]}},
    "/label/{a}": {"get": {"parameters": [{"name": "a", "in": "path", "required": true, "style": "label"}]}},
    "/null": {"get": null},
    "/list": [],
    "/options": {"options": {}},
    "/word": {"fetch": {}},
    "relative": {"get": {}},
    "/query?{a}=b": {"get": {}},
    "/brace{": {"get": {}},
    "/a/../b": {"get": {}},
    "/a%2Fb": {"get": {}},
    "/{a}/{a}": {"get": {}},
    "/loop": {"$ref": "#/paths/~1loop"},
    "/missing": {"get": {"parameters": [{"$ref": "#/components/parameters/none"}]}},
    "/other": {"get": {"parameters": [{"$ref": "other.json#/a"}]}},
    "/none": {"post": {"requestBody": {"content": {}}}},
    "/related": {"post": {"requestBody": {"content": {"multipart/related": {}, "multipart/mixed": {}}}}},
    "/get": {"get": {"requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "string"}}}}}},
    "/__proto__": {"get": {"operationId": "__proto__", "parameters": [{"name": "__proto__", "in": "query", "schema": {"type": "string"}}, {"name": "Authorization", "in": "header", "required": true}, null]}}
  }`);
  const { tools, left, notes } = imported(openapi(paths));
  assert.deepEqual(left.map(({ operation, place, reason }) => `${operation}: ${reason} (${place})`), [
    "GET /cookie: parameters in cookies are not supported (#/paths/~1cookie/get/parameters/0)",
    'GET /matrix/{a}: the style "matrix" is not supported in path (#/paths/~1matrix~1{a}/get/parameters/0)',
    'GET /label/{a}: the style "label" is not supported in path (#/paths/~1label~1{a}/get/parameters/0)',
    "GET /null: is not an object (#/paths/~1null/get)",
    " /list: is not an object (#/paths/~1list)",
    "OPTIONS /options: the method OPTIONS is not supported (#/paths/~1options/options)",
    'FETCH /word: "fetch" is not a method (#/paths/~1word/fetch)',
    "GET relative: the path does not begin with / (#/paths/relative/get)",
    "GET /query?{a}=b: the query of the path is not valid: expected fields with values or {names} (#/paths/~1query?{a}=b/get)",
    "GET /brace{: the path is not valid: expected segments and {names} (#/paths/~1brace{/get)",
    "GET /a/../b: the path is not valid: it may not have . or .. as a segment, nor encode a dot or a slash (#/paths/~1a~1..~1b/get)",
    "GET /a%2Fb: the path is not valid: it may not have . or .. as a segment, nor encode a dot or a slash (#/paths/~1a%2Fb/get)",
    "GET /{a}/{a}: a path with the same {name} twice is not supported (#/paths/~1{a}~1{a}/get)",
    " /loop: refers to #/paths/~1loop, which leads to no end (#/paths/~1loop)",
    "GET /missing: refers to #/components/parameters/none, which does not exist (#/paths/~1missing/get/parameters/0)",
    "GET /other: refers to other.json#/a, which is not read (#/paths/~1other/get/parameters/0)",
    "POST /none: a body of no media type is not supported (#/paths/~1none/post/requestBody)",
    "POST /related: a body of multipart/related, multipart/mixed is not supported (#/paths/~1related/post/requestBody)",
    "GET /get: a body of GET is not supported (#/paths/~1get/get/requestBody)",
  ]);
  assert.deepEqual(Object.keys(tools), ["Ok", "Proto"]);
  assert.deepEqual(Object.keys(tools.Proto.input_schema.properties), ["__proto__"]);
  assert.deepEqual(notes, [
    ["parameters in cookies are not supported: it is left out", ["#/paths/~1ok/get/parameters/0"]],
    ["a parameter without a name is not valid: it is left out", ["#/paths/~1__proto__/get/parameters/2"]],
  ]);
  assert.equal({}.polluted, undefined);
});

test("hostile documents", () => {
  let deep = { type: "string" };
  for (let level = 0; level < 50_000; level += 1) deep = { type: "object", properties: { a: deep } };
  let list = [];
  for (let level = 0; level < 50_000; level += 1) list = [list];
  const bomb = Object.fromEntries(Array.from({ length: 40 }, (_, level) => [`B${level}`, { anyOf: Array(40).fill({ $ref: `#/components/schemas/B${level + 1}` }) }]));
  const chain = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`C${at}`, { type: "object", properties: { a: { $ref: `#/components/schemas/C${at + 1}` } } }]));
  const merging = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`M${at}`, { allOf: [{ $ref: `#/components/schemas/M${at + 1}` }, { $ref: `#/components/schemas/M${at + 1}` }] }]));
  const loop = { L: { allOf: [{ $ref: "#/components/schemas/L" }] }, R: { $ref: "#/components/schemas/R" }, D: { discriminator: { propertyName: "k", mapping: { d: "D" } }, properties: { k: {} } } };
  const body = (schema) => ({ post: { operationId: "a", requestBody: { content: { "application/json": { schema } } } } });
  const refers = (name) => body({ properties: { it: { $ref: `#/components/schemas/${name}` } } });
  const wide = (name, keyword, last) => Object.fromEntries(Array.from({ length: 40 }, (_, level) => [`${name}${level}`, level === 39 ? last : { [keyword]: Array(40).fill({ $ref: `#/components/schemas/${name}${level + 1}` }) }]));
  const kinds = { K: { discriminator: { propertyName: "k" }, oneOf: Array(300).fill({ $ref: "#/components/schemas/B0" }) }, ...bomb };
  const form = (schema) => ({ post: { operationId: "a", requestBody: { content: { "application/json": { schema }, "multipart/form-data": { schema } } } } });
  const pages = (schema) => ({ get: { operationId: "a", parameters: [{ name: "cursor", in: "query", schema: {} }], responses: { 200: { content: { "application/json": { schema } } } } } });
  const parameters = Array.from({ length: 3000 }, (_, at) => ({ name: `p${at}`, in: "query", schema: { type: "string" } }));
  for (const [name, path, schemas, isLeft] of [
    ["deep schema", body({ properties: { it: deep } }), {}],
    ["deep body", body(deep), {}],
    ["deep values", body({ properties: { it: { enum: [list], const: list, default: list, example: list, required: list } } }), {}],
    ["exponential references", refers("B0"), bomb],
    ["long chain", refers("C0"), chain],
    ["exponential allOf", refers("M0"), merging],
    ["allOf of itself", refers("L"), loop],
    ["reference to itself", refers("R"), loop],
    ["a kind of itself", refers("D"), loop],
    ["exponential kinds", refers("K"), kinds],
    ["exponential readOnly", refers("O0"), wide("O", "allOf", { type: "string" })],
    ["exponential readOnly alternatives", refers("O0"), wide("O", "anyOf", { readOnly: true })],
    ["an exponential form", form({ properties: { it: { $ref: "#/components/schemas/F0" } } }), wide("F", "anyOf", { type: "string", format: "binary" })],
    ["an exponential form of objects", form({ $ref: "#/components/schemas/F0" }), wide("F", "allOf", { properties: { it: { format: "binary" } }, additionalProperties: true })],
    ["exponential pages", pages({ $ref: "#/components/schemas/P0" }), wide("P", "allOf", { properties: { next_cursor: {} } })],
    ["pages within themselves", pages({ $ref: "#/components/schemas/P" }), { P: { properties: { data: { $ref: "#/components/schemas/P" } } } }],
    ["too many parameters", { get: { operationId: "a", parameters } }, {}, true],
    ["a long text", { get: { operationId: "a".repeat(1e6), description: "<p".repeat(1e5) + " a".repeat(1e6), parameters: [{ name: "n".repeat(1e6), in: "query" }, { name: "n".repeat(256), in: "query", schema: { pattern: "(a+)+$".repeat(1e5), enum: ["e".repeat(1e6)] } }] } }, {}],
  ]) {
    const since = performance.now();
    const { tools, left } = imported(openapi({ "/a": path, "/b": { get: { operationId: "b" } } }, { components: { schemas } }));
    assert.ok(performance.now() - since < 10_000, `${name}: ${performance.now() - since} ms`);
    assert.equal(left.length, isLeft ? 1 : 0, `${name}: ${JSON.stringify(left)}`);
    assert.ok(Object.hasOwn(tools, "B"), name);
    assert.ok(JSON.stringify(tools).length < 500_000, name);
  }
});

test("no part of a document becomes a header, or changes the host", () => {
  const injected = "x\r\nHost: evil.example";
  const header = (name) => ({ parameters: [{ name, in: "header", required: true, schema: { type: "string" } }] });
  const body = (type, rest = {}) => ({ requestBody: { content: { [type]: { schema: { type: "object", properties: { a: { type: "string" } } }, ...rest } } } });
  const base = { method: "POST", base: "PETS_URL", path: "/a" };
  const reads = { type: "object", properties: {}, additionalProperties: false };
  for (const [operation, expected, path = "/a"] of [
    [header(injected), "the name is not one of a header"],
    [header("Host"), base],
    [header("X-Forwarded-Host"), base],
    [{ responses: { 200: { content: { [`text/${injected}`]: {} } } } }, base],
    [body(`application/json;${injected}`), { ...base, body: { type: "json", properties: { a: "a" } } }],
    [body(`text/plain;${injected}`), { ...base, body: { type: "raw", contentType: "text/plain", whole: "body" } }],
    [body(`text/${injected}`), `a body of text/${injected} is not supported`],
    [body("multipart/form-data", { encoding: { a: { contentType: `text/${injected}` } } }), { ...base, body: { type: "multipart", properties: { a: "a" } } }],
    [{ security: [{ injected: [] }] }, "security of the kind apiKey in header is not supported"],
    [{ security: [{ host: [] }] }, "security of the kind apiKey in header is not supported"],
    [{}, "the path is not valid: expected segments and {names}", `/${injected}`],
    [{}, { ...base, path: "//evil.example/a" }, "//evil.example/a"],
    [{}, { ...base, path: "/@evil.example:80" }, "/@evil.example:80"],
    [{}, { ...base, path: "/%5Cevil.example" }, "/\\evil.example"],
    [{ servers: [{ url: "https://{host}", variables: { host: { enum: ["a.example", "evil.example"] } } }] }, { ...base, base: "PETS_HOST_URL" }],
    [{ servers: [{ url: "https://pets.example@evil.example" }] }, { ...base, base: "PETS_EVIL_URL" }],
  ]) {
    const securitySchemes = { injected: { type: "apiKey", in: "header", name: injected }, host: { type: "apiKey", in: "header", name: "X-Forwarded-For" } };
    const { tools, left, servers } = imported(openapi({ [path]: { post: { operationId: "a", ...operation } }, "/b": { get: { operationId: "b" } } }, { components: { securitySchemes } }));
    const what = `${path} ${JSON.stringify(operation)}`;
    assert.deepEqual(left.map(({ reason }) => reason), typeof expected === "string" ? [expected] : [], what);
    assert.deepEqual(tools.A?.http, typeof expected === "string" ? undefined : expected, what);
    assert.ok(tools.B, what);
    // Only the document's own address is a default; the operator must set any other.
    assert.deepEqual([...servers.variables.values()].map((one) => one.default).filter(Boolean), ["https://pets.example/v1"], what);
    if (tools.A && !operation.requestBody) assert.deepEqual(tools.A.input_schema, reads, what);
  }
});

test("10,000 operations are read, and the rest is named", () => {
  const schemas = { Pet: { type: "object", properties: { name: { type: "string" }, next: { $ref: "#/components/schemas/Pet" } } } };
  const operation = (at) => [`/p${at}`, { post: { operationId: `op ${at % 5000}`, requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } } } }];
  const { tools, notes } = imported(openapi(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => operation(at))), { components: { schemas } }));
  assert.equal(Object.keys(tools).length, 10_000);
  assert.deepEqual(notes.find(([, places]) => places[0] === "#/paths"), ["has more than 10000 operations: the rest is left out", ["#/paths"]]);
});

test("documents of a different kind are refused", () => {
  for (const document of [{}, [], null, "text", { openapi: "2.0" }, { openapi: "4.0.0" }, { swagger: "1.2" }, { asyncapi: "3.0.0" }]) {
    assert.throws(() => imported(document), /This is not a document of OpenAPI 3\.0 to 3\.2 or Swagger 2/, JSON.stringify(document));
  }
  for (const paths of [undefined, null, [], "paths", 3]) assert.deepEqual(imported(openapi(paths)).tools, {});
});
