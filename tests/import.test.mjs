// `toolbooth import`: what becomes of documents. tests/import-files.test.mjs has what it reads and writes, tests/import-names.test.mjs names and versions,
// tests/import-credentials.test.mjs credentials, tests/import-kinds.test.mjs discriminators and the proof of values, and tests/import-limits.test.mjs what is not supported or hostile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { imported, only, openapi } from "./support/import.mjs";

/** The schema of a property in a JSON body, with `$defs` next to it. */
function converted(schema, { openapi: version = "3.1.0", schemas = {} } = {}) {
  const content = { "application/json": { schema: { type: "object", properties: { it: schema } } } };
  const document = { ...openapi({ "/a": { post: { operationId: "a", requestBody: { content } } } }, { components: { schemas } }), openapi: version };
  const { tools, notes, left } = imported(document);
  assert.deepEqual(left, []);
  const { properties, $defs } = tools.A.input_schema;
  return { schema: properties.it, ...($defs && { $defs }), ...(notes.length > 0 && { notes: notes.map(([reason]) => reason) }) };
}

test("an operation becomes a definition", () => {
  const operation = {
    operationId: "pets/update",
    tags: ["pets"],
    summary: "Update a pet",
    description: "Changes the name of a pet, and more.",
    deprecated: true,
    security: [{ oauth: ["pets:write"] }],
    parameters: [
      { name: "petId", in: "path", required: true, description: "The id.", schema: { type: "integer" } },
      { name: "labels[]", in: "query", description: "Labels.", schema: { type: "array", items: { type: "string" } }, explode: false },
      { name: "X-Trace", in: "header", description: "A trace.", schema: { type: "string", default: "none" } },
      { $ref: "#/components/parameters/filter" },
    ],
    requestBody: { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } },
    responses: { 200: { content: { "application/json": {} } } },
  };
  const components = {
    parameters: { filter: { name: "filter", in: "query", style: "deepObject", description: "A filter.", schema: { type: "object", properties: { age: { type: "integer", description: "Years." } } } } },
    schemas: {
      Pet: { type: "object", required: ["id", "name"], properties: { id: { type: "integer", readOnly: true }, name: { type: "string", description: "Its name." }, petId: { type: "string", description: "A different id." }, owner: { $ref: "#/components/schemas/Owner", description: "Who feeds it." } } },
      Owner: { type: "object", properties: { email: { type: "string", format: "email" }, pets: { type: "array", description: "All.", items: { $ref: "#/components/schemas/Owner" } } } },
      Unused: { type: "object" },
    },
    securitySchemes: { oauth: { type: "oauth2", flows: { authorizationCode: { authorizationUrl: "https://pets.example/authorize", tokenUrl: "https://pets.example/token", scopes: {} } } } },
  };
  const { tools, left, notes, servers, credentials } = imported(openapi({ "/pets/{petId}": { put: operation } }, { components }));
  assert.deepEqual(left, []);
  assert.deepEqual(notes, [["refers to a schema that contains it: the reference is cut", ["#/components/schemas/Owner/properties/pets/items"]]]);
  assert.deepEqual(tools.PetsUpdate, {
    name: "Pets_PetsUpdate",
    title: "Update a pet",
    description: "Update a pet.\n\nChanges the name of a pet, and more.",
    input_schema: {
      type: "object",
      properties: {
        petId__path: { type: "integer", description: "The id." },
        labels: { type: "array", items: { type: "string" }, description: "Labels." },
        "X-Trace": { type: "string", description: "A trace. Default: none." },
        filter: { type: "object", properties: { age: { type: "integer", description: "Years." } }, description: "A filter." },
        name: { type: "string", description: "Its name." },
        petId: { type: "string", description: "A different id." },
        owner: { $ref: "#/$defs/Owner", description: "Who feeds it." },
      },
      required: ["petId__path", "name"],
      additionalProperties: false,
      $defs: { Owner: { type: "object", properties: { email: { type: "string", description: "Format: email." }, pets: { type: "array", description: "All.", items: { type: "object" } } } } },
    },
    output_schema: {},
    scopes: ["pets:write"],
    requirements: { authorization: [{ id: "pets", oauth2: { scopes: ["pets:write"] } }] },
    http: {
      method: "PUT",
      base: "PETS_URL",
      path: "/pets/{petId}",
      parameters: [
        { property: "petId__path", in: "path", name: "petId" },
        { property: "labels", in: "query", name: "labels[]", explode: false },
        { property: "X-Trace", in: "header", name: "X-Trace" },
        { property: "filter", in: "query", name: "filter", style: "deepObject" },
      ],
      body: { type: "json", properties: { name: "name", petId: "petId", owner: "owner" }, required: true },
      headers: { Accept: "application/json" },
      auth: { provider: "pets", scheme: "Bearer" },
    },
    annotations: { read_only: false, destructive: true, idempotent: true, open_world: true },
    deprecated: { message: "The service's description calls this operation deprecated." },
  });
  assert.deepEqual([...servers.variables], [["PETS_URL", { kind: "base", default: "https://pets.example/v1" }]]);
  assert.deepEqual([...credentials.providers.keys()], ["pets"]);
});

