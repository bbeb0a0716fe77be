// `toolbooth definition --from`: definitions from other drafts of JSON Schema, from MCP's tools/list, and from tools of model providers.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { definitionFrom, UNWRITTEN } from "../packages/toolbooth/src/convert/definition.js";
import { toolsOf } from "../packages/toolbooth/src/convert/forms.js";
import { sampleOf } from "../packages/toolbooth/src/convert/samples.js";
import { convertSchema } from "../packages/toolbooth/src/convert/schemas.js";
import { root, run } from "./support/commands.mjs";

const ajv = () => new Ajv({ strict: false, formats: { date: true, email: true, "date-time": true, uri: true }, validateFormats: false });
const DRAFT_7 = "http://json-schema.org/draft-07/schema#";
const OF_2020 = "is left out: the schema is now one of 2020-12";

/** A schema, what it becomes, and what is said about it: the place, and the text. */
const SCHEMAS = {
  "nothing to change": [
    { $schema: "https://json-schema.org/draft/2020-12/schema", $defs: { a: { type: "null" } }, properties: { $ref: { type: "string" }, nullable: { $ref: "#/$defs/a" }, c: { const: { items: [] }, default: { nullable: true } } }, "x-a": 1 },
    { $schema: "https://json-schema.org/draft/2020-12/schema", $defs: { a: { type: "null" } }, properties: { $ref: { type: "string" }, nullable: { $ref: "#/$defs/a" }, c: { const: { items: [] }, default: { nullable: true } } }, "x-a": 1 },
    [],
  ],
  definitions: [
    { $schema: DRAFT_7, definitions: { "a b": { type: "string" }, c: { $ref: "#/definitions/a%20b" } }, properties: { a: { $ref: "#/definitions/c" } } },
    { $defs: { "a b": { type: "string" }, c: { $ref: "#/$defs/a%20b" } }, properties: { a: { $ref: "#/$defs/c" } } },
    [["$schema", OF_2020], ["definitions", "is now $defs"], ["definitions.c.$ref", 'is now "#/$defs/a%20b"'], ["properties.a.$ref", 'is now "#/$defs/c"']],
  ],
  "definitions beside $defs": [
    { definitions: { a: { type: "string" } }, $defs: { b: { $ref: "#/definitions/a" } } },
    { $defs: { a: { type: "string" }, b: { $ref: "#/$defs/a" } } },
    [["definitions", "is now $defs"], ["$defs.b.$ref", 'is now "#/$defs/a"']],
  ],
  "definitions within a property": [
    { properties: { a: { definitions: { b: { type: "null" } }, $ref: "#/properties/a/definitions/b" } } },
    { properties: { a: { $defs: { b: { type: "null" } }, $ref: "#/properties/a/$defs/b" } } },
    [["properties.a.definitions", "is now $defs"], ["properties.a.$ref", 'is now "#/properties/a/$defs/b"']],
  ],
  "a recursive schema": [
    { $ref: "#/definitions/node", definitions: { node: { type: "object", properties: { next: { $ref: "#/definitions/node" }, all: { $ref: "#" } } } } },
    { $ref: "#/$defs/node", $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, all: { $ref: "#" } } } } },
    [["definitions", "is now $defs"], ["$ref", 'is now "#/$defs/node"'], ["definitions.node.properties.next.$ref", 'is now "#/$defs/node"']],
  ],
  "a tuple": [
    { items: [{ type: "string" }, { items: [true] }], additionalItems: { type: "number" }, properties: { a: { $ref: "#/items/1/items/0" }, b: { $ref: "#/additionalItems" } } },
    { prefixItems: [{ type: "string" }, { prefixItems: [true] }], items: { type: "number" }, properties: { a: { allOf: [true] }, b: { $ref: "#/items" } } },
    [["items[1].items", "is now prefixItems"], ["items", "is now prefixItems"], ["additionalItems", "is now items"], ["properties.a.$ref", "leads to true, which is now in allOf"], ["properties.b.$ref", 'is now "#/items"']],
  ],
  "a place in a tuple": [
    { items: [{ type: "string" }], contains: { $ref: "#/items/0" } },
    { prefixItems: [{ type: "string" }], contains: { $ref: "#/prefixItems/0" } },
    [["items", "is now prefixItems"], ["contains.$ref", 'is now "#/prefixItems/0"']],
  ],
  "additionalItems without a tuple": [{ items: { type: "string" }, additionalItems: false }, { items: { type: "string" } }, [["additionalItems", "is left out: it has no effect without a list of items"]]],
  nullable: [
    { properties: { a: { type: "string", nullable: true }, b: { type: ["string", "null"], nullable: true }, c: { type: "string", enum: ["x"], nullable: true }, d: { type: "string", nullable: false }, e: { nullable: true, description: "Any." }, f: { enum: ["x"], nullable: true }, g: { type: "object", "x-nullable": true } } },
    { properties: { a: { type: ["string", "null"] }, b: { type: ["string", "null"] }, c: { type: ["string", "null"], enum: ["x", null] }, d: { type: "string" }, e: { description: "Any." }, f: { enum: ["x", null] }, g: { type: ["object", "null"] } } },
    ["a", "b", "c", "g"].map((name) => [`properties.${name}`, 'has "null" in type instead of nullable']).toSpliced(3, 0, ["properties.f", "has null in enum instead of nullable"]),
  ],
  "nullable beside what rejects null": [
    { definitions: { a: { type: "string" } }, properties: { a: { $ref: "#/definitions/a", nullable: true, description: "A." }, b: { type: "object", allOf: [{ $ref: "#/properties/b/allOf/1" }, { properties: { x: {} } }], nullable: true }, c: { const: 1, nullable: true } } },
    {
      $defs: { a: { type: "string" } },
      properties: {
        a: { description: "A.", anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] },
        b: { anyOf: [{ type: "object", allOf: [{ $ref: "#/properties/b/anyOf/0/allOf/1" }, { properties: { x: {} } }] }, { type: "null" }] },
        c: { anyOf: [{ const: 1 }, { type: "null" }] },
      },
    },
    [["definitions", "is now $defs"], ...["a", "b", "c"].map((name) => [`properties.${name}`, 'is now one of anyOf, beside "type": "null", instead of nullable']), ["properties.a.$ref", 'is now "#/$defs/a"'], ["properties.b.allOf[0].$ref", 'is now "#/properties/b/anyOf/0/allOf/1"']],
  ],
  "keywords beside $ref": [
    { $schema: DRAFT_7, definitions: { a: { type: "string" } }, properties: { a: { $ref: "#/definitions/a", maxLength: 3, description: "A." } } },
    { $defs: { a: { type: "string" } }, properties: { a: { $ref: "#/$defs/a", description: "A." } } },
    [["$schema", OF_2020], ["definitions", "is now $defs"], ["properties.a.maxLength", "is left out: it stands beside $ref, where this draft ignores it"], ["properties.a.$ref", 'is now "#/$defs/a"']],
  ],
  "draft 4": [
    { $schema: "http://json-schema.org/draft-04/schema#", id: "http://a.example/s.json", properties: { a: { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false }, id: { type: "string" } }, definitions: { x: true }, additionalProperties: { $ref: "http://a.example/s.json#/definitions/x" } },
    { properties: { a: { exclusiveMinimum: 1, maximum: 3 }, id: { type: "string" } }, $defs: { x: true }, additionalProperties: { allOf: [true] } },
    [["$schema", OF_2020], ["id", "is left out: references lead to places within the schema"], ["properties.a.exclusiveMinimum", "is now the limit itself"], ["properties.a.exclusiveMaximum", "is left out: maximum alone means the same"], ["definitions", "is now $defs"], ["additionalProperties.$ref", "leads to true, which is now in allOf"]],
  ],
  "draft 3": [
    { properties: { a: { type: "any", required: true }, b: { type: ["string", { minimum: 2 }], required: false }, c: { type: "integer", divisibleBy: 2 }, d: { disallow: "null" }, e: { extends: { type: "object" } } } },
    { properties: { a: {}, b: { anyOf: [{ type: "string" }, { minimum: 2 }] }, c: { type: "integer", multipleOf: 2 }, d: { not: { type: "null" } }, e: { allOf: [{ type: "object" }] } }, required: ["a"] },
    [["properties.a.type", "is left out: any type is allowed"], ["properties.a.required", "is now in required of the object"], ["properties.b.type", "is now anyOf"], ["properties.b.required", "is left out: it is no list of names"], ["properties.c.divisibleBy", "is now multipleOf"], ["properties.d.disallow", "is now not"], ["properties.e.extends", "is now allOf"]],
  ],
  dependencies: [
    { dependencies: { a: ["b"], c: { required: ["d"] }, e: "f" } },
    { dependentRequired: { a: ["b"], e: ["f"] }, dependentSchemas: { c: { required: ["d"] } } },
    [["dependencies", "is now dependentRequired and dependentSchemas"]],
  ],
  "names and addresses": [
    { $id: "https://a.example/root", definitions: { a: { $id: "#a", type: "string" }, b: { $id: "b", definitions: { c: { type: "null" } } } }, properties: { a: { $ref: "#a" }, b: { $ref: "b#/definitions/c" }, c: { $ref: "https://a.example/b" }, d: { $ref: "https://b.example/x" } } },
    { $defs: { a: { $anchor: "a", type: "string" }, b: { $defs: { c: { type: "null" } } } }, properties: { a: { $ref: "#a" }, b: { $ref: "#/$defs/b/$defs/c" }, c: { $ref: "#/$defs/b" }, d: { $ref: "https://b.example/x" } } },
    [
      ["$id", "is left out: references lead to places within the schema"],
      ["definitions.a.$id", "is now $anchor"],
      ["definitions.b.$id", "is left out: references lead to places within the schema"],
      ["definitions.b.definitions", "is now $defs"],
      ["definitions", "is now $defs"],
      ["properties.b.$ref", 'is now "#/$defs/b/$defs/c"'],
      ["properties.c.$ref", 'is now "#/$defs/b"'],
      ["properties.d.$ref", 'leads to nothing in the file: "https://b.example/x"'],
    ],
  ],
  "2019-09": [
    { $recursiveAnchor: true, type: "object", properties: { a: { $recursiveRef: "#" } } },
    { type: "object", properties: { a: { $ref: "#" } } },
    [["properties.a.$recursiveRef", "is now $ref"]],
  ],
  "dynamic references": [
    { $dynamicAnchor: "node", type: "object", properties: { a: { $dynamicRef: "#node" } } },
    { $anchor: "node", type: "object", properties: { a: { $ref: "#node" } } },
    [["$dynamicAnchor", "is now $anchor"], ["properties.a.$dynamicRef", "is now $ref"]],
  ],
  "what lies outside of schemas": [
    { components: { schemas: { Pet: { type: "object", properties: { friend: { $ref: "#/components/schemas/Pet" }, age: { type: "integer", nullable: true } } } } }, properties: { pet: { $ref: "#/components/schemas/Pet" } } },
    { properties: { pet: { $ref: "#/$defs/Pet" } }, $defs: { Pet: { type: "object", properties: { friend: { $ref: "#/$defs/Pet" }, age: { type: ["integer", "null"] } } } } },
    [["components", "is left out: it is not a keyword of 2020-12"], ["$defs.Pet.properties.age", 'has "null" in type instead of nullable'], ["properties.pet.$ref", 'is now "#/$defs/Pet"'], ["$defs.Pet.properties.friend.$ref", 'is now "#/$defs/Pet"']],
  ],
  OpenAPI: [
    { properties: { a: { type: "string", example: "x", xml: { name: "a" } }, b: { type: "string", examples: { one: { value: "y" } } } }, discriminator: { propertyName: "a" } },
    { properties: { a: { type: "string", examples: ["x"] }, b: { type: "string", examples: ["y"] } } },
    [["properties.a.example", "is now the list examples"], ["properties.b.examples", "is now the list examples"], ["discriminator", "is left out: the property needs a const in each schema of oneOf"]],
  ],
  Gemini: [
    { type: "OBJECT", properties: { a: { type: "ARRAY", items: { type: "STRING", format: "enum", enum: ["x"] }, minItems: "1" } }, propertyOrdering: ["a"] },
    { type: "object", properties: { a: { type: "array", items: { type: "string", enum: ["x"] }, minItems: 1 } } },
    [["type", 'is now "object"'], ["properties.a.type", 'is now "array"'], ["properties.a.items.type", 'is now "string"'], ["properties.a.items.format", "is left out: it says no more than enum"], ["properties.a.minItems", "is now a number"]],
  ],
  "what is none": [
    { properties: { a: "string", b: { type: "file" }, c: { typ: "string" }, d: { pattern: "^(?!x)", description: "D." } } },
    { properties: { a: {}, b: {}, c: {}, d: { description: "D. Pattern: ^(?!x)" } } },
    [["properties.a", "is not a schema: any value is allowed"], ["properties.b.type", 'is left out: "file" is not a type of JSON'], ["properties.c.typ", "is left out: it is not a keyword of 2020-12"], ["properties.d.pattern", "has look-around, which is not checked: it is a part of the description"]],
  ],
};

