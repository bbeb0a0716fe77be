// The parts of the site that need no browser: exact numbers, what a form needs to know about a schema, and calls in code.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import Ajv from "ajv/dist/2020.js";
import { pagesOf, searchIndexOf } from "../site/build/docs.js";
import { parse, stringify } from "../site/src/json.ts";
import { bodyOf, outcomeOf, pathOf, protocols, withProof } from "../site/src/protocols.ts";
import { cheapest, questions, tookText } from "../site/src/playground/chat-texts.ts";
import { sketch } from "../site/src/sketch.ts";
import { MOST_CELLS, isTooLarge, lineOf, tableOf } from "../site/src/playground/shape.ts";
import { LANGUAGES, snippet } from "../site/src/snippets.ts";
import { firstCall, valueOf } from "../site/src/example.ts";
import { browserName } from "../site/src/browser.ts";
import { fits, initial, kindOf, limits } from "../site/src/schema.ts";
import { problemIn } from "../site/src/json-problem.ts";
import { byWay } from "../site/build/ways.js";
import { searchIn, termOf } from "../site/src/search.ts";
import { grouped, idIn, isOld, toolOf } from "../site/src/tools.ts";
import { root } from "./support/commands.mjs";
import { KEY, definitions, startSite } from "./support/site.mjs";

const run = promisify(execFile);
const target = join(root, "target");
mkdirSync(target, { recursive: true });

let site;
before(async () => (site = await startSite()));
after(() => site.close());

test("numbers keep their digits", () => {
  for (const text of ["0", "-1", "1.5", "9007199254740993", "18446744073709551615", "1e308", "0.10", "87.0", "-0"]) {
    assert.equal(stringify(parse(`[${text}]`)), `[${text}]`);
  }
});

test("the kind of each schema", () => {
  const text = (input) => ({ is: "text", input });
  for (const [schema, expected] of [
    [{ type: "string" }, text("text")],
    [{ type: "string", format: "date" }, text("date")],
    [{ type: "string", format: "date-time" }, text("datetime")],
    [{ type: "string", format: "uuid" }, text("text")],
    [{ type: "string", maxLength: 10000 }, text("lines")],
    [{ type: ["string"] }, text("text")],
    [{ type: "integer" }, { is: "number" }],
    [{ type: "boolean" }, { is: "boolean" }],
    [{ type: "null" }, { is: "constant", value: null }],
    [{ const: 7 }, { is: "constant", value: 7 }],
    [{ enum: ["a"] }, { is: "constant", value: "a" }],
    [{ enum: ["a", 7, null] }, { is: "choice", values: ["a", 7, null] }],
    [{ oneOf: [{ const: "a" }, { const: "b" }] }, { is: "choice", values: ["a", "b"] }],
    [{ oneOf: [{ const: 1, title: "One" }, { const: 2 }] }, { is: "union", variants: [{ label: "One", schema: { const: 1, title: "One" } }, { label: "2", schema: { const: 2 } }] }],
    [{}, { is: "json" }],
    [{ type: "array", items: { type: "number" } }, { is: "list", first: [], rest: { type: "number" } }],
    [{ type: "array", prefixItems: [{ type: "number" }], items: false }, { is: "list", first: [{ type: "number" }], rest: undefined }],
    [{ type: "object", additionalProperties: false }, { is: "object", properties: [], rest: undefined }],
    [{ type: "object" }, { is: "object", properties: [], rest: {} }],
    [{ type: "object", patternProperties: { "^x": { type: "number" } }, additionalProperties: false }, { is: "object", properties: [], rest: { type: "number" } }],
    [{ type: "object", patternProperties: { "^x": { type: "number" }, "^y": true }, additionalProperties: false }, { is: "object", properties: [], rest: {} }],
    [{ type: "string", format: "constructor" }, text("text")],
  ]) {
    assert.deepEqual(kindOf(schema), expected, JSON.stringify(schema));
  }
});