test("the versions of documents", () => {
  const nullable = { parameters: [{ name: "a", in: "query", schema: { $ref: "#/components/schemas/A", maxLength: 2 } }] };
  const read = (version) => only({ ...openapi({ "/a": { get: nullable } }, { components: { schemas: { A: { type: "string" } } } }), openapi: version }).input_schema.properties.a;
  for (const [version, isModern] of [["3.0.3", false], ["3.0", false], [3, false], [3.1, true], ["3.1.0", true], ["3.2.0", true]]) {
    assert.deepEqual(read(version), { type: "string", ...(isModern && { maxLength: 2 }) }, `${version}`);
  }
  for (const version of [undefined, "", "2.0", "3.3.0", "3.10.0", "30", 4, null]) {
    assert.throws(() => read(version), /^Error: This is not a document of OpenAPI 3\.0 to 3\.2 or Swagger 2/, `${version}`);
  }
});

test("methods become annotations", () => {
  for (const [method, read_only, idempotent] of [["get", true, true], ["head", true, true], ["post", false, false], ["patch", false, false], ["put", false, true], ["delete", false, true]]) {
    const { annotations, http } = only(openapi({ "/a": { [method]: {} } }));
    assert.deepEqual(annotations, { read_only, destructive: !read_only, idempotent, open_world: true }, method);
    assert.equal(http.retry, read_only || undefined, method);
  }
});

test("a long description is shortened, and kept as a resource", () => {
  const description = `${"Sentence. ".repeat(200)}End.`;
  const { description: short, resources } = only(openapi({ "/a": { get: { operationId: "a", description } } }));
  assert.ok(short.length <= 1024 && short.endsWith("Sentence. …"), short.slice(-40));
  assert.deepEqual(resources, [{ uri: "docs://pets/A", name: "Pets_A", description: "The full description of Pets.A.", mime_type: "text/markdown", text: description }]);
  const html = only(openapi({ "/a": { get: { description: "<p>Gets <b>it</b> if a < b.</p><ul><li>One</li></ul>" } } }));
  assert.equal(html.description, "Gets it if a < b.\n\nOne");
});