for (const [name, [schema, expected, said]] of Object.entries(SCHEMAS)) {
  test(`schemas: ${name}`, () => {
    const notes = [];
    const before = structuredClone(schema);
    const converted = convertSchema(schema, "input_schema", (place, text) => notes.push([place.replace("input_schema.", ""), text]));
    assert.deepEqual({ converted, notes }, { converted: expected, notes: said });
    assert.deepEqual(schema, before);
    const isComplete = !said.some(([, text]) => text.startsWith("leads to nothing"));
    // Ajv does not find a name of the root.
    if (isComplete && converted.$anchor === undefined) ajv().compile(converted);
  });
}

test("a file has a limited number of tools", () => {
  const tools = (count) => toolsOf(Array(count).fill({ name: "a", description: "A." })).tools.length;
  assert.equal(tools(1000), 1000);
  assert.throws(() => tools(1001), /more than 1000 tools/);
});

test("schemas of any depth and size end", () => {
  const convert = (schema) => convertSchema(schema, "input_schema", () => {});
  const nested = (depth) => JSON.parse(`${'{"items":'.repeat(depth)}{}${"}".repeat(depth)}`);
  assert.deepEqual(convert(nested(90)), nested(90));
  assert.throws(() => convert(nested(5000)), /nested more than 100 schemas deep/);
  assert.throws(() => convert({ anyOf: Array(10_001).fill({}) }), /more than 10000 schemas/);
});