test("required properties come first, and variants have names", () => {
  const { properties } = kindOf({ type: "object", properties: { a: {}, b: {} }, required: ["b"] });
  assert.deepEqual(properties.map(({ name, required }) => [name, required]), [["b", true], ["a", false]]);
  const labels = (schema) => kindOf(schema).variants.map(({ label }) => label);
  assert.deepEqual(labels({ type: ["string", "null"] }), ["text", "null"]);
  assert.deepEqual(labels({ anyOf: [{ type: "string", format: "date" }, { title: "Never" }, { anyOf: [{ type: "integer" }, { type: "array" }] }] }), ["date", "Never", "integer", "list"]);
  assert.deepEqual(labels({ oneOf: [{ type: "object", properties: { kind: { const: "circle" }, r: {} } }, { type: "object", properties: { w: {}, h: {} } }] }), ["circle", "w, h"]);
});

test("allOf and the keywords next to anyOf belong to the value", () => {
  const both = kindOf({ allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: {} }, required: ["b"] }] });
  assert.deepEqual(both.properties.map(({ name, required }) => [name, required]), [["a", true], ["b", true]]);
  const { variants } = kindOf({ type: "object", properties: { a: {} }, anyOf: [{ properties: { b: {} }, required: ["b"] }] });
  assert.deepEqual(kindOf(variants[0].schema).properties.map(({ name }) => name), ["b", "a"]);
});

test("what a value begins with", () => {
  for (const [schema, value] of [
    [{ type: "string", default: "x" }, undefined],
    [{ const: "x" }, "x"],
    [{ type: "object", properties: { a: { const: 1 }, b: { type: "string" }, c: { const: 2 } }, required: ["a", "b"] }, { a: 1 }],
    [{ type: "array" }, []],
    [{ type: "array", minItems: 2, items: { type: "object" } }, [{}, {}]],
    [{ type: "boolean" }, false],
  ]) {
    assert.deepEqual(initial(schema), value, JSON.stringify(schema));
  }
});

test("the variant of a value", () => {
  const box = { type: "object", properties: { box: { type: "integer" } }, required: ["box"], additionalProperties: false };
  for (const [schema, value, expected] of [
    [box, { box: 3 }, true],
    [box, { box: "3" }, false],
    [box, {}, false],
    [box, { box: 3, street: "x" }, false],
    [{ type: "array", items: { type: "integer" } }, [1, 2], true],
    [{ type: "array", items: { type: "integer" } }, ["1"], false],
    [{ type: "null" }, null, true],
    [{ type: "number" }, parse("18446744073709551615"), true],
    [{}, [], true],
  ]) {
    assert.equal(fits(schema, value), expected, JSON.stringify([schema, value]));
  }
});

test("names that every object has are names like others", () => {
  const named = parse('{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"string"}},"additionalProperties":false}');
  assert.equal(fits(named, {}), true);
  assert.equal(fits(named, parse('{"__proto__":1,"constructor":"x"}')), true);
  assert.equal(fits(named, parse('{"__proto__":"x"}')), false);
  const both = kindOf({ allOf: [named, parse('{"properties":{"__proto__":{"minimum":1}}}')] });
  assert.deepEqual(both.properties.find(({ name }) => name === "__proto__").schema, { type: "integer", minimum: 1 });
});

test("a list does not begin with more items than a page can show", () => {
  const list = (items) => ({ type: "array", minItems: 1e9, items });
  assert.equal(initial(list({ type: "number" })).length, 100);
  assert.ok(stringify(initial(list(list(list({ type: "number" }))))).length < 10_000);
});

test("what is too large for a page", () => {
  const rows = Array.from({ length: 10_000 }, (_, index) => ({ a: index, b: "x" }));
  const table = tableOf(rows);
  assert.deepEqual([table.names, table.rows.length, table.total], [["a", "b"], MOST_CELLS / 2, 10_000]);
  assert.equal(tableOf(Array.from({ length: 10_000 }, (_, index) => ({ [`column ${index}`]: 1 }))), undefined);
  assert.equal(tableOf([{ a: {} }]), undefined);
  assert.equal(isTooLarge(rows), true);
  assert.equal(isTooLarge(rows.slice(0, 100)), false);
  assert.equal(isTooLarge({ a: { b: [1] } }), false);
  assert.equal(isTooLarge(parse('{"a":'.repeat(9) + "1" + "}".repeat(9))), true);
});

test("lists that fit in a line", () => {
  for (const [value, line] of [
    [[1, 2.5, -3], "[1, 2.5, -3]"],
    [[], "[]"],
    [["a", null, true, parse("12345678901234567890")], '["a", null, true, 12345678901234567890]'],
    [[[1]], undefined],
    [Array(41).fill(1), undefined],
    [["x".repeat(90)], undefined],
    [{ a: 1 }, undefined],
    ["[1]", undefined],
  ]) assert.equal(lineOf(value), line);
});

