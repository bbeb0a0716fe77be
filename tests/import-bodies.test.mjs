// `toolbooth import`: bodies with files, with members of any name, with members that only answers have, and those that may be absent.
import assert from "node:assert/strict";
import { test } from "node:test";
import Ajv2020 from "ajv/dist/2020.js";
import { imported, only, openapi } from "./support/import.mjs";

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
const text = { type: "string" };
const file = { type: "string", format: "binary" };
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const FILE = { name: "a.png", type: "image/png", data: "iVBORw==" };

/** The tool of an operation with a body. */
function toolOf(content, { schemas = {}, version = "3.1.0", required = true } = {}) {
  return only({ ...openapi({ "/a": { post: { operationId: "a", requestBody: { ...(required && { required }), content } } } }, { components: { schemas } }), openapi: version });
}
const json = (schema) => ({ "application/json": { schema } });
const isValid = (tool, input) => ajv.compile(tool.input_schema)(input);

test("a part of a form is a file in whatever way the document says so", () => {
  const schemas = { Upload: { ...file, description: "An upload." }, Alias: ref("Upload"), Maybe: { anyOf: [ref("Upload"), { type: "null" }] }, Text: text };
  const old = "3.0.3";
  for (const [property, valid, invalid, { encoding, version } = {}] of [
    [file, [FILE], ["text", null]],
    [{ ...file, nullable: true }, [FILE, null], ["text"], { version: old }],
    [{ type: ["string", "null"], format: "binary" }, [FILE, null], ["text"]],
    [{ anyOf: [file, { type: "null" }] }, [FILE, null], ["text"]],
    [{ oneOf: [file, { type: "array", items: file }] }, [FILE, [FILE]], ["text", ["text"]]],
    [{ anyOf: [{ type: "array", items: file }, { type: "null" }] }, [[FILE], null], [FILE]],
    [{ oneOf: [file, { type: "string", format: "uri" }] }, [FILE, "https://pets.example/a.png"], [3]],
    [{ allOf: [file] }, [FILE], ["text"], { version: old }],
    [{ allOf: [text, { format: "binary" }], description: "A picture." }, [FILE], ["text"]],
    [{ allOf: [ref("Upload")], nullable: true }, [FILE, null], ["text"], { version: old }],
    [ref("Upload"), [FILE], ["text"]],
    [ref("Alias"), [FILE], ["text"]],
    [ref("Maybe"), [FILE, null], ["text"]],
    [{ type: "array", items: ref("Alias") }, [[FILE]], [["text"]]],
    [{ type: "string", contentMediaType: "image/png" }, [FILE], ["text"]],
    [{ contentMediaType: "application/octet-stream" }, [FILE], ["text"]],
    [{ type: "array", items: { contentMediaType: "application/pdf" } }, [[FILE]], [["text"]]],
    [text, [FILE], ["text"], { encoding: { contentType: "image/png, image/*" } }],
    [{}, [FILE], ["text"], { encoding: { contentType: "application/pdf" } }],
    [{ type: "array", items: text }, [[FILE]], [["text"]], { encoding: { contentType: "image/png" } }],
    [text, ["text"], [FILE], { encoding: { contentType: "application/json" } }],
    [{ type: "string", contentMediaType: "text/csv" }, ["text"], [FILE]],
    [{ type: "string", contentMediaType: "image/png", contentEncoding: "base64" }, ["text"], [FILE]],
    [{ type: "string", format: "byte" }, ["text"], [FILE]],
    [{ anyOf: [text, { type: "null" }] }, ["text", null], [FILE]],
    [{ type: "object", properties: { title: text } }, [{ title: "a" }], ["text"]],
  ]) {
    const tool = toolOf({ "multipart/form-data": { schema: { type: "object", properties: { it: property } }, ...(encoding && { encoding: { it: encoding } }) } }, { schemas, version });
    assert.equal(tool.http.body.type, "multipart");
    for (const value of valid) assert.ok(isValid(tool, { it: value }), `${JSON.stringify(property)}: ${JSON.stringify(value)} ${JSON.stringify(tool.input_schema)}`);
    for (const value of invalid) assert.ok(!isValid(tool, { it: value }), `${JSON.stringify(property)}: ${JSON.stringify(value)} ${JSON.stringify(tool.input_schema)}`);
  }
  const { input_schema } = toolOf({ "multipart/form-data": { schema: { allOf: [{ properties: { it: file } }, { properties: { other: schemas.Maybe } }] } } }, { schemas });
  assert.deepEqual(Object.values(input_schema.properties).map(({ description }) => description), ["A file.", "A file."]);
});