test("schemas", () => {
  const text = { type: "string" };
  const old = { openapi: "3.0.3" };
  const node = { Node: { type: "object", properties: { next: { $ref: "#/components/schemas/Node" }, name: text } } };
  const animals = {
    Animal: { type: "object", required: ["kind"], properties: { kind: text }, discriminator: { propertyName: "kind", mapping: { cat: "#/components/schemas/Cat" } } },
    Cat: { allOf: [{ $ref: "#/components/schemas/Animal" }, { type: "object", properties: { lives: { type: "integer" } } }] },
  };
  // Kinds that have their base, which lists them, in their `allOf`.
  const shape = (kind) => ({ allOf: [{ $ref: "#/components/schemas/Shape" }, { type: "object", properties: { [kind]: text } }] });
  const listed = { Shape: { type: "object", properties: { type: text }, oneOf: [{ $ref: "#/components/schemas/Disc" }, { $ref: "#/components/schemas/Box" }] }, Disc: shape("r"), Box: shape("a") };
  const isOfType = (name) => ({ $ref: `#/$defs/${name}`, properties: { type: { const: name } }, required: ["type"] });
  const $shapes = Object.fromEntries([["Disc", "r"], ["Box", "a"]].map(([name, member]) => [name, { type: "object", properties: { type: text, [member]: text } }]));
  const isOfKind = { oneOf: [{ $ref: "#/$defs/Cat", properties: { kind: { const: "cat" } }, required: ["kind"] }] };
  for (const [schema, expected, options] of [
    [{ type: "string", nullable: true }, { schema: { type: ["string", "null"] } }, old],
    [{ type: "string", nullable: true, enum: ["a"] }, { schema: { type: ["string", "null"], enum: ["a", null] } }, old],
    [{ nullable: true, allOf: [{ type: "integer" }] }, { schema: { type: ["integer", "null"] } }, old],
    [{ type: "integer", minimum: 1, exclusiveMinimum: true }, { schema: { type: "integer", exclusiveMinimum: 1 } }, old],
    [{ type: "integer", format: "int64", maximum: 2 ** 63 }, { schema: { type: "integer" } }],
    [{ type: "string", format: "date-time", description: "When." }, { schema: { type: "string", description: "When. Format: date-time." } }],
    [{ type: "string", format: "uuid" }, { schema: { type: "string", format: "uuid" } }],
    [{ type: "string", format: "byte" }, { schema: { type: "string", description: "Format: byte.", contentEncoding: "base64" } }],
    [{ type: "string", pattern: "^[a-z]{2,9}$" }, { schema: { type: "string", pattern: "^[a-z]{2,9}$" } }],
    [{ type: "string", pattern: "^(?!a)" }, { schema: { type: "string", description: "Pattern: ^(?!a)" }, notes: ["has a pattern that the Worker cannot check at little cost: it is only described"] }],
    [{ title: "A title", default: 3, example: 4, "x-extra": 1, xml: {}, externalDocs: {} }, { schema: { description: "A title. Default: 3.", examples: [4] } }],
    [{ type: "array", items: [text, { type: "integer" }] }, { schema: { type: "array", prefixItems: [text, { type: "integer" }] } }],
    [{ type: "string", enum: [1, 1, "b"] }, { schema: { type: "string", enum: ["1", "b"] } }],
    [{ type: "integer", enum: ["1", "-20", "1.5", "x", 3] }, { schema: { type: "integer", enum: [1, -20, "1.5", "x", 3] } }],
    [{ type: "number", enum: ["1.5", "01", "1e3"] }, { schema: { type: "number", enum: [1.5, "01", "1e3"] } }],
    [{ type: "boolean", enum: ["true", "false", "yes"] }, { schema: { type: "boolean", enum: [true, false, "yes"] } }],
    [{ type: "text" }, { schema: {}, notes: ['has the type "text", which JSON does not have, so any value is allowed'] }],
    [{ minLength: -1, maxLength: "9", required: true }, { schema: {}, notes: ["is not a valid value of minLength, which is left out", "is not a valid value of maxLength, which is left out"] }],
    [{ minLenght: 1 }, { schema: {}, notes: ["minLenght is not a keyword of schemas that a tool can have, so it is left out"] }],
    [{ type: "object", required: ["a"] }, { schema: { type: "object", required: ["a"], properties: { a: {} } } }],
    [{ properties: { a: text }, anyOf: [{ required: ["a"] }] }, { schema: { type: "object", properties: { a: text }, anyOf: [{ required: ["a"] }] } }],
    [{ type: "object", required: ["a"], properties: { a: { ...text, readOnly: true }, b: { ...text, writeOnly: true } } }, { schema: { type: "object", properties: { b: text } } }],
    [
      { description: "Both.", allOf: [{ type: "object", required: ["a"], properties: { a: text, b: { maximum: 9 } } }, { properties: { b: { maximum: 5 }, c: text }, required: ["c"] }] },
      { schema: { description: "Both.", type: "object", required: ["a", "c"], properties: { a: text, b: { maximum: 5 }, c: text } } },
    ],
    [{ allOf: [{ oneOf: [text, { type: "null" }] }, { oneOf: [{ type: "null" }] }] }, { schema: { anyOf: [text, { type: "null" }], allOf: [{ anyOf: [{ type: "null" }] }] } }],
    [
      { oneOf: [{ type: "string", format: "date" }, { type: "string", format: "date-time" }], anyOf: [text, { type: "integer" }] },
      { schema: { anyOf: [text, { type: "integer" }], allOf: [{ anyOf: [{ type: "string", format: "date" }, { type: "string", description: "Format: date-time." }] }] } },
    ],
    [{ not: { required: ["a"], properties: { a: { enum: [1] } } } }, { schema: { not: { type: "object", required: ["a"], properties: { a: { enum: [1] } } } } }],
    [{ not: { type: "string", format: "email" } }, { schema: {}, notes: ["not depends on what the Worker does not check: only the service applies it"] }],
    [{ if: { minimum: 1 }, then: { format: "email" } }, { schema: { if: { minimum: 1 }, then: { description: "Format: email." } } }],
    [{ if: { pattern: "^a" }, else: { minimum: 1 } }, { schema: {}, notes: ["if depends on what the Worker does not check: only the service applies it", "else depends on what the Worker does not check: only the service applies it"] }],
    [{ $ref: "#/components/schemas/Text", description: "Mine." }, { schema: { ...text, maxLength: 2, description: "Mine." } }, { schemas: { Text: { ...text, maxLength: 2, description: "Theirs." } } }],
    [{ $ref: "#/components/schemas/Text", maxLength: 9 }, { schema: text }, { ...old, schemas: { Text: text } }],
    [
      { $ref: "#/components/schemas/Node" },
      { schema: { $ref: "#/$defs/Node" }, $defs: { Node: { type: "object", properties: { next: { type: "object" }, name: text } } }, notes: ["refers to a schema that contains it: the reference is cut"] },
      { schemas: node },
    ],
    [{ description: "One.", allOf: [{ $ref: "#/components/schemas/Two" }] }, { schema: { $ref: "#/$defs/Two", description: "One." }, $defs: { Two: { type: "object", properties: { a: text } } } }, { ...old, schemas: { Two: { properties: { a: text } } } }],
    [{ $ref: "#/components/schemas/None" }, { schema: {}, notes: ["refers to #/components/schemas/None, which does not exist, so any value is allowed"] }],
    [
      { $ref: "#/components/schemas/Animal" },
      { schema: { $ref: "#/$defs/Animal" }, $defs: { Animal: isOfKind, Cat: { required: ["kind"], properties: { kind: text, lives: { type: "integer" } }, type: "object" } } },
      { schemas: animals },
    ],
    [
      { oneOf: [{ $ref: "#/components/schemas/Cat" }], discriminator: { propertyName: "kind" } },
      { schema: { oneOf: [{ $ref: "#/$defs/Cat", properties: { kind: { const: "Cat" } }, required: ["kind"] }] }, $defs: { Cat: { type: "object", properties: { kind: text } } } },
      { schemas: { Cat: { type: "object", properties: { kind: text } } } },
    ],
    [
      { oneOf: [{ type: "object", properties: { kind: { const: "a" } } }, text], discriminator: { propertyName: "kind" } },
      { schema: { anyOf: [{ type: "object", properties: { kind: { const: "a" } } }, text] } },
    ],
    [
      { $ref: "#/components/schemas/Shape" },
      { schema: { $ref: "#/$defs/Shape" }, $defs: { Shape: { type: "object", properties: { type: text }, oneOf: [isOfType("Disc"), isOfType("Box")] }, ...$shapes } },
      { schemas: { ...listed, Shape: { ...listed.Shape, discriminator: { propertyName: "type" } } } },
    ],
    [{ $ref: "#/components/schemas/Disc" }, { schema: { $ref: "#/$defs/Disc" }, $defs: { Disc: $shapes.Disc } }, { schemas: listed }],
  ]) {
    assert.deepEqual(converted(schema, options), expected, JSON.stringify(schema));
  }
});