test("the shape of a value", () => {
  const text = { type: "string" };
  for (const [schema, shape] of [
    [{}, undefined],
    [text, "string"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ enum: ["a", 1] }, '"a" | 1'],
    [{ const: "a" }, '"a"'],
    [{ type: "array", items: { type: "integer" } }, "integer[]"],
    [{ type: "array", items: { anyOf: [text, { type: "null" }] } }, "(string | null)[]"],
    [{ type: "array", prefixItems: [text, { type: "number" }] }, "[string, number]"],
    [{ type: "object", properties: { b: text, "a-b": { ...text, description: "What\n it is." } }, required: ["b"] }, '{\n  b: string\n  "a-b"?: string  // What it is.\n}'],
    [{ type: "object", additionalProperties: { type: "number" } }, "{\n  [name]: number\n}"],
    [{ type: "array", items: { type: "object", properties: { a: { type: "object", properties: { b: text } } } } }, "{\n  a?: {\n    b?: string\n  }\n}[]"],
  ]) assert.equal(sketch(schema), shape, JSON.stringify(schema));
  const deep = (levels) => (levels === 0 ? text : { type: "object", properties: { a: deep(levels - 1) } });
  assert.ok(sketch(deep(1000)).length < 500);
});

test("the model that a chat begins with is the cheapest that may be used, not the first", () => {
  const [big, small, unknown] = [{ name: "big", price: { input: 5, output: 20 } }, { name: "small", price: { input: 0.25, output: 1 } }, { name: "a-model" }];
  for (const [models, name] of [[[big, small], "small"], [[unknown, big], "big"], [[unknown, { name: "openai/" }], "a-model"], [[], ""]]) assert.equal(cheapest(models), name);
  const took = { model: "small", duration: 1234, tokens: { input: 1000, output: 50 } };
  assert.equal(tookText(took, [small]), "small · 1,000 tokens read, 50 written · about $0.0003 · 1.2 s");
  assert.equal(tookText({ ...took, cost: 0.0002 }, [small]), "small · 1,000 tokens read, 50 written · $0.0002 · 1.2 s");
  assert.equal(tookText({ model: "a-model", duration: 90 }, [unknown]), "a-model · 0.1 s");
});

test("a chat can begin with examples of tools that only read and need no account", () => {
  const tool = (name, more = {}) => [{ name, ...more }, [name, { title: name, readOnly: true, examples: [{ input: { city: "Berlin", days: 2, more: {} }, succeeds: true }] }]];
  const all = [tool("Forecast"), tool("Issues", { requirements: {} }), tool("Other")];
  all[2][1][1].readOnly = false;
  assert.deepEqual(questions(all.map(([one]) => one), new Map(all.map(([, details]) => details))), ["What can you do here?", "Forecast: city Berlin, days 2"]);
  assert.deepEqual(questions([], new Map()), ["What can you do here?"]);
});

test("the versions of tools", () => {
  const tools = ["A.B@1.9.0", "A.B@1.10.0", "A.C@0.1.0", "D.__proto__@1.0.0"].map((id) => ({ id, version: id.split("@")[1] }));
  assert.deepEqual(tools.filter((tool) => isOld(tool, tools)).map(({ id }) => id), ["A.B@1.9.0"]);
  for (const [id, found] of [["A.B@1.9.0", 0], ["A.B@7.0.0", 1], ["A.B", 1], ["A.C@0.1", 2], ["X.Y@1.0.0", undefined], ["", 0]]) assert.equal(toolOf(tools, id), tools[found], id);
  assert.equal(toolOf([], "A.B"), undefined);
  assert.deepEqual(grouped(tools).get("A").map(({ id }) => id), ["A.B@1.10.0", "A.B@1.9.0", "A.C@0.1.0"]);
  // Of many tools, each is looked at a few times only.
  let looks = 0;
  const many = Array.from({ length: 2_000 }, (_, index) => ({ get id() { return (looks += 1, `A.T${index}@1.0.0`); }, version: "1.0.0" }));
  assert.ok(!many.some((tool) => isOld(tool, many)));
  assert.ok(looks <= 10 * many.length, `${looks} looks`);
});