const INPUT = { type: "object", properties: { a: { type: "string", minLength: 6 } }, required: ["a"] };
const example = { input: { a: "texttt" }, error: { message: UNWRITTEN } };
const defined = { name: "get_a", description: "Gets it.", version: "0.1.0", input_schema: INPUT, output_schema: {}, examples: [example] };
const given = { name: "get_a", description: "Gets it." };
const ID = "Shop.GetA@0.1.0";

/** What a file has, the definitions, and the places and reasons of what is left out. */
const FORMS = {
  "a response of MCP": [{ jsonrpc: "2.0", id: 1, result: { tools: [{ ...given, inputSchema: INPUT, outputSchema: INPUT, title: "A", annotations: { readOnlyHint: true, title: "B" } }] } }, [{ ...defined, title: "A", output_schema: INPUT, annotations: { read_only: true } }]],
  "the result of MCP": [{ tools: [{ ...given, inputSchema: INPUT, annotations: { title: "B" } }], nextCursor: "x" }, [{ ...defined, title: "B" }]],
  "a tool of MCP": [{ ...given, inputSchema: INPUT }, [defined]],
  "a function of OpenAI's chats": [[{ type: "function", function: { ...given, parameters: INPUT } }], [defined]],
  "a function of OpenAI's responses": [{ model: "m", tools: [{ type: "function", ...given, parameters: INPUT }, { type: "web_search" }] }, [defined], [["tools[1]", /tool of the provider itself/]]],
  "functions of before": [{ functions: [{ ...given, parameters: INPUT }] }, [defined]],
  "a function without parameters": [[{ type: "function", function: given }], [{ ...defined, input_schema: { type: "object", properties: {}, additionalProperties: false }, examples: [{ ...example, input: {} }] }]],
  "a tool of Anthropic": [{ tools: [{ ...given, input_schema: INPUT, input_examples: [{ a: "aaaaaa" }] }, { type: "bash_20250124", name: "bash" }] }, [{ ...defined, examples: [{ ...example, input: { a: "aaaaaa" } }] }], [["tools[1]", /tool of the provider itself/]]],
  "functions of Gemini": [{ tools: [{ functionDeclarations: [{ ...given, parametersJsonSchema: INPUT }, { ...given, parameters: { ...INPUT, type: "OBJECT" } }] }, { google_search: {} }] }, [defined, defined], [["tools[1]", /is no tool; expected/]]],
  "a tool of Bedrock": [{ toolConfig: { tools: [{ toolSpec: { ...given, inputSchema: { json: INPUT } } }] } }, [defined]],
  "a definition": [{ id: "Shop.GetA@1.2.3", ...given, version: "1.2.3", input_schema: { ...INPUT, $schema: DRAFT_7 }, output_schema: { items: [{}] }, scopes: ["a"], examples: [{ input: { a: "aaaaaa" }, value: [1] }] }, [{ id: "Shop.GetA@1.2.3", ...given, version: "1.2.3", input_schema: INPUT, output_schema: { prefixItems: [{}] }, scopes: ["a"], examples: [{ input: { a: "aaaaaa" }, value: [1] }] }]],
  "the list of this project": [{ items: [{ id: "Shop.GetA@0.1.0", ...given, version: "0.1.0", input_schema: INPUT, output_schema: null }] }, [{ id: "Shop.GetA@0.1.0", ...given, version: "0.1.0", input_schema: INPUT, output_schema: null, examples: [example] }]],
  "references into the file": [{ tools: [{ ...given, inputSchema: { type: "object", properties: { a: { $ref: "#/shared/a" } } } }], shared: { a: { type: "string" } } }, [{ ...defined, input_schema: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } }, examples: [{ ...example, input: {} }] }]],
  "nothing of these": [[1, null, {}, { type: "object", properties: {} }, { name: 1 }], [], [["[0]", /expected/], ["[1]", /expected/], ["[2]", /expected/], ["[3]", /expected/], ["[4]", /expected/]]],
};

