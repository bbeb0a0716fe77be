// `toolbooth import`: schemas with a discriminator, and the proof that every schema has a value.
import assert from "node:assert/strict";
import { test } from "node:test";
import Ajv2020 from "ajv/dist/2020.js";
import { isSafe, textsOf } from "../packages/toolbooth/src/import/patterns.js";
import { samples } from "../packages/toolbooth/src/import/samples.js";
import { imported, openapi } from "./support/import.mjs";

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" };
const body = (schema) => ({ post: { operationId: "a", requestBody: { required: true, content: { "application/json": { schema: { type: "object", required: ["it"], properties: { it: schema } } } } } } });

/** The tool of a document whose operation takes `it`. `read`: other options of the document. */
function toolOf(schema, schemas, { version = "3.1.0" } = {}) {
  const document = version === "2.0"
    ? { swagger: "2.0", info: { title: "Pets" }, host: "pets.example", paths: { "/a": { post: { operationId: "a", parameters: [{ name: "b", in: "body", required: true, schema: { type: "object", required: ["it"], properties: { it: schema } } }] } } }, definitions: schemas }
    : { ...openapi({ "/a": body(schema) }, { components: { schemas } }), openapi: version };
  const { tools, left, notes } = imported(document);
  assert.deepEqual(left, []);
  return { input: tools.A.input_schema, notes };
}