test("the tool that an address names", () => {
  for (const [hash, id] of [["", ""], ["#A.B%401.0.0", "A.B@1.0.0"], ["#%", ""], ["#%ff", ""]]) assert.equal(idIn(hash), id);
});

test("the name of a browser", () => {
  const mozilla = (rest) => `Mozilla/5.0 ${rest}`;
  for (const [userAgent, name] of [
    [mozilla("(X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"), "Chrome on Linux"],
    [mozilla("(Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0"), "Edge on Windows"],
    [mozilla("(Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15"), "Safari on macOS"],
    [mozilla("(iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0 Mobile/15E148 Safari/604.1"), "Chrome on iOS"],
    [mozilla("(Android 16; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0"), "Firefox on Android"],
    ["curl/8.0", "A browser"],
  ]) {
    assert.equal(browserName(userAgent), name, userAgent);
  }
});

test("words of a question are compared by their stems, and some mean the same", () => {
  for (const words of [["rotate", "Rotation", "rotating", "rotated"], ["keys", "key"], ["user", "users", "people", "person"], ["remove", "removing", "deleted", "removal"], ["policies", "policy"], ["create", "creates", "creating"], ["format", "formats"], ["state", "states"], ["authorization", "authorizes"], ["access"]]) {
    assert.equal(new Set(words.map(termOf)).size, 1, words.map(termOf).join());
  }
  for (const [one, other] of [["key", "keyboard"], ["format", "form"], ["state", "status"], ["sign", "signature"], ["user", "rotate"]]) assert.notEqual(termOf(one), termOf(other));
  for (const word of ["how", "do", "I", "a"]) assert.equal(termOf(word), null);
});