for (const [name, [document, expected, left = []]] of Object.entries(FORMS)) {
  test(`forms: ${name}`, () => {
    const found = toolsOf(document);
    const definitions = found.tools.map((tool) => definitionFrom(tool, tool.id ?? ["Shop", "GetA", "0.1.0"], () => {}, document));
    assert.deepEqual(definitions, expected.map((one) => ({ id: ID, ...one })));
    assert.deepEqual(found.left.map(({ place }) => place), left.map(([place]) => place));
    found.left.forEach(({ reason }, at) => assert.match(reason, left[at][1]));
  });
}

test("what a definition cannot have is named", () => {
  const notes = [];
  const tool = { name: "get a!", description: "x".repeat(2000), strict: true, inputSchema: { properties: {} } };
  const [found] = toolsOf(tool).tools;
  const { name, description, input_schema: input } = definitionFrom(found, ["Shop", "GetA", "0.1.0"], (place, text) => notes.push(`${place} ${text}`), tool);
  assert.deepEqual([name, [...description].length <= 1024, input], ["Shop_GetA", true, { type: "object", properties: {} }]);
  assert.deepEqual(notes, ["strict is left out: definitions have no such member", "description is cut after 1024 characters", 'input_schema.type is now "object"', "name is now Shop_GetA: names have up to 64 letters, digits, _ and -"]);
});