test("a discriminator is a hint: what a kind allows decides, then the mapping, then its name", () => {
  const object = (properties, rest = {}) => ({ type: "object", properties, ...rest });
  const kind = (values, more = {}) => object({ kind: { type: "string", enum: values }, ...more }, { required: ["kind"] });
  const either = (names, discriminator, keyword = "oneOf") => ({ [keyword]: names.map(ref), discriminator: { propertyName: "kind", ...discriminator } });
  const part = (base, properties = {}, rest = {}) => ({ allOf: [ref(base), object(properties)], ...rest });
  const base = (rest = {}) => object({ kind: text }, { required: ["kind"], discriminator: { propertyName: "kind" }, ...rest });
  const swagger = (definitions) => JSON.parse(JSON.stringify(definitions).replaceAll("#/components/schemas/", "#/definitions/"));
  const free = object({ kind: text, n: { type: "integer" } }, { required: ["kind"] });
  const plain = { Lorry: free, Boat: object({ kind: text, deep: { type: "integer" } }, { required: ["kind"] }) };
  for (const [name, schema, schemas, valid, invalid, options] of [
    ["its own enum", either(["A", "B"]), { A: kind(["a"]), B: kind(["b", "c"]) }, ["a", "b", "c"], ["A", "B", "d"]],
    ["its own const", either(["A", "B"]), { A: object({ kind: { const: "a" } }, { required: ["kind"] }), B: object({ kind: { const: "b" } }, { required: ["kind"] }) }, ["a", "b"], ["A"]],
    ["its own enum, in a part", either(["A", "B"]), { A: { allOf: [ref("C"), object({ n: text })] }, B: kind(["b"]), C: kind(["c"]) }, ["c", "b"], ["A", "C"]],
    ["its own enum, behind a reference", either(["A", "B"]), { A: object({ kind: ref("Value") }, { required: ["kind"] }), B: kind(["b"]), Value: { type: "string", enum: ["v", "w"] } }, ["v", "w", "b"], ["A"]],
    ["its own enum, and a mapping of a part of it", either(["A", "B"], { mapping: { a: "A", b: "B" } }), { A: kind(["a", "x"]), B: kind(["b"]) }, ["a", "x", "b"], ["A"]],
    ["its own enum, and a mapping that contradicts it", either(["A", "B"], { mapping: { z: "A" } }), { A: kind(["a"]), B: kind(["b"]) }, ["a", "b"], ["z"]],
    ["a mapping for one", either(["Lorry", "Boat"], { mapping: { lorry: "#/components/schemas/Lorry" } }), plain, ["lorry", "Boat"], ["Lorry", "boat"]],
    ["two values for one", either(["Lorry", "Boat"], { mapping: { lorry: "Lorry", truck: "Lorry" } }, "anyOf"), plain, ["lorry", "truck", "Boat"], ["Lorry"]],
    ["the name", either(["Lorry", "Boat"]), plain, ["Lorry", "Boat"], ["lorry"]],
    ["a mapping to a file", either(["Lorry", "Boat"], { mapping: { lorry: "./document.json#/components/schemas/Lorry", boat: "document.json#/components/schemas/Boat" } }), plain, ["lorry", "boat"], ["Lorry"]],
    ["a mapping to an address that is not read", either(["Lorry", "Boat"], { mapping: { lorry: "https://pets.example/api.json#/components/schemas/Lorry" } }), plain, ["lorry", "Boat"], ["Lorry"]],
    ["a mapping to an alias", either(["Lorry", "Boat"], { mapping: { lorry: "Truck" } }), { ...plain, Truck: ref("Lorry") }, ["lorry", "Boat"], ["Lorry"]],
    ["an alias in the list", either(["Truck", "Boat"], { mapping: { lorry: "Lorry" } }), { ...plain, Truck: ref("Lorry") }, ["lorry", "Boat"], ["Truck"]],
    ["an alias in an allOf", either(["Truck", "Boat"], { mapping: { lorry: "Lorry" } }), { ...plain, Truck: { allOf: [ref("Lorry")] } }, ["lorry", "Boat"], ["Truck"]],
    ["a list of names instead of a mapping", either(["A", "B"], { mapping: ["A", "B"] }), { A: kind(["a"]), B: kind(["b"]) }, ["a", "b"], ["0"]],
    ["what is not mapped", either(["Lorry", "Boat"], { mapping: { lorry: "Lorry" }, defaultMapping: "Boat" }), { ...plain, Boat: object({ kind: text }) }, ["lorry", "anything", undefined], [3], { version: "3.2.0" }],
    ["a number", either(["A", "B"], { mapping: { 1: "A", 2: "B" } }), { A: object({ kind: { type: "integer" } }), B: object({ kind: { type: "integer" } }) }, [1, 2], ["1", 3]],
    ["a type that no name has", either(["A", "B"]), { A: object({ kind: { type: "integer" } }), B: object({ kind: { type: "integer" } }) }, [1, 3], ["A"]],
    ["a kind without the property", either(["A", "B"]), { A: object({ n: text }, { additionalProperties: false }), B: kind(["b"]) }, ["b", undefined], ["A"]],
    ["a kind that may be null", either(["A", "B"]), { A: { ...kind(["a"]), type: ["object", "null"] }, B: { ...kind(["b"]), type: ["object", "null"] } }, ["a", "b", null], ["c"]],
    ["parts of a base", ref("Base"), { Base: base(), Cat: part("Base"), Dog: part("Base") }, ["Cat", "Dog"], ["Base", "cat"]],
    ["parts of a base with a mapping for one", ref("Base"), { Base: base({ discriminator: { propertyName: "kind", mapping: { cat: "Cat" } } }), Cat: part("Base"), Dog: part("Base") }, ["cat", "Dog"], ["Cat"]],
    ["several levels", ref("Base"), { Base: base(), Cat: part("Base"), Lion: part("Cat"), King: part("Lion") }, ["Cat", "Lion", "King"], ["Base"]],
    ["a level with a discriminator of its own", ref("Base"), { Base: base(), Cat: part("Base", { size: text }, { discriminator: { propertyName: "kind" } }), Lion: part("Cat"), Dog: part("Base") }, ["Lion", "Dog"], ["Base"]],
    ["parts that have nothing else", ref("Base"), { Base: base({ properties: { kind: text, n: { type: "integer" } } }), Cat: { allOf: [ref("Base")] } }, ["Cat"], ["Base"]],
    ["one of the parts", ref("Cat"), { Base: base(), Cat: { allOf: [ref("Base")] }, Dog: part("Base") }, ["Cat", "x"], [3]],
    ["a base that is described", { allOf: [ref("Base")], description: "A pet." }, { Base: base(), Cat: { allOf: [ref("Base")] }, Dog: part("Base") }, ["Cat", "Dog"], ["Base"]],
    ["the base is a kind", ref("Base"), { Base: base({ discriminator: { propertyName: "kind", mapping: { base: "Base", cat: "Cat" } } }), Cat: part("Base") }, ["base", "cat"], ["Base", "Cat"]],
    ["the base allows more", ref("Base"), { Base: base({ properties: { kind: { type: "string", enum: ["Cat", "none"] } } }), Cat: part("Base") }, ["Cat", "none"], ["Base"]],
    ["values in the kinds", ref("Base"), { Base: base({ properties: { kind: { type: "string", enum: ["c", "d"] } } }), Cat: part("Base", {}, { "x-ms-discriminator-value": "c" }), Dog: part("Base", {}, { "x-ms-discriminator-value": "d" }) }, ["c", "d"], ["Cat"]],
    ["values in the kinds and the base, Swagger 2", { $ref: "#/definitions/Base" }, swagger({ Base: base({ discriminator: "kind", "x-ms-discriminator-value": "b" }), Cat: part("Base", {}, { "x-ms-discriminator-value": "c" }) }), ["b", "c"], ["Cat", "Base"], { version: "2.0" }],
    ["names that do not fit what the base allows", ref("Base"), { Base: base({ properties: { kind: { type: "string", enum: ["c", "d"] } } }), Cat: part("Base"), Dog: part("Base") }, ["c", "d"], ["Cat"]],
  ]) {
    const { input, notes } = toolOf(schema, schemas, options);
    const isValid = ajv.compile(input);
    const value = (one) => ({ it: one === null ? null : one === undefined ? {} : { kind: one } });
    for (const one of valid) assert.ok(isValid(value(one)), `${name}: ${JSON.stringify(one)} in ${JSON.stringify(input)}`);
    for (const one of invalid) assert.ok(!isValid(value(one)), `${name}: ${JSON.stringify(one)} in ${JSON.stringify(input)}`);
    assert.deepEqual(notes, [], name);
  }
});