test("the search finds the page that answers a question", () => {
  const sections = searchIndexOf(pagesOf(join(root, "docs")));
  const search = searchIn(sections);
  for (const [question, at] of [
    ["how do I remove a user", "/docs/operating#remove-a-person"],
    ["rotate key", "/docs/operating#rotate-a-key"],
    ["delete a key", "/docs/operating#remove-a-key"],
    ["somebody lost a token", "/docs/operating#a-token-was-leaked"],
    ["TOOL_ALLOWLIST", "/docs/configuration#what-may-be-called"],
    ["how can I roll back?", "/docs/operating#roll-back"],
    ["How do I connect Claude Code?", "/docs/clients#claude-code"],
  ]) {
    assert.equal(search(question)[0]?.section.at, at, question);
  }
  // If no section has all words, one with some is better than none.
  assert.equal(search("rollback roll back xylophones")[0]?.section.at, "/docs/operating#roll-back");
  assert.deepEqual(search("xylophones"), []);
  assert.deepEqual(sections.filter(({ text }) => /\|\s*:?-{2,}|<!--|```/.test(text)).map(({ at }) => at), [], "no marks of tables, comments and code");
  const [{ excerpt }] = search("allowlist");
  assert.ok(/allowlist/i.test(excerpt) && excerpt.length < 150, excerpt);
});

test("the menu of protocols begins with plain HTTP, and a sentence says what each is for", async () => {
  const all = await served();
  assert.deepEqual(all.map(({ title }) => title).slice(0, 4), ["Plain HTTP (OXP, flat)", "REST", "MCP 2026-07-28", "JSON-RPC"]);
  assert.deepEqual(all.filter(({ use }) => !use.endsWith(".")), []);
});

test("what is wrong with a text that is not JSON, and where", () => {
  for (const [text, problem] of [
    ["", "Line 1, column 1: expected a value, found the end of the text"],
    ['{"a": 1', "Line 1, column 8: expected a comma or }, found the end of the text"],
    ['{\n  "a": 1,\n}', 'Line 3, column 1: expected a name in double quotes, found "}"'],
    ['{"a" 1}', 'Line 1, column 6: expected a colon, found "1"'],
    ["[1, 2", "Line 1, column 6: expected a comma or ], found the end of the text"],
    ['["a\nb"]', 'Line 1, column 4: expected a closing quote on the same line, found "\\n"'],
    ['"\\x"', 'Line 1, column 2: expected an escape such as \\n, found "\\\\"'],
    ["{'a': 1}", 'Line 1, column 2: expected a name in double quotes, found "\'"'],
    ["1 2", 'Line 1, column 3: expected the end, found "2"'],
    ["01", 'Line 1, column 2: expected the end, found "1"'],
    ["[tru]", 'Line 1, column 2: expected a value, found "t"'],
    ["[😀]", 'Line 1, column 2: expected a value, found "😀"'],
    ["[".repeat(100_000), "This is not JSON"],
  ]) {
    assert.throws(() => parse(text));
    assert.equal(problemIn(text), problem, text.slice(0, 20));
  }
  // What is JSON has no problem within it.
  for (const value of [{ a: [1.5e-7, -0, true, null, ""], "\u2028": "\\\"\n😀" }, [], {}, [[]]]) {
    for (const indent of [undefined, 2]) assert.match(problemIn(`${stringify(value, indent)} x`), /expected the end, found "x"$/);
  }
});

test("the challenges of a failed call, wherever its protocol has them", async () => {
  const url = "https://tools.example/auth/start?c=ab-c_d";
  const check_url = "https://tools.example/auth/check?c=ab-c_d";
  const list = [{ id: "github", url, check_url }];
  const all = await served();
  const sample = (name) => all.find((one) => one.name === name);
  for (const [name, status, json] of [
    ["oxp", 400, { message: "Authorization required", missing_requirements: { authorization: list } }],
    ["rest", 403, { title: "Authorization required", authorization: list }],
    ["mcp", 200, { result: { isError: true, content: [{ type: "text", text: `Open this link: ${url}` }], _meta: { "toolbooth/authorization": list } } }],
    ["anthropic", 200, { messages: [{ content: [{ content: `The call lacks the token; the user can grant it at ${url}.`, is_error: true }] }], _toolbooth: { calls: [{ success: false }] } }],
    ["xaibo", 200, { success: false, error: `Authorization required: the user can grant it at ${url}` }],
  ]) {
    const { challenges } = outcomeOf(sample(name), { status, text: "", json, duration: 0 });
    assert.deepEqual(challenges, [{ url, check_url }], name);
  }
  assert.deepEqual(outcomeOf(sample("oxp"), { status: 400, text: "", json: { message: "See https://tools.example/auth/help/github" }, duration: 0 }).challenges, []);
});

test("the instructions of a client, by the way to authenticate", () => {
  const key = 'curl x --header "Authorization: Bearer ${TOOLBOOTH_KEY}"';
  const ways = (markdown) => {
    const parts = [];
    const { way } = byWay(markdown, (raw) => (parts.push(raw.trim()), raw));
    const html = byWay(markdown, (raw) => raw).html;
    return [parts.length, [...html.matchAll(/data-way="([^"]*)"/g)].map(([, one]) => one), way];
  };
  for (const [markdown, expected] of [
    ["Do this.", [1, [], undefined]],
    ["With sign-in, open:\n\n```\nx\n```\n\nWith a key:\n\n```\nBearer k\n```", [4, ["sign-in", "sign-in open", "key", "key"], undefined]],
    ["With an issuer of your own, x.", [1, ["issuer"], undefined]],
    [`\`\`\`sh\n${key}\n\`\`\`\n\nIt calls.`, [3, ["key", "open", "key open"], "key open"]],
  ]) {
    assert.deepEqual(ways(markdown), expected, markdown);
  }
  const { html } = byWay(`\`\`\`sh\n${key}\n\`\`\``, (raw) => raw);
  assert.match(html, /data-way="open">```sh\ncurl x\n```/);
  assert.throws(() => byWay("```\nsend(TOOLBOOTH_KEY)\n```", (raw) => raw), /How does this code send its key/);
});

test("a repeated call has the proof for every provider without a token", () => {
  const tool = { requirements: { authorization: [{ id: "a" }, { id: "b" }] } };
  const typed = { user_id: "u", authorization: [{ id: "a", token: "typed" }] };
  for (const [context, proof, expected] of [
    [{ user_id: "u" }, "p", [{ id: "a", token: "p" }, { id: "b", token: "p" }]],
    [typed, "p", [{ id: "a", token: "typed" }, { id: "b", token: "p" }]],
    [typed, undefined, typed.authorization],
  ]) {
    assert.deepEqual(withProof(context, tool, proof), { user_id: "u", authorization: expected });
  }
});