test("an input that is too large for a model loses its deepest parts", () => {
  const schemas = Object.fromEntries(Array.from({ length: 12 }, (_, level) => [`L${level}`, { type: "object", description: `Level ${level}.`, properties: Object.fromEntries(["a", "b", "c"].map((name) => [name, { $ref: `#/components/schemas/L${level + 1}` }])) }]));
  const { $defs, notes } = converted({ $ref: "#/components/schemas/L0" }, { schemas: { ...schemas, L12: { type: "string" } } });
  assert.ok(notes.includes("has an input that is too large for a model: its deepest parts are not described"));
  assert.deepEqual(Object.keys($defs), ["L0", "L1", "L2", "L3", "L4", "L5"]);
  assert.deepEqual($defs.L5, { type: "object", description: "Level 5." });
  // What is cut accepts more: what says how many may match, or what must not, would reject more.
  const kinds = { ...schemas, L1: { ...schemas.L1, not: { required: ["d"] } }, L12: { type: "string" } };
  for (const either of [{}, { anyOf: [{ type: "object" }] }]) {
    const { schema, $defs } = converted({ oneOf: ["L0", "L3"].map((name) => ({ $ref: `#/components/schemas/${name}` })), discriminator: { propertyName: "kind" }, ...either }, { schemas: kinds });
    assert.doesNotMatch(JSON.stringify([schema, $defs]), /oneOf|"not"/);
  }
});

const FILE = { type: "object", properties: { name: { type: "string", description: "The name of the file." }, type: { type: "string", description: "Its media type, such as image/png." }, data: { type: "string", contentEncoding: "base64", description: "Its content in base64." } }, required: ["data"], additionalProperties: false };