test("where no value of a schema is found, a wider one takes its place, and is named", () => {
  const reason = "no value of a schema was found that fits all of it, so a wider one is used";
  for (const [name, schema, place, valid, schemas = {}] of [
    ["types that exclude each other", { allOf: [text, { type: "integer" }] }, "it", "a"],
    ["values that exclude each other", { allOf: [{ enum: ["a"] }, { enum: ["b"] }] }, "it", "b"],
    ["values longer than allowed", { type: "string", enum: ["long"], maxLength: 1 }, "it", "long"],
    ["a pattern that is none", { type: "string", pattern: "^ab$cd" }, "it", "x"],
    ["values that are no integers", { type: "integer", enum: ["0 (User)"] }, "it", 3],
    ["limits that exclude each other", { type: "integer", minimum: 3, maximum: 2 }, "it", 3],
    ["a closed object with other members", { type: "object", required: ["a"], additionalProperties: false, oneOf: [ref("A")] }, "it", { a: "x" }, { A: { type: "object", properties: { a: text } } }],
    ["a required member", { type: "object", required: ["a"], properties: { a: { type: "string", maxLength: 0, minLength: 1 } } }, "it.a", { a: "xx" }],
    ["an optional member", { type: "object", properties: { a: { allOf: [text, { type: "integer" }] } } }, "it.a", { a: "xx" }],
    ["an item", { type: "array", items: { type: "string", enum: ["aa"], minLength: 3 } }, "it[]", ["aa"]],
    ["a member of any name", { type: "object", additionalProperties: { type: "string", enum: ["aa"], minLength: 3 } }, "it.*", { x: "aa" }],
    ["one of two alternatives", { oneOf: [{ type: "string", enum: ["aa"], minLength: 3 }, { type: "integer" }] }, "it", "aa"],
    ["a definition", { oneOf: [ref("A"), ref("B")] }, "it", { a: "aa" }, { A: { type: "object", required: ["a"], properties: { a: text, b: { type: "object", properties: { c: { type: "integer", minimum: 3, maximum: 2 } } } } }, B: { type: "integer" } }],
  ]) {
    const { input, notes } = toolOf(schema, schemas);
    const [places] = notes.filter(([one]) => one === reason).map(([, all]) => all);
    assert.ok(places?.every((one) => one.startsWith(`#/paths/~1a/post ${place}`)), `${name}: ${JSON.stringify(notes)}`);
    assert.ok(ajv.validate(input, { it: valid }), `${name}: ${JSON.stringify(input)} ${ajv.errorsText()}`);
    assert.ok(!ajv.validate(input, {}), name);
    assert.ok(samples(input).some((one) => ajv.validate(input, one)), name);
  }
});