test("an example of each schema is valid", () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const object = (properties, required) => ({ type: "object", properties, required, additionalProperties: false });
  for (const schema of [
    { type: "string" },
    { type: "string", minLength: 12 },
    { type: "string", maxLength: 2 },
    { type: "string", pattern: "^[a-z]+$" },
    ...["date", "time", "date-time", "email", "uri", "uuid"].map((format) => ({ type: "string", format })),
    { allOf: [{ type: "string" }, { minLength: 9 }] },
    { type: "integer" },
    { type: "integer", minimum: 5, maximum: 9 },
    { type: "integer", exclusiveMaximum: 0 },
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
    { type: "number", minimum: 10, multipleOf: 7 },
    { type: "integer", minimum: 100, multipleOf: 7 },
    parse('{"type":"number","minimum":87.0,"maximum":88.0}'),
    { type: "boolean" },
    { enum: ["b", "a"] },
    { const: { a: 1 } },
    { type: "null" },
    { type: "string", default: "x" },
    { type: "array", items: { type: "string" } },
    { type: "array", items: { type: "integer", minimum: 3 }, minItems: 2 },
    { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false },
    object({ a: { type: "string" }, b: { type: "integer" } }, ["b"]),
    object({ a: object({ b: { type: "array", minItems: 1, items: object({ c: {} }, ["c"]) } }, ["b"]) }, ["a"]),
    object({ a: { oneOf: [{ type: "string", pattern: "^\\d$" }, { type: "array", items: { type: "integer" } }] } }, ["a"]),
    ...[...definitions("tests/fixtures"), ...definitions("tests/samples")].map(({ input_schema }) => input_schema),
  ]) {
    const value = valueOf(parse(JSON.stringify(schema)));
    if (value === undefined && /"uniqueItems"|"pattern":"\^\[A-Z/.test(JSON.stringify(schema))) continue;
    assert.ok(value !== undefined && ajv.validate(JSON.parse(JSON.stringify(schema)), JSON.parse(stringify(value))), `${JSON.stringify(schema)}: ${stringify(value ?? null)}`);
  }
  for (const schema of [{ type: "string", pattern: "^\\d{3}$" }, { type: "string", pattern: "(" }, { type: "string", format: "email", maxLength: 3 }, { type: "array", minItems: 2, uniqueItems: true, items: { type: "string" } }, { type: "integer", minimum: 0.2, maximum: 0.7 }]) {
    assert.equal(valueOf(schema), undefined, JSON.stringify(schema));
    assert.equal(valueOf(object({ a: schema }, ["a"])), undefined);
    assert.deepEqual(valueOf(object({ a: schema }, [])), {});
  }
});

test("the first call is of a tool that anybody can run, with an example that succeeds", () => {
  const tool = (id, more = {}) => ({ id, name: id.split("@")[0].replace(".", "_"), version: id.split("@")[1], description: "", input_schema: { type: "object" }, ...more });
  const about = (more) => ({ scopes: [], deprecated: false, readOnly: true, examples: [], ...more });
  const examples = [{ input: { a: "wrong" }, succeeds: false }, { input: { a: 1 }, succeeds: true }];
  const personal = tool("A.Personal@1.0.0", { requirements: { authorization: [{ id: "mail" }] } });
  const writing = tool("A.Write@1.0.0");
  const old = tool("B.Read@1.0.0");
  const reading = tool("B.Read@2.0.0");
  const all = [personal, writing, old, reading];
  const details = new Map([["A_Personal", about({ examples })], ["A_Write", about({ readOnly: false, examples })], ["B_Read", about({ examples })]]);
  assert.deepEqual(firstCall(all, details), { tool: reading, input: { a: 1 } });
  assert.equal(firstCall([personal, writing], details).tool, writing);
  assert.equal(firstCall([personal], details).tool, personal);
  assert.deepEqual(firstCall([writing], new Map()), { tool: writing, input: {} });
  assert.equal(firstCall([], details), undefined);
  const unknown = tool("C.D@1.0.0", { input_schema: { type: "object", properties: { a: { type: "string", pattern: "^\\d$" } }, required: ["a"] } });
  assert.equal(firstCall([unknown], new Map()), undefined);
  assert.equal(firstCall([unknown, writing], new Map()).tool, writing);
});