test("bodies", () => {
  const text = { type: "string", description: "A text." };
  const object = { type: "object", properties: { a: text }, required: ["a"] };
  const of = (content, rest = {}) => ({ post: { operationId: "a", requestBody: { content, ...rest } } });
  for (const [operation, body, properties, headers] of [
    [of({ "application/json": { schema: object } }), { type: "json", properties: { a: "a" } }, { a: text }],
    [of({ "application/json": { schema: { type: "array", items: text } } }), { type: "json", whole: "body" }, { body: { type: "array", items: text, description: "The body of the request." } }],
    [of({ "application/json": { schema: { type: "object", additionalProperties: text, properties: { a: text } } } }), { type: "json", whole: "body" }, { body: { type: "object", additionalProperties: text, properties: { a: text }, description: "The body of the request." } }],
    [of({ "application/xml": {}, "application/merge-patch+json": { schema: object } }), { type: "json", properties: { a: "a" } }, { a: text }, { "Content-Type": "application/merge-patch+json" }],
    [of({ "application/x-www-form-urlencoded": { schema: object, encoding: { a: { style: "deepObject", explode: true, contentType: "text/plain" } } } }, { required: true }), { type: "form", properties: { a: "a" }, required: true, encoding: { a: { style: "deepObject", explode: true } } }, { a: text }],
    [
      of({ "multipart/form-data": { schema: { type: "object", properties: { f: { type: "string", format: "binary" } } }, encoding: { f: { contentType: "image/png" } } } }),
      { type: "multipart", properties: { f: "f" }, encoding: { f: { contentType: "image/png" } } },
      { f: { ...FILE, description: "A file." } },
    ],
    [of({ "application/x-www-form-urlencoded": { schema: { type: "object", properties: {} } } }), undefined, {}],
    [of({ "text/csv": { schema: { type: "string" } } }), { type: "raw", contentType: "text/csv", whole: "body" }, { body: { type: "string", contentMediaType: "text/csv", description: "The body of the request: text/csv." } }],
    [of({ "application/x-ndjson": { schema: { type: "string" } } }), { type: "raw", contentType: "application/x-ndjson", whole: "body" }, { body: { type: "string", contentMediaType: "application/x-ndjson", description: "The body of the request: application/x-ndjson." } }],
    [of({ "application/x-www-form-urlencoded": { schema: { ...object, additionalProperties: text } } }), { type: "form", whole: "body" }, { body: { ...object, additionalProperties: text, description: "The fields of the form." } }],
    [of({ "application/xml": {} }), { type: "raw", contentType: "application/xml", whole: "body" }, { body: { type: "string", contentMediaType: "application/xml", description: "The body of the request: application/xml." } }],
    [of({ "image/*": { schema: { type: "string", format: "binary" } } }, { description: "A picture." }), { type: "raw", whole: "body" }, { body: { ...FILE, description: "A picture." } }],
    [of({ "application/octet-stream": {} }, { description: "A file." }), { type: "raw", contentType: "application/octet-stream", whole: "body" }, { body: { ...FILE, description: "A file." } }],
  ]) {
    const { http, input_schema } = only(openapi({ "/a": operation }));
    assert.deepEqual([http.body, input_schema.properties, http.headers], [body, properties, headers], JSON.stringify(operation));
  }
});

test("Swagger 2", () => {
  const document = (parameters, rest = {}) => ({ swagger: "2.0", info: { title: "Pets" }, host: "pets.example", basePath: "/v2", paths: { "/a": { post: { operationId: "a", parameters, ...rest } } } });
  const list = { name: "q", in: "query", type: "array", items: { type: "string" } };
  for (const [parameters, rest, http] of [
    [[{ ...list, collectionFormat: "multi" }], {}, { parameters: [{ property: "q", in: "query", name: "q" }] }],
    [[list], {}, { parameters: [{ property: "q", in: "query", name: "q", explode: false }] }],
    [[{ ...list, collectionFormat: "pipes" }], {}, { parameters: [{ property: "q", in: "query", name: "q", style: "pipeDelimited" }] }],
    [[{ name: "b", in: "body", required: true, schema: { properties: { a: { type: "string" } } } }], {}, { body: { type: "json", properties: { a: "a" }, required: true } }],
    [[{ name: "f", in: "formData", type: "string" }], {}, { body: { type: "form", properties: { f: "f" } } }],
    [[{ name: "f", in: "formData", type: "file", required: true }], {}, { body: { type: "multipart", properties: { f: "f" }, required: true } }],
    [[], { produces: ["application/xml", "application/json"], responses: { 200: {} } }, { headers: { Accept: "application/json" } }],
  ]) {
    const definition = only(document(parameters, rest));
    assert.deepEqual(definition.http, { method: "POST", base: "PETS_URL", path: "/a", ...http }, JSON.stringify(parameters));
  }
  const { servers, left } = imported(document([{ ...list, required: true, collectionFormat: "tsv" }]));
  assert.deepEqual(left, [{ operation: "POST /a", place: "#/paths/~1a/post/parameters/0", reason: 'the style "tabDelimited" is not supported in query' }]);
  assert.deepEqual([...servers.variables], []);
});