test("the definitions of this repository stay as they are", () => {
  const files = readdirSync(join(root, "toolkits"), { recursive: true }).concat(readdirSync(join(root, "tests"), { recursive: true }).map((file) => join("../tests", file)));
  const definitions = files.filter((file) => /@[\d.]+\.json$/.test(file) && !file.includes("node_modules")).map((file) => JSON.parse(readFileSync(join(root, "toolkits", file), "utf8")));
  assert.ok(definitions.length > 100, `${definitions.length}`);
  for (const definition of definitions) {
    const notes = [];
    const [tool] = toolsOf(definition).tools;
    assert.deepEqual([definitionFrom(tool, tool.id, (place, text) => notes.push([place, text]), definition), notes], [definition, []], definition.id);
  }
});

test("samples match their schemas", () => {
  for (const schema of [
    { type: "object", properties: { a: { type: "integer", minimum: 3 }, b: { type: "number", exclusiveMinimum: 3, multipleOf: 5 }, c: { enum: ["x"] }, d: { type: "string" } }, required: ["a", "b", "c"] },
    { type: "object", properties: { a: { type: "array", items: { type: "boolean" }, minItems: 2 }, b: { anyOf: [{ type: "null" }, { type: "string" }] } }, required: ["a", "b"] },
    { $defs: { a: { type: "string", maxLength: 2 } }, type: "object", properties: { a: { $ref: "#/$defs/a" }, b: { type: ["integer", "null"], maximum: 0 } }, required: ["a", "b"] },
    { $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } } }, $ref: "#/$defs/n" },
    { type: "object", allOf: [{ properties: { a: { const: 1 } }, required: ["a"] }] },
  ]) {
    const validate = ajv().compile(schema);
    assert.ok(validate(sampleOf(schema)), JSON.stringify([schema, sampleOf(schema), validate.errors]));
  }
});

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));