test("limits in words", () => {
  for (const [schema, text] of [
    [{ minLength: 1, maxLength: 100 }, "1 to 100 characters"],
    [{ minLength: 1 }, "at least 1 character"],
    [{ minLength: 0 }, ""],
    [{ minimum: 1, maximum: 16 }, "1 to 16"],
    [{ exclusiveMinimum: 0, multipleOf: 0.5 }, "above 0, a multiple of 0.5"],
    [{ minItems: 2, maxItems: 2 }, "exactly 2 items"],
    [parse('{"minimum":0.0,"maximum":18446744073709551615}'), "0.0 to 18446744073709551615"],
  ]) {
    assert.equal(limits(schema), text);
  }
});

const TOOL = { id: "Calculator.Add@1.0.0", name: "Calculator_Add" };
const served = async () => protocols((await site.worker.get("/")).json);

test("the call of each protocol, its value and its error", async () => {
  const all = await served();
  assert.equal(all[0].name, "oxp");
  assert.ok(all.length >= 12);
  for (const protocol of all) {
    const call = async (input) => {
      const body = stringify(bodyOf(protocol, TOOL, input, {}));
      const { status, text } = await site.worker.post(body, { path: pathOf(protocol, TOOL), headers: { authorization: `Bearer ${KEY}`, ...protocol.headers } });
      return outcomeOf(protocol, { status, text, json: parse(text), duration: 0 });
    };
    const { success, value } = await call({ a: 17, b: parse("9007199254740993") });
    assert.deepEqual([success, stringify(value ?? null)], [true, "9007199254741010"], protocol.name);
    const failed = await call({ a: 17, b: "x" });
    assert.equal(failed.success, false, protocol.name);
    assert.match(`${failed.message} ${Object.values(failed.parameters)}`, /Must be a number/, protocol.name);
  }
});

test("the code for each protocol in each language runs", async () => {
  const folder = mkdtempSync(join(target, "snippets-"));
  const env = { ...process.env, TOOLBOOTH_KEY: KEY, NO_PROXY: "*" };
  try {
    for (const protocol of await served()) {
      for (const language of LANGUAGES) {
        const body = bodyOf(protocol, TOOL, { a: 17, b: 25 }, {});
        const text = snippet(language, { url: `${site.worker.address}${pathOf(protocol, TOOL)}`, headers: protocol.headers, body, withKey: true });
        const file = join(folder, language === "TypeScript" ? "call.mts" : "call.py");
        writeFileSync(file, text);
        const commands = { curl: ["sh", "-c", `${text} --silent`], Python: [join(root, ".venv/bin/python"), file], TypeScript: [process.execPath, file] };
        const [program, ...args] = commands[language];
        const { stdout } = await run(program, args, { env });
        assert.match(stdout, /42/, `${protocol.name}, ${language}: ${text}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("code quotes what a shell, Python or JavaScript would interpret", async () => {
  const body = { text: `it's "$HOME" \`x\` \\ \n é 🚪 </script>`, none: null, yes: true, list: [1, parse("1e5")] };
  const echo = { url: "http://127.0.0.1:9/", headers: {}, body, withKey: false };
  const [, shell] = /-d ([\s\S]*)$/.exec(snippet("curl", echo));
  assert.deepEqual(JSON.parse((await run("sh", ["-c", `printf %s ${shell}`])).stdout), JSON.parse(stringify(body)));
  const [, python] = /json=([\s\S]*),\n\)\n/.exec(snippet("Python", echo));
  const { stdout } = await run("python3", ["-c", `import json\nprint(json.dumps(${python}))`]);
  assert.deepEqual(JSON.parse(stdout), JSON.parse(stringify(body)));
});

test("code sends the digits of a number that JavaScript would round", async () => {
  const body = parse('{"text":"it\'s \\"quoted\\"","list":[{"id":9007199254740993}]}');
  const call = { url: "http://127.0.0.1:9/", headers: {}, body, withKey: false };
  const print = "const fetch = (_, { body }) => (console.log(body), Response.json(null));\n";
  const { stdout } = await run(process.execPath, ["--input-type=module-typescript", "-e", print + snippet("TypeScript", call)]);
  assert.equal(stdout.split("\n")[0], stringify(body));
  assert.match(snippet("TypeScript", { ...call, body: { a: 1 } }), /JSON\.stringify\(\{\n/);
  for (const language of ["curl", "Python"]) assert.match(snippet(language, call), /\b9007199254740993\b/);
});