test("a form whose fields are not listed takes any", () => {
  const read = (type, schema, rest = {}) => imported(openapi({ "/a": { post: { operationId: "a", requestBody: { required: true, content: { [type]: { schema } } } } } }, rest));
  for (const [type, schema, format] of [
    ["multipart/form-data", { type: "string", format: "binary" }, "multipart"],
    ["multipart/form-data", {}, "multipart"],
    ["application/x-www-form-urlencoded", { type: "string" }, "form"],
    ["application/x-www-form-urlencoded", { type: "array", items: {} }, "form"],
  ]) {
    const { tools, left, notes } = read(type, schema);
    assert.deepEqual(left, []);
    assert.deepEqual(tools.A.http.body, { type: format, whole: "body" });
    const { body } = tools.A.input_schema.properties;
    assert.deepEqual([body.type, body.additionalProperties.anyOf.length, tools.A.input_schema.required], ["object", 2, ["body"]]);
    assert.deepEqual(notes.map(([reason]) => reason), ["has a form whose fields are not listed: any of them are accepted"]);
  }
  const { tools } = read("multipart/form-data", { oneOf: [{ type: "object", properties: { a: { type: "string" } } }, { type: "object", properties: { b: { type: "string" } } }] });
  assert.deepEqual(tools.A.input_schema.properties.body.anyOf?.length, 2);
});

test("media types that are none", () => {
  const content = { schema: { type: "object", properties: { a: { type: "string" } } } };
  for (const [type, body, note] of [
    ["", { type: "json", properties: { a: "a" } }, "application/json"],
    ["applicationjson;version=1", { type: "json", properties: { a: "a" } }, "application/json"],
    ["text/plain; utf-8", { type: "raw", contentType: "text/plain", whole: "body" }, "text/plain"],
  ]) {
    const { tools, notes } = imported(openapi({ "/a": { post: { operationId: "a", requestBody: { content: { [type]: content } } } } }));
    assert.deepEqual(tools.A.http.body, body, type);
    assert.deepEqual(notes, [[`has no valid media type for its body: it is sent as ${note}`, ["#/paths/~1a/post/requestBody"]]]);
  }
});

test("lists in parts of a form are written as the document says", () => {
  const list = (name, rest) => ({ name, in: "formData", type: "array", items: { type: "string" }, ...rest });
  const parameters = [{ name: "file", in: "formData", type: "file" }, list("multi", { collectionFormat: "multi" }), list("pipes", { collectionFormat: "pipes" }), list("ssv", { collectionFormat: "ssv" }), list("csv", { collectionFormat: "csv" }), list("usual"), list("tsv", { collectionFormat: "tsv" })];
  const { tools, notes } = imported({ swagger: "2.0", info: { title: "Pets" }, host: "pets.example", paths: { "/a": { post: { operationId: "a", consumes: ["multipart/form-data"], parameters } } } });
  const commas = { style: "form", explode: false };
  assert.deepEqual(tools.A.http.body.encoding, { pipes: { style: "pipeDelimited", explode: false }, ssv: { style: "spaceDelimited", explode: false }, csv: commas, usual: commas, tsv: { explode: false } });
  assert.deepEqual(notes.map(([reason]) => reason), ['has the style "tabDelimited" in a form, which is not supported: lists are separated by commas']);
  const modern = (version, encoding) => {
    const content = { "multipart/form-data": { schema: { type: "object", properties: { a: { type: "array", items: {} } } }, encoding: { a: encoding } } };
    return only({ ...openapi({ "/a": { post: { operationId: "a", requestBody: { content } } } }), openapi: version }).http.body.encoding;
  };
  assert.deepEqual(modern("3.1.0", { style: "form", explode: false, contentType: "text/plain" }), { a: commas });
  assert.deepEqual(modern("3.1.0", { contentType: "text/plain" }), { a: { contentType: "text/plain" } });
  // Before 3.1, styles are for forms alone.
  assert.deepEqual(modern("3.0.3", { style: "form", explode: false, contentType: "text/plain" }), { a: { contentType: "text/plain" } });
});

test("addresses of a provider are complete ones", () => {
  const flows = { authorizationCode: { authorizationUrl: "https://id.example/authorize", tokenUrl: "/token" } };
  const { credentials } = imported(openapi({ "/a": { get: { security: [{ oauth: ["a"] }] } } }, { components: { securitySchemes: { oauth: { type: "oauth2", flows } } } }));
  const { authorizeUrl, tokenUrl } = credentials.providers.get("pets");
  assert.deepEqual([authorizeUrl, tokenUrl], ["https://id.example/authorize", undefined]);
});