test("an object with a file becomes parts", () => {
  const owner = { type: "object", required: ["photo"], properties: { photo: file, address: { type: "object", properties: { plan: { anyOf: [file, { type: "null" }] }, city: text } } } };
  const { http, input_schema } = toolOf({ "multipart/form-data": { schema: { type: "object", required: ["owner"], properties: { owner, note: text } } } });
  assert.deepEqual(http.body.properties, { note: "note", owner_photo: "owner[photo]", owner_address_plan: "owner[address][plan]", owner_address_city: "owner[address][city]" });
  assert.deepEqual(input_schema.required, ["owner_photo"]);
  assert.ok(ajv.validate(input_schema, { owner_photo: FILE, owner_address_plan: FILE, owner_address_city: "x" }));
  const list = { type: "array", items: { type: "object", properties: { photo: file } } };
  const { notes } = imported(openapi({ "/a": { post: { requestBody: { content: { "multipart/form-data": { schema: { type: "object", properties: { list } } } } } } } }));
  assert.deepEqual(notes.map(([reason]) => reason), ["is a list of objects with files in a form: the files are sent as texts"]);
});

test("a body with a file is a form with parts, if there is one", () => {
  const schema = { type: "object", properties: { it: file } };
  for (const [types, type] of [
    [["application/json", "multipart/form-data"], "multipart"],
    [["application/x-www-form-urlencoded", "multipart/form-data"], "multipart"],
    [["application/json"], "json"],
    [["application/x-www-form-urlencoded"], "form"],
  ]) {
    const tool = toolOf(Object.fromEntries(types.map((one) => [one, { schema }])));
    assert.equal(tool.http.body.type, type, `${types}`);
    assert.equal(isValid(tool, { it: FILE }), type === "multipart", `${types}`);
  }
  const parameters = (item) => [{ name: "f", in: "formData", ...item }];
  for (const item of [{ type: "file" }, { type: "array", items: { type: "file" } }, { type: "string", format: "binary" }]) {
    const document = { swagger: "2.0", info: { title: "Pets" }, host: "pets.example", paths: { "/a": { post: { consumes: ["application/x-www-form-urlencoded", "multipart/form-data"], parameters: parameters(item) } } } };
    const tool = only(document);
    assert.equal(tool.http.body.type, "multipart", JSON.stringify(item));
    assert.ok(isValid(tool, { f: item.type === "array" ? [FILE] : FILE }), JSON.stringify(item));
  }
});

test("a body takes the members that it allows", () => {
  const object = (rest) => ({ type: "object", required: ["name"], properties: { name: text }, ...rest });
  const schemas = { Open: object({ additionalProperties: true }), Closed: object({ additionalProperties: false }), Alias: ref("Open") };
  for (const [name, schema, whole, more = 1] of [
    ["true", object({ additionalProperties: true }), "body"],
    ["an empty schema", object({ additionalProperties: {} }), "body"],
    ["a description", object({ additionalProperties: { description: "Any." } }), "body"],
    ["a type", object({ additionalProperties: text }), "body", "x"],
    ["a reference", ref("Alias"), "body"],
    ["a part", { allOf: [ref("Open"), { properties: { other: text } }] }, "body"],
    ["unevaluated members", object({ unevaluatedProperties: true }), "body"],
    ["named patterns", object({ patternProperties: { "^x": {} } }), "body"],
    ["nothing", object({}), undefined],
    ["false", ref("Closed"), undefined],
  ]) {
    const tool = toolOf(json(schema), { schemas });
    assert.equal(tool.http.body.whole, whole, name);
    const given = { name: "a", color: more };
    assert.equal(isValid(tool, whole ? { [whole]: given } : given), whole !== undefined, name);
    const { color: _, ...rest } = given;
    assert.ok(isValid(tool, whole ? { [whole]: rest } : rest), name);
  }
  for (const [type, kind] of [["application/x-www-form-urlencoded", "form"], ["multipart/form-data", "multipart"]]) {
    const tool = toolOf({ [type]: { schema: object({ additionalProperties: true, properties: { name: text, tags: { type: "array", items: text } } }), encoding: { tags: { explode: false } } } });
    assert.deepEqual([tool.http.body.type, tool.http.body.whole], [kind, "body"]);
    assert.deepEqual(tool.http.body.encoding, kind === "form" ? { tags: { explode: false } } : tool.http.body.encoding);
    assert.ok(isValid(tool, { body: { name: "a", color: "red" } }));
  }
});