test("samples are valid", () => {
  for (const [name, schema, schemas] of [
    ["alternatives of which one fits", { type: "object", oneOf: [{ required: ["a"], properties: { b: false } }, { required: ["b"], properties: { a: false } }], properties: { a: text, b: text } }],
    ["null", { allOf: [{ anyOf: [text, { type: "null" }] }, { anyOf: [{ type: "integer" }, { type: "null" }] }] }],
    ["limits of numbers", { type: "array", minItems: 3, prefixItems: [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, { type: "integer", minimum: -5, maximum: -3, multipleOf: 2 }, { type: "number", multipleOf: 0.5, maximum: -0.25 }] }],
    ["unique items", { type: "array", items: { type: "integer", minimum: 1 }, minItems: 3, uniqueItems: true }],
    ["what it contains", { type: "array", contains: { const: 7 }, minContains: 2 }],
    ["members of any name", { type: "object", minProperties: 2, additionalProperties: { type: "integer" } }],
    ["members of named patterns", { type: "object", minProperties: 1, patternProperties: { "^x-[a-z]{3}$": { type: "integer" } }, additionalProperties: false }],
    ["dependent members", { type: "object", properties: { a: text, b: text, c: text }, required: ["a"], dependentRequired: { a: ["b"], b: ["c"] } }],
    ["a pattern", { type: "string", pattern: "^(?:AC|BD)[0-9a-f]{32}$", minLength: 34 }],
    ["a pattern and a length", { type: "string", pattern: "^[^\\s/]+$", minLength: 12, maxLength: 12 }],
    ["a pattern and a format", { type: "string", format: "uuid", pattern: "^[0-9A-F-]+$" }],
    ["a deep tree", ref("L0"), Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`L${at}`, { type: "object", required: ["a"], properties: { a: at < 19 ? ref(`L${at + 1}`) : { const: 1 } } }]))],
  ]) {
    const { input, notes } = toolOf(schema, schemas ?? {});
    assert.deepEqual(notes, [], name);
    assert.ok(samples(input).some((one) => ajv.validate(input, one)), `${name}: ${JSON.stringify(samples(input))}`);
  }
});

test("values of a list that are none are those of its items, and a literal of JavaScript is a pattern", () => {
  for (const [schema, expected] of [
    [{ type: "array", items: text, enum: ["a", "b"] }, { type: "array", items: { enum: ["a", "b"], type: "string" } }],
    [{ type: "array", enum: ["a"] }, { type: "array", items: { enum: ["a"] } }],
    [{ type: "array", items: text, enum: [["a"]] }, { type: "array", items: text, enum: [["a"]] }],
    [{ type: "string", pattern: "/^[a-z]+$/" }, { type: "string", pattern: "^[a-z]+$" }],
    [{ type: "string", pattern: "/a/b/" }, { type: "string", pattern: "/a/b/" }],
  ]) {
    const { input, notes } = toolOf(schema, {});
    assert.deepEqual([input.properties.it, notes], [expected, []]);
  }
  const { input, notes } = toolOf({ type: "string", pattern: "/^[a-z]+$/i" }, {});
  assert.deepEqual([input.properties.it, notes.length], [{ type: "string", description: "Pattern: /^[a-z]+$/i" }, 1]);
});

test("a pattern of a document does not run if it could take long", () => {
  for (const [pattern, expected] of [
    ["^[a-z]{2,9}$", true],
    ["^\\S+@\\S+$", true],
    ["^(?:a|b)$", true],
    ["^(\\S+\\s?)+$", false],
    ["^(a|a)*$", false],
    ["^(a?){20}$", false],
    ["\\S*\\S*\\S*x", false],
    ["(", false],
  ]) {
    assert.equal(isSafe(pattern), expected, pattern);
  }
  const start = performance.now();
  const { notes } = toolOf({ type: "object", properties: { a: { type: "string", pattern: "^(\\S+\\s?)+$", minLength: 200 }, b: { type: "object", minProperties: 1, patternProperties: { "^(x+x+)+y$": text }, additionalProperties: false } } }, {});
  assert.deepEqual(notes, []);
  assert.ok(performance.now() - start < 20_000);
  for (const pattern of ["^AC[0-9a-f]{32}$", "[^a]", "^\\d{4}-\\d\\d$", "x|y", "^$", "^a{0,3}b+$"]) {
    assert.ok([...textsOf(pattern)].every((one) => new RegExp(pattern, "u").test(one)), pattern);
  }
});