test("a name beyond ASCII is described, and one that others become too", () => {
  const parameters = [["größe", { description: "How large." }], ["日本", {}], ["a b", {}]].map(([name, schema]) => ({ name, in: "query", schema }));
  const { properties } = only(openapi({ "/a": { get: { parameters } } })).input_schema;
  assert.deepEqual(properties, { gr_e: { description: "How large. The service calls it größe." }, parameter: { description: "The service calls it 日本." }, a_b: {} });
  const sizes = ["page[size]", "page_size", "page size"].map((name) => ({ name, in: "query", description: "A size", schema: {} }));
  assert.deepEqual(Object.values(only(openapi({ "/a": { get: { parameters: sizes } } })).input_schema.properties).map(({ description }) => description), ["A size. The service calls it page[size].", "A size. The service calls it page_size.", "A size. The service calls it page size."]);
});

test("a path is written as an address, and a parameter only once", () => {
  for (const [path, expected] of [
    ["/a|b/ü/{na-me}.json", "/a%7Cb/%C3%BC/{na-me}.json"],
    ["/files/{id}#share", "/files/{id}"],
    ["/files/{id}?action=share", "/files/{id}"],
    ["/\ud800", "/%EF%BF%BD"],
  ]) {
    assert.equal(only(openapi({ [path]: { get: {} } })).http.path, expected);
  }
  const header = (name) => ({ name, in: "header", schema: { type: "string" } });
  const parameters = [header("X-A"), header("x-a"), header("X-Key"), header("Forwarded"), { name: "key", in: "query", schema: {} }];
  const securitySchemes = { key: { type: "apiKey", in: "header", name: "x-key" }, host: { type: "apiKey", in: "header", name: "Host" } };
  const read = (name) => imported(openapi({ "/a": { get: { operationId: "a", parameters, security: [{ [name]: [] }] } } }, { components: { securitySchemes } }));
  const { tools, notes } = read("key");
  assert.deepEqual(Object.keys(tools.A.input_schema.properties), ["X-A", "key"]);
  assert.deepEqual(notes, [["has the place and the name of an earlier parameter: it is left out", ["#/paths/~1a/get/parameters/1"]]]);
  assert.deepEqual(read("host").left.map(({ reason }) => reason), ["security of the kind apiKey in header is not supported"]);
});

test("a path with a query", () => {
  const parameter = (name, place, rest) => ({ name, in: place, required: true, schema: { type: "string" }, ...rest });
  for (const [path, parameters, expected] of [
    ["/a?op=list&x", [], { path: "/a", query: { op: "list", x: "" } }],
    ["/a?a%20b=c%2Fd+e#f", [], { path: "/a", query: { "a b": "c/d e" } }],
    ["/a/{id}?v=1", [parameter("id", "path"), parameter("v", "query")], { path: "/a/{id}", query: { v: "1" }, parameters: [{ property: "id", in: "path", name: "id" }] }],
    ["/a?lat={lat}", [parameter("lat", "query", { schema: { type: "number" } })], { path: "/a", parameters: [{ property: "lat", in: "query", name: "lat" }] }],
    ["/a?q={query}", [parameter("query", "path")], { path: "/a", parameters: [{ property: "q", in: "query", name: "q" }] }],
    ["/a?q={query}", [], { path: "/a", parameters: [{ property: "q", in: "query", name: "q" }] }],
  ]) {
    const { input_schema, http } = only(openapi({ [path]: { get: { operationId: "a", parameters } } }));
    const { method, base, retry, ...rest } = http;
    assert.deepEqual(rest, expected, path);
    assert.deepEqual(input_schema.required ?? [], (expected.parameters ?? []).map(({ property }) => property), path);
  }
  for (const path of ["/a?{name}=1", "/a?x=a{b}", "/a?x=1&x=2", "/a?=1"]) {
    const { left } = imported(openapi({ [path]: { get: {} } }));
    assert.deepEqual(left.map(({ reason }) => reason), ["the query of the path is not valid: expected fields with values or {names}"], path);
  }
});

test("base addresses", () => {
  const documented = (servers) => [...imported(openapi({ "/a": { get: {} } }, { servers })).servers.variables];
  for (const [servers, address] of [
    [[{ url: "https://{region}.pets.example/", variables: { region: { default: "eu" } } }], "https://eu.pets.example"],
    [[{ url: "https://{region}.pets.example:{port}/", variables: { region: { default: "eu" }, port: { default: 8443 } } }], "https://eu.pets.example:8443"],
    [[{ url: "https://{tenant}.pets.example" }], undefined],
    [[{ url: "/v1" }], undefined],
    [undefined, undefined],
    [[{ url: "http://pets.example" }], undefined],
    [[{ url: "https://localhost:8080" }], undefined],
    [[{ url: "https://169.254.169.254/latest" }], undefined],
    [[{ url: "https://[::1]/" }], undefined],
    [[{ url: "https://metadata.internal" }], undefined],
    [[{ url: "https://user:secret@pets.example" }], undefined],
    [[{ url: "javascript:alert(1)" }], undefined],
  ]) {
    assert.deepEqual(documented(servers), [["PETS_URL", { kind: "base", ...(address && { default: address }) }]], JSON.stringify(servers));
  }
  const paths = { "/a": { get: { operationId: "a" } }, "/b": { servers: [{ url: "https://files.pets.example" }], get: { operationId: "b" } } };
  const { tools, servers } = imported(openapi(paths));
  assert.deepEqual([tools.A.http.base, tools.B.http.base], ["PETS_URL", "PETS_FILES_URL"]);
  assert.deepEqual([...servers.variables.keys()], ["PETS_URL", "PETS_FILES_URL"]);
});

