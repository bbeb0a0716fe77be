// `toolbooth import --slim`: large tools are made smaller, and still take every input that they took.
import assert from "node:assert/strict";
import { test } from "node:test";
import Ajv2020 from "ajv/dist/2020.js";
import { samples } from "../packages/toolbooth/src/import/samples.js";
import { LARGE, sizeOf, slim } from "../packages/toolbooth/src/import/slim.js";
import { only, openapi } from "./support/import.mjs";

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
const long = (name) => `The ${name} of it. ${"And more about it, which helps those who read. ".repeat(8)}`;
const text = (name) => ({ type: "string", description: long(name), examples: ["x".repeat(50)] });
const named = (count, of, from = 0) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at + from}`, of(at)]));

test("a small input stays as it is", () => {
  const schema = { type: "object", properties: { a: text("a") }, additionalProperties: false };
  assert.equal(slim(schema, LARGE), schema);
});

test("descriptions that are deep are shortened first, then what is optional and deep is cut", () => {
  const deep = { type: "object", required: ["kind"], properties: { kind: text("kind"), ...named(6, () => ({ type: "object", description: long("part"), properties: named(4, () => text("leaf")) })) } };
  const schema = {
    type: "object",
    properties: { name: text("name"), list: { type: "array", description: long("list"), items: { $ref: "#/$defs/Deep" } }, either: { oneOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }] } },
    required: ["name"],
    additionalProperties: false,
    $defs: { Deep: deep, A: { type: "object", required: ["t"], properties: { t: { const: "a" }, deep: { $ref: "#/$defs/Deep" } } }, B: { type: "object", required: ["t"], properties: { t: { const: "b" }, deep: { $ref: "#/$defs/Deep" } } } },
  };
  const all = ajv.compile(schema);
  const whole = JSON.stringify(schema).length;
  let before = whole + 1;
  for (const limit of [whole, 14_000, 9_000, 5_000, 3_000, 1_500, 800]) {
    const small = slim(schema, limit);
    const size = JSON.stringify(small).length;
    assert.ok(size <= limit && size <= before, `${limit}: ${size}`);
    before = size;
    const isValid = ajv.compile(small);
    for (const one of [...samples(schema), { name: "a", either: { t: "b" } }, { name: "a", list: [{ kind: "k", m0: { m1: "x" } }] }]) {
      assert.ok(all(one));
      assert.ok(isValid(one), `${limit}: ${JSON.stringify(one)} ${ajv.errorsText(isValid.errors)}`);
    }
    for (const one of [{}, { name: "a", other: 1 }, { name: 3 }, { name: "a", list: "x" }]) assert.ok(!isValid(one), `${limit}: ${JSON.stringify(one)}`);
    // The input's own members keep their descriptions as long as anything else can go.
    if (limit >= 1_500) assert.equal(small.properties.name.description, long("name"));
  }
  assert.match(slim(schema, 9_000).$defs.Deep.properties.kind.description, /^The kind of it\.$/);
  assert.match(JSON.stringify(slim(schema, 1_500)), /Its parts are not described\./);
});

test("a file stays a file", () => {
  const content = { "multipart/form-data": { schema: { type: "object", properties: { file: { type: "string", format: "binary" }, ...named(20, (at) => ({ type: "object", description: long(`part ${at}`), properties: named(8, () => text("leaf")) })) } } } };
  const { input_schema } = only(openapi({ "/a": { post: { requestBody: { required: true, content } } } }));
  for (const limit of [LARGE, 100]) assert.deepEqual(Object.keys(slim(input_schema, limit).properties.file.properties), ["name", "type", "data"], `${limit}`);
});

test("--slim changes large tools only", () => {
  const operation = (properties) => ({ post: { requestBody: { required: true, content: { "application/json": { schema: { type: "object", properties } } } } } });
  const large = named(10, () => ({ type: "object", properties: named(8, (at) => text(`member ${at}`)) }));
  for (const [properties, isChanged] of [[{ a: text("a") }, false], [large, true]]) {
    const [full, small] = [false, true].map((isSlim) => only(openapi({ "/a": operation(properties) }), { isSlim }));
    assert.equal(sizeOf(full) > LARGE, isChanged);
    assert.ok(sizeOf(small) <= LARGE);
    assert.equal(JSON.stringify(small) !== JSON.stringify(full), isChanged);
  }
});