test("members that only answers have are left out, and not required", () => {
  const schemas = {
    Id: { type: "string", readOnly: true },
    Alias: ref("Id"),
    Base: { type: "object", required: ["id", "name"], properties: { id: { type: "string", readOnly: true }, name: text } },
  };
  const object = (it, rest = {}) => ({ type: "object", required: ["it", "name"], properties: { it, name: text }, ...rest });
  for (const [schema, version = "3.1.0"] of [
    [object({ type: "string", readOnly: true })],
    [object(ref("Id")), "3.0.3"],
    [object(ref("Alias"))],
    [object({ allOf: [ref("Id")] }), "3.0.3"],
    [object({ allOf: [{ allOf: [ref("Id"), { description: "An id." }] }] })],
    [object({ anyOf: [ref("Id"), { type: "null" }] })],
    [{ allOf: [{ required: ["it", "name"], properties: { name: text } }, { properties: { it: { readOnly: true } } }] }],
    [{ allOf: [object({ readOnly: true, type: "string" }), { properties: { it: { description: "Again." } } }] }],
    [{ ...ref("Base") }],
    [{ allOf: [ref("Base"), { required: ["id"] }] }],
    [object(ref("Id"), { anyOf: [{ required: ["it"] }, { required: ["name"] }] })],
  ]) {
    const tool = toolOf(json(schema), { schemas, version });
    assert.deepEqual(Object.keys(tool.input_schema.properties), ["name"], JSON.stringify(schema));
    assert.deepEqual(tool.input_schema.required, ["name"], JSON.stringify(schema));
    assert.doesNotMatch(JSON.stringify(tool), /readOnly/);
  }
  const deep = toolOf(json({ type: "object", properties: { list: { type: "array", items: object(ref("Id")) }, map: { type: "object", additionalProperties: ref("Base") }, kept: { ...ref("Id"), readOnly: false } } }), { schemas });
  assert.ok(isValid(deep, { list: [{ name: "a" }], map: { a: { name: "a" } }, kept: "x" }));
  assert.deepEqual(Object.keys(deep.input_schema.properties), ["list", "map", "kept"]);
});

test("a body that may be absent has what it requires, if any of it is given", () => {
  const schema = { type: "object", required: ["a", "b"], properties: { a: { ...text, description: "An a" }, b: text, c: text } };
  const tool = toolOf(json(schema), { required: false });
  for (const [input, expected] of [[{}, true], [{ a: "1", b: "2" }, true], [{ a: "1", b: "2", c: "3" }, true], [{ c: "3" }, false], [{ a: "1" }, false], [{ b: "2", c: "3" }, false]]) {
    assert.equal(isValid(tool, input), expected, JSON.stringify(input));
  }
  assert.deepEqual(Object.values(tool.input_schema.properties).map(({ description }) => description), ["An a. Required if any part of the body is given.", "Required if any part of the body is given.", undefined]);
  assert.equal(toolOf(json(schema)).input_schema.dependentRequired, undefined);
  const single = toolOf(json({ type: "object", required: ["a"], properties: { a: text } }), { required: false });
  assert.deepEqual([single.input_schema.dependentRequired, single.input_schema.properties.a], [undefined, text]);
  // A parameter is no part of the body.
  const parameters = [{ name: "q", in: "query", schema: text }];
  const other = only(openapi({ "/a": { post: { parameters, requestBody: { content: json(schema) } } } }));
  assert.ok(ajv.validate(other.input_schema, { q: "1" }));
});

test("OpenAPI 3.2", () => {
  const Thing = { schema: { type: "object", required: ["n"], properties: { n: text } } };
  const body = (content) => ({ operationId: "a", requestBody: { required: true, content } });
  const document = (path, rest = {}) => ({ ...openapi({ "/a": path }, { components: { mediaTypes: { Thing, Alias: { $ref: "#/components/mediaTypes/Thing" } } } }), openapi: "3.2.0", ...rest });
  for (const reference of ["#/components/mediaTypes/Thing", "#/components/mediaTypes/Alias", "https://pets.example/api.json#/components/mediaTypes/Thing"]) {
    const tool = only(document({ post: body({ "application/json": { $ref: reference } }) }, { $self: "https://pets.example/api.json" }));
    assert.deepEqual([isValid(tool, { n: "x" }), isValid(tool, {})], [true, false], reference);
  }
  const filter = only(document({ get: { operationId: "a", parameters: [{ name: "f", in: "query", content: { "application/json": { $ref: "#/components/mediaTypes/Thing" } } }] } }));
  assert.deepEqual(filter.input_schema.properties.f.required, ["n"]);
  const { notes } = imported(document({ post: body({ "application/jsonl": { itemSchema: text } }) }));
  assert.deepEqual(notes.map(([reason]) => reason), ["has itemSchema, which is not described"]);
  const { left, tools } = imported(document({ query: body({}), additionalOperations: { COPY: body({}), "X-OTHER": body({}), "x-note": {} }, get: { operationId: "a" } }));
  assert.deepEqual(left.map(({ operation, reason }) => `${operation}: ${reason}`), ["QUERY /a: the method QUERY is not supported", "COPY /a: the method COPY is not supported", "X-OTHER /a: the method X-OTHER is not supported"]);
  assert.deepEqual(Object.keys(tools), ["A"]);
});