test("the command writes definitions and functions, and replaces nothing without saying so", async () => {
  const program = new URL("../packages/toolbooth/bin/toolbooth.js", import.meta.url).pathname;
  const command = async (text) => {
    const { code, out, err } = await run(`${process.execPath} ${program} definition ${text}`, { cwd: scratch });
    return [code, `${out}${err}`.trim()];
  };
  const file = join(scratch, "tools/shop/GetA@0.1.0.json");
  assert.deepEqual(await command("--from shop.json"), [2, "There is no tools/lib.rs: run this command in the folder of a project"]);
  mkdirSync(join(scratch, "tools"));
  writeFileSync(join(scratch, "tools/lib.rs"), "");
  assert.deepEqual(await command(""), [2, "Name the file: toolbooth definition --from tools.json"]);
  assert.deepEqual(await command("--from shop.json"), [2, "There is no file shop.json"]);
  writeFileSync(join(scratch, "shop.json"), "\u{feff}{");
  assert.match((await command("--from shop.json"))[1], /^shop\.json cannot be read as JSON: /);
  writeFileSync(join(scratch, "shop.json"), "{}");
  assert.match((await command("--from shop.json"))[1], /^shop\.json has no tool: expected definitions of this project/);
  writeFileSync(join(scratch, "shop.json"), JSON.stringify({ tools: [{ name: "shop_get_a", description: "Gets \u001b[31mit.", inputSchema: { ...INPUT, $schema: DRAFT_7 } }, { name: "shop_get-a", inputSchema: { type: "object" } }] }));
  const notes = `  input_schema.$schema ${OF_2020}`;
  assert.match((await command("--from shop.json --dry-run"))[1], /^Would write tools\/shop\/GetA@0\.1\.0\.json, from a tool in the form of MCP\n {2}input_schema\.\$schema/);
  assert.ok(!existsSync(file));
  const [code, out] = await command("--from shop.json --ts");
  const lines = out.split("\n");
  assert.deepEqual([code, lines.slice(0, 3)], [0, ["Wrote tools/shop/GetA@0.1.0.json, from a tool in the form of MCP", "Wrote tools/shop/get_a.ts: the function, which you still have to write", notes]]);
  assert.match(lines[3], /^Wrote tools\/shop\/GetA[0-9a-f]{6}@0\.1\.0\.json/);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { id: ID, ...defined, name: "shop_get_a", description: "Gets  [31mit." });
  assert.match(readFileSync(join(scratch, "tools/shop/get_a.ts"), "utf8"), /^import \{ tool, ToolError \} from "toolbooth";\nimport type \{ Input, Output \} from "\.\/get_a\.types\.js";$/m);
  writeFileSync(file, "mine");
  assert.match((await command("--from shop.json"))[1], /^Kept tools\/shop\/GetA@0\.1\.0\.json, which exists: --replace replaces it\nKept /);
  assert.equal(readFileSync(file, "utf8"), "mine");
  assert.match((await command("--from shop.json --replace"))[1], /^Replaced tools\/shop\/GetA@0\.1\.0\.json/);
  assert.notEqual(readFileSync(file, "utf8"), "mine");
  assert.match((await command("--from shop.json --toolkit 1"))[1], /^The toolkit must have a name/);
});