test("pages", () => {
  const response = (rest) => ({ responses: { 200: { description: "", ...rest } } });
  const schema = { properties: { next_cursor: { type: "string" } } };
  const cursor = { name: "cursor", in: "query", schema: { type: "string" } };
  const answer = (schema, name = "cursor") => ({ parameters: [{ ...cursor, name }], ...response({ content: { "application/json": { schema } } }) });
  for (const [operation, pagination] of [
    [response({ headers: { Link: {} } }), { link: true }],
    [{ parameters: [cursor], ...response({ content: { "application/json": { schema } } }) }, { cursor: "next_cursor", parameter: "cursor" }],
    [{ parameters: [cursor], ...response({ content: { "application/json": { schema: { properties: { data: { type: "array" }, meta: { type: "object", properties: { page: schema } } } } } } }) }, { cursor: "meta.page.next_cursor", parameter: "cursor" }],
    [{ parameters: [cursor], ...response({ content: { "application/json": { schema: { properties: { "a.b": schema } } } } }) }, undefined],
    [response({ content: { "application/json": { schema } } }), undefined],
    [answer({ allOf: [{ type: "object" }, { allOf: [schema] }] }), { cursor: "next_cursor", parameter: "cursor" }],
    [answer({ anyOf: [schema, { type: "null" }] }), { cursor: "next_cursor", parameter: "cursor" }],
    [answer({ properties: { paging: { allOf: [schema] } } }), { cursor: "paging.next_cursor", parameter: "cursor" }],
    [answer({ properties: { cursor: { type: "string" } } }), { cursor: "cursor", parameter: "cursor" }],
    [answer({ properties: { cursor: { type: "string" }, ...schema.properties } }), { cursor: "next_cursor", parameter: "cursor" }],
    [answer({ properties: { cursor: { type: "object" }, next: { type: "string", format: "uri" } } }), undefined],
    [answer(schema, "start_cursor"), { cursor: "next_cursor", parameter: "start_cursor" }],
    [answer({ properties: { meta: { properties: { next_token: {} } } } }, "pagination_token"), { cursor: "meta.next_token", parameter: "pagination_token" }],
    [answer({ properties: { paging: { properties: { next: { properties: { after: {} } } } } } }, "after"), { cursor: "paging.next.after", parameter: "after" }],
    [answer({ properties: { after: { type: "string" } } }, "after"), undefined],
    [answer({ properties: { NextToken: { type: "string" } } }, "next-token"), { cursor: "NextToken", parameter: "next-token" }],
    [answer({ $ref: "#/components/schemas/None" }), undefined],
    [{ parameters: [cursor], ...response({ content: { "application/json": { $ref: "#/components/mediaTypes/None" } } }) }, undefined],
  ]) {
    assert.deepEqual(only(openapi({ "/a": { get: operation } })).http.pagination, pagination, JSON.stringify(operation));
  }
  // Searches of Square and Notion have the cursor in the body.
  const requestBody = { content: { "application/json": { schema: { type: "object", properties: { start_cursor: { type: "string" }, query: {} } } } } };
  assert.deepEqual(only(openapi({ "/a": { post: { requestBody, ...answer(schema, "other") } } })).http.pagination, { cursor: "next_cursor", parameter: "start_cursor" });
});

test("--include selects tags, operationIds and paths", () => {
  const paths = { "/pets": { get: { operationId: "pets/list", tags: ["pets"] } }, "/pets/{id}": { get: { operationId: "pets/get", tags: ["pets"] } }, "/petshop": { get: { operationId: "shop" } } };
  for (const [include, tools, unknown] of [
    [[], ["PetsList", "PetsGet", "Shop"], []],
    [["pets"], ["PetsList", "PetsGet"], []],
    [["pets/get", "shop"], ["PetsGet", "Shop"], []],
    [["/pets"], ["PetsList", "PetsGet"], []],
    [["/pets/", "cats"], ["PetsGet"], ["cats"]],
  ]) {
    const found = imported(openapi(paths), { include });
    assert.deepEqual([Object.keys(found.tools), found.unknown], [tools, unknown]);
  }
});
