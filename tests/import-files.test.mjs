// `toolbooth import`: which documents it reads, what it writes, and how it ends. tests/import.test.mjs has what becomes of documents.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import { PRESETS } from "../packages/toolbooth/src/presets.js";
import { readCatalogue } from "../packages/toolbooth/src/import/catalogue.js";
import { readDocuments } from "../packages/toolbooth/src/import/read.js";
import { root, run } from "./support/commands.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-import-"));
after(() => rmSync(scratch, { recursive: true }));
const write = (path, value) => {
  const file = join(scratch, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
  return file;
};
/** Runs the command in a project's folder. */
const toolbooth = (folder, args) => run(`node ${root}/packages/toolbooth/bin/toolbooth.js import ${args}`, { cwd: join(scratch, folder) });
/** An empty project. */
function project(name) {
  write(`${name}/tools/lib.rs`, "");
  return name;
}
const json = (...path) => JSON.parse(readFileSync(join(scratch, ...path), "utf8"));
const document = (paths, version = "1.0.0") => ({ openapi: "3.1.0", info: { title: "Pets", version }, servers: [{ url: "https://pets.example" }], paths });
const get = (operationId, rest = {}) => ({ get: { operationId, summary: `Gets ${operationId}`, ...rest } });

/** What is read from a source: its own value, and each other document's value or problem by the end of its address. */
async function read(source) {
  const { address, documents } = await readDocuments(source);
  const others = [...documents].filter(([url]) => url !== address).map(([url, { value, problem }]) => [url.split("/").at(-1), problem ?? value]);
  return [documents.get(address).value, Object.fromEntries(others)];
}

test("JSON and YAML are read as they are, and nothing else", async () => {
  for (const [name, text, expected] of [
    ["a.json", '{"a": 1}', { a: 1 }],
    ["bom.json", '\uFEFF{"a": 1}', { a: 1 }],
    ["a.yaml", "a: 1\non: no\nb: &x [1]\nc: *x\n", { a: 1, on: "no", b: [1], c: [1] }],
    ["flow.yaml", "{a: 1}", { a: 1 }],
    ["tag.yaml", "a: !!js/function 'function () {}'", { a: "function () {}" }],
    ["proto.yaml", "__proto__:\n  polluted: true\n", JSON.parse('{"__proto__": {"polluted": true}}')],
    ["merge.yaml", "a: &a {x: 1, y: {z: 1}}\nb: &b {x: 2, <<: *a}\nc: {<<: [*b, {x: 3, w: 4}]}\nd: {<<: 1}\n", { a: { x: 1, y: { z: 1 } }, b: { x: 2, y: { z: 1 } }, c: { x: 2, y: { z: 1 }, w: 4 }, d: { "<<": 1 } }],
    ["merged-proto.yaml", "a: &a\n  __proto__:\n    polluted: true\nb:\n  <<: *a\n", JSON.parse('{"a": {"__proto__": {"polluted": true}}, "b": {"__proto__": {"polluted": true}}}')],
  ]) {
    assert.deepEqual((await read(write(`formats/${name}`, text)))[0], expected, name);
  }
  assert.equal({}.polluted, undefined);
  const aliases = Array.from({ length: 12 }, (_, at) => `x${at}: &x${at} [${at === 0 ? "0" : Array(12).fill(`*x${at - 1}`).join(", ")}]`).join("\n");
  // Each level has the one before twice.
  const merges = ["x0: &x0 {a: 1}", ...Array.from({ length: 40 }, (_, at) => `x${at + 1}: &x${at + 1} {<<: *x${at}, y${at}: {<<: *x${at}}}`)].join("\n");
  for (const [name, text, expected] of [
    ["merges.yaml", merges, /merges\.yaml is neither JSON nor YAML: Excessive alias count/],
    ["broken.json", '{"a": ', /broken\.json is not JSON: /],
    ["broken.yaml", "a: [1\nb: 2", /broken\.yaml is neither JSON nor YAML: /],
    ["deep.yaml", `${"[".repeat(50_000)}`, /deep\.yaml is /],
    ["aliases.yaml", aliases, /aliases\.yaml is neither JSON nor YAML: Excessive alias count/],
  ]) {
    await assert.rejects(readDocuments(write(`formats/${name}`, text)), expected, name);
  }
  const many = `a: &a {x: 1}\nb: [${Array(3000).fill("*a, {<<: *a}").join(", ")}]`;
  assert.equal((await read(write("formats/many.yaml", many)))[0].b.length, 6000);
  await assert.rejects(readDocuments(join(scratch, "none.json")), /There is no file /);
});

test("where YAML has a number and a text is meant, the spelling stays", async () => {
  const path = write("spelling/openapi.yaml", `
openapi: 3.1.0
info: { title: Pets, version: 1.10 }
servers: [ { url: "https://pets.example/{version}", variables: { version: { default: 2.0 } } } ]
paths:
  /a:
    get:
      operationId: 2.0
      tags: [1.50]
      parameters:
        - { name: 1.0, in: query, schema: { type: string, enum: [1.0, 0x1F, 1e3, 1_0, True, ~, two], default: 1.0, example: 2.50 } }
        - { name: sample, in: query, schema: { type: string }, example: 3.10 }
        - { name: samples, in: query, schema: { type: string }, examples: { one: { value: 3.10 } } }
        - { name: const, in: query, schema: { type: [string, "null"], const: 1.0 } }
        - { name: merged, in: query, schema: { type: string, <<: { enum: [3.0], default: 3.0 } } }
        - { name: number, in: query, schema: { type: number, enum: [1.0, 2.50], default: 1.0 } }
        - { name: integer, in: query, schema: { type: integer, enum: [0x1F], maximum: 1e3 } }
  /b:
    post:
      requestBody: { content: { application/json: { schema: { required: [1.0], properties: { 1.0: { type: string }, 1.10: { type: string } } } } } }
`);
  const { tools, servers, version } = readCatalogue({ read: await readDocuments(path), toolkit: "Pets" });
  assert.deepEqual([version, servers.variables.get("PETS_URL").default], ["1.10", "https://pets.example/2.0"]);
  const [a, b] = [...tools.values()].map(({ definition }) => definition);
  assert.deepEqual(a.input_schema.properties, {
    "1.0": { type: ["string", "null"], description: "Default: 1.0.", enum: ["1.0", "0x1F", "1e3", "1_0", "True", null, "two"] },
    sample: { type: "string", examples: ["3.10"] },
    samples: { type: "string", examples: ["3.10"] },
    const: { type: ["string", "null"], const: "1.0" },
    merged: { type: "string", description: "Default: 3.0.", enum: ["3.0"] },
    number: { type: "number", description: "Default: 1.", enum: [1, 2.5] },
    integer: { type: "integer", enum: [31], maximum: 1000 },
  });
  assert.deepEqual([...tools.keys()][0], "Get20");
  assert.deepEqual(b.http.body.properties, { "1.0": "1.0", "1.10": "1.10" });
});

test("a discriminator names files", async () => {
  write("kinds/boat.yaml", "type: object\nproperties: { of: { type: string }, depth: { type: integer } }\n");
  const schemas = { Any: { type: "object", properties: { of: { type: "string" } }, discriminator: { propertyName: "of", mapping: { boat: "boat.yaml", car: "Car" } } }, Car: { allOf: [{ $ref: "#/components/schemas/Any" }] } };
  const content = { "application/json": { schema: { type: "object", properties: { it: { $ref: "#/components/schemas/Any" } } } } };
  const path = write("kinds/openapi.json", { ...document({ "/a": { post: { operationId: "a", requestBody: { content } } } }), components: { schemas } });
  const { tools, notes } = readCatalogue({ read: await readDocuments(path), toolkit: "Pets" });
  const { $defs } = tools.get("A").definition.input_schema;
  assert.deepEqual([$defs.Any.oneOf.map(({ properties }) => properties.of), notes.list()], [[{ const: "boat" }, { const: "car" }], []]);
  assert.ok(Object.values($defs).some(({ properties }) => properties?.depth));
});

test("a document in a folder refers to that folder only", async () => {
  const secret = write("secret.json", { secret: true });
  write("api/parts/inside.json", { a: { $ref: "../second.json#/b" } });
  write("api/second.json", { b: 1 });
  symlinkSync(secret, join(scratch, "api/link.json"));
  const references = ["parts/inside.json#/a", "../secret.json", "link.json", "none.json", "parts", pathToFileURL(secret).href, "https://pets.example/a.json", "data:application/json,{}", "http://["];
  const [, others] = await read(write("api/openapi.json", { list: references.map(($ref) => ({ $ref })), same: { $ref: "#/list" }, number: { $ref: 1 } }));
  const outside = "is outside of the folder of the document";
  const origin = "has a different origin from the document, so it is not read";
  assert.deepEqual(others, {
    "inside.json": { a: { $ref: "../second.json#/b" } },
    "second.json": { b: 1 },
    "secret.json": outside,
    "link.json": outside,
    "none.json": "does not exist",
    parts: "is not a file",
    "a.json": origin,
    "json,{}": origin,
    "[": "is not an address",
  });
});

test("a document at an address refers to its origin only", async (t) => {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push(request.url);
    const { port } = server.address();
    const answers = {
      "/openapi.json": JSON.stringify({ list: ["part.json", `http://127.0.0.1:${port}/moved`, `http://localhost:${port}/other.json`, "file:///etc/hostname"].map(($ref) => ({ $ref })) }),
      "/part.json": '{"a": 1}',
    };
    if (request.url === "/moved") response.writeHead(302, { location: "https://pets.example/" }).end();
    else if (request.url === "/large") response.end(Buffer.alloc(65 << 20, " "));
    else response.writeHead(answers[request.url] ? 200 : 404).end(answers[request.url]);
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const address = `http://127.0.0.1:${server.address().port}`;
  const [, others] = await read(`${address}/openapi.json`);
  const origin = "has a different origin from the document, so it is not read";
  assert.deepEqual(others, { "part.json": { a: 1 }, moved: "leads to https://pets.example/: import that address instead", "other.json": origin, hostname: "is a file, which a document at an address may not refer to" });
  assert.deepEqual(seen.toSorted(), ["/moved", "/openapi.json", "/part.json"]);
  for (const [path, expected] of [
    ["/none", /\/none cannot be read: the server answers 404/],
    ["/moved", /leads to https:\/\/pets\.example\/: import that address instead/],
    ["/large", /is too large: the limit is 64 MB/],
  ]) {
    await assert.rejects(readDocuments(`${address}${path}`), expected);
  }
  await assert.rejects(readDocuments("https://ada:secret@pets.example/a"), (error) => error.message.startsWith("An address may not have a password") && !error.message.includes("secret"));
});

test("an import writes definitions, and says what is left out and what is to be configured", async () => {
  const folder = project("first");
  const paths = { "/pets": get("pets/list", { security: [{ oauth: ["read"] }] }), "/bad": { options: {} } };
  const components = { securitySchemes: { oauth: { type: "oauth2", flows: { authorizationCode: { authorizationUrl: "https://id.example/authorize", tokenUrl: "https://id.example/token" } } } } };
  write("first/openapi.json", { ...document(paths, "2.1.0"), servers: [{ url: "/v1" }], components });
  const dry = await toolbooth(folder, "openapi.json --dry-run");
  assert.deepEqual([dry.code, readdirSync(join(scratch, folder, "tools"))], [0, ["lib.rs"]]);
  assert.match(dry.out, /^Would add 1 tool to tools\/pets:\n {2}Pets\.PetsList@2\.1\.0\n/);
  const { code, out, err } = await toolbooth(folder, "openapi.json");
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(out, `Added 1 tool to tools/pets:
  Pets.PetsList@2.1.0
Left out 1 operation:
  OPTIONS /bad: the method OPTIONS is not supported (#/paths/~1bad/options)
Simplified 1 place: the base address "/v1" is relative: PETS_URL must be set
  #
Imported 1 of 2 operations.
Left to configure, in .dev.vars, and in wrangler.toml or as secrets when you deploy:
  PETS_URL: the address of the service
  OAUTH_PROVIDERS: add pets, with OAUTH_PETS_CLIENT_ID and OAUTH_PETS_CLIENT_SECRET of a client that you register there
  OAUTH_PETS_AUTHORIZE_URL=https://id.example/authorize
  OAUTH_PETS_TOKEN_URL=https://id.example/token
  Scopes that its users grant: read
`);
  assert.deepEqual(readdirSync(join(scratch, folder, "tools/pets")), ["PetsList@2.1.0.json", "import.json", "toolkit.json"]);
  const { id, name, version, ...definition } = json(folder, "tools/pets/PetsList@2.1.0.json");
  assert.deepEqual([id, name, version], ["Pets.PetsList@2.1.0", "Pets_PetsList", "2.1.0"]);
  assert.deepEqual(json(folder, "tools/pets/toolkit.json"), { variables: { PETS_URL: { kind: "base" } } });
  const record = json(folder, "tools/pets/import.json");
  assert.deepEqual(record, { toolkit: "Pets", document: "openapi.json", variables: { PETS_URL: { kind: "base" } }, tools: { PetsList: { operation: "GET /pets", operationId: "pets/list", definition: { name, ...definition } } } });
});

test("the providers whose addresses the Worker knows need a client only", async () => {
  const presets = readFileSync(join(root, "crates/toolbooth-sign-in/src/oauth/presets.rs"), "utf8");
  const known = Object.fromEntries([...presets.matchAll(/^ +\("(\w+)", "(\w+)"\),$/gm)].map(([, id, title]) => [id, title]));
  assert.deepEqual(PRESETS, known);
  assert.equal(Object.keys(known).length, presets.match(/\bPreset::new\(/g).length);
  const folder = project("presets");
  const components = { securitySchemes: { oauth: { type: "oauth2", flows: { authorizationCode: { authorizationUrl: "https://id.example/authorize", tokenUrl: "https://id.example/token" } } } } };
  write("presets/openapi.json", { ...document({ "/pets": get("list", { security: [{ oauth: [] }] }) }), components });
  for (const id of ["linear", "constructor"]) {
    const { out } = await toolbooth(folder, `openapi.json --toolkit ${id} --dry-run`);
    assert.match(out, new RegExp(`OAUTH_PROVIDERS: add ${id}, with`));
    assert.equal(/_TOKEN_URL=/.test(out), id !== "linear", out);
  }
});

test("importing again keeps edits, and raises versions", async () => {
  const folder = project("again");
  const pets = (rest) => ({ "/pets": get("list", rest), "/pets/{id}": get("get"), "/old": get("old"), "/gone": get("gone") });
  write("again/openapi.json", document(pets({ description: "Lists pets." }), "0.3.0"));
  assert.equal((await toolbooth(folder, "openapi.json")).code, 0);
  const file = (name) => join(folder, "tools/pets", name);
  const list = json(file("List@0.3.0.json"));
  write(file("List@0.3.0.json"), { ...list, description: "Mine.", http: { ...list.http, select: "$.items" } });
  rmSync(join(scratch, file("Old@0.3.0.json")));
  write(file("Mine@1.0.0.json"), { id: "Pets.Mine@1.0.0", name: "Pets_Mine" });

  const same = await toolbooth(folder, "openapi.json");
  assert.match(same.out, /Left out 1 tool whose files were deleted.*\n {2}Old\n/);
  assert.match(same.out, /Imported 4 of 4 operations, 3 of them without a change\./);

  const { "/gone": _, ...rest } = pets({ description: "Lists all pets.", parameters: [{ name: "page", in: "query", description: "A page.", schema: { type: "integer" } }, { name: "shop", in: "query", required: true, description: "A shop.", schema: { type: "string" } }] });
  // The same document as YAML.
  write("again/openapi.yaml", stringify(document({ ...rest, "/mine": get("mine") }, "9.0.0")));
  const { out } = await toolbooth(folder, "openapi.yaml --verbose");
  assert.match(out, /Changed 1 tool:\n {2}Pets\.List 0\.3\.0 → 0\.4\.0: input_schema\.properties\.page, input_schema\.properties\.shop, input_schema\.required, http\.parameters\n/);
  assert.match(out, /The document no longer has 1 operation;.*\n {2}tools\/pets\/Gone@0\.3\.0\.json\n/);
  assert.match(out, /Kept the files of 1 tool, which no import has written:\n {2}Mine\n/);
  assert.match(out, /Kept your edits of members that the document changes too.*\n {2}Pets\.List: description\n/);
  const next = json(file("List@0.4.0.json"));
  assert.deepEqual([next.description, next.http.select, Object.keys(next.input_schema.properties)], ["Mine.", "$.items", ["page", "shop"]]);
  assert.deepEqual(readdirSync(join(scratch, folder, "tools/pets")), ["Get@0.3.0.json", "Gone@0.3.0.json", "List@0.4.0.json", "Mine@1.0.0.json", "import.json", "toolkit.json"]);
  assert.equal(json(file("import.json")).tools.List.definition.description, "Gets list.\n\nLists all pets.");

  write("again/openapi.json", document({ "/pets/{id}": get("get", { deprecated: true }) }));
  assert.equal((await toolbooth(folder, "openapi.json --keep")).code, 0);
  assert.ok(["Get@0.3.0.json", "Get@0.3.1.json"].every((name) => existsSync(join(scratch, file(name)))));
});

test("importing again keeps the names and edits of operations that are elsewhere now", async () => {
  const folder = project("moved");
  const file = (name) => join(folder, "tools/pets", name);
  const id = (name, description) => [{ name, in: "path", required: true, description, schema: { type: "string" } }];
  write("moved/openapi.json", document({ "/v1/pets/{id}": get("getPet", { parameters: id("id", "An id.") }), "/v1/pets": get("list") }));
  assert.equal((await toolbooth(folder, "openapi.json")).code, 0);
  const pet = json(file("GetPet@1.0.0.json"));
  write(file("GetPet@1.0.0.json"), { ...pet, description: "Mine.", input_schema: { ...pet.input_schema, properties: { id: { type: "string", description: "My id." } } } });
  const paths = { "/v2/pets/{petId}": get("getPet", { parameters: id("petId", "An id.") }), "/v2/pets": get("listPets") };
  write("moved/openapi.json", document(paths));
  const { out } = await toolbooth(folder, "openapi.json");
  assert.match(out, /Kept the names and your edits of operations that the document has elsewhere now:\n {2}Pets\.GetPet: GET \/v1\/pets\/\{id\} is GET \/v2\/pets\/\{petId\}\n {2}Pets\.List: GET \/v1\/pets is GET \/v2\/pets\n/);
  assert.doesNotMatch(out, /no longer has/);
  const next = json(file("GetPet@1.0.1.json"));
  assert.deepEqual([next.description, next.input_schema.properties, next.http.path, next.http.parameters], ["Mine.", { id: { type: "string", description: "My id." } }, "/v2/pets/{petId}", [{ property: "id", in: "path", name: "petId" }]]);
  const again = await toolbooth(folder, "openapi.json");
  assert.match(again.out, /Imported 2 of 2 operations, 2 of them without a change\./);
  assert.deepEqual(readdirSync(join(scratch, folder, "tools/pets")), ["GetPet@1.0.1.json", "List@1.0.1.json", "import.json", "toolkit.json"]);
});

test("large tools are named with their size, and --slim can be undone in import.json", async () => {
  const folder = project("large");
  const properties = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`m${at}`, { type: "object", properties: { a: { type: "string", description: "A sentence. ".repeat(60) } } }]));
  const content = { "application/json": { schema: { type: "object", properties } } };
  write("large/openapi.json", document({ "/a": { post: { operationId: "add", requestBody: { required: true, content } } }, "/b": get("list") }));
  const size = async (args) => {
    const { code, out } = await toolbooth(folder, `openapi.json ${args}`);
    assert.equal(code, 0);
    const [file] = readdirSync(join(scratch, folder, "tools/pets")).filter((name) => name.startsWith("Add@"));
    return [readFileSync(join(scratch, folder, "tools/pets", file), "utf8").length, out];
  };
  const [full, out] = await size("");
  assert.match(out, /^1 tool has more than 16,000 characters, which clients send to the model with each request; --slim shortens them:\n {2}Pets\.Add: 2\d,\d{3}$/m);
  const [small, shorter] = await size("--slim");
  assert.ok(small < full / 2, `${small} of ${full}`);
  assert.doesNotMatch(shorter, /characters/);
  assert.equal((await size(""))[0], small);
  const record = json(folder, "tools/pets/import.json");
  assert.equal(record.slim, true);
  write(join(folder, "tools/pets/import.json"), { ...record, slim: undefined });
  assert.equal((await size(""))[0], full);
});

test("how an import ends", async () => {
  const folder = project("ends");
  write("ends/openapi.json", document({ "/pets": get("list") }));
  write("ends/nothing.json", document({ "/pets": { options: {} } }));
  write("ends/types.json", { ...document({ "/pets": get("list") }), info: { title: "API Reference" }, servers: [] });
  write("ends/tools/shop/mod.rs", "");
  write("ends/empty/file", "");
  for (const [args, code, message] of [
    ["", 2, "Name a document: toolbooth import openapi.json\n"],
    ["none.json", 2, "There is no file none.json\n"],
    ["nothing.json", 1, "Nothing was imported.\n"],
    ["openapi.json --include cats", 1, "Nothing was imported.\n"],
    ["types.json", 2, "The document has no title to name the toolkit after: add --toolkit, such as --toolkit GitHub\n"],
    ["openapi.json --toolkit ../x", 2, 'The toolkit must have a name of 1 to 20 letters and digits, such as GitHub, not "../x"\n'],
    ["openapi.json --toolkit Shop", 1, "tools/shop exists, and was not imported: choose a different name with --toolkit\n"],
    ["openapi.json --toolkit OpenAI --auth secret:OPENAI_API_KEY", 2, 'The value of --auth must be provider:github or secret:NAME_OF_A_SECRET, not "secret:OPENAI_API_KEY"\n'],
    ["openapi.json --auth github", 2, 'The value of --auth must be provider:github or secret:NAME_OF_A_SECRET, not "github"\n'],
    ["openapi.json --folder empty", 2, "There is no empty/lib.rs: run this command in the folder of a project\n"],
  ]) {
    const ended = await toolbooth(folder, args);
    assert.deepEqual([ended.code, ended.err], [code, message], args);
  }
  assert.deepEqual(readdirSync(join(scratch, folder, "tools")), ["lib.rs", "shop"]);
});

test("text of a document cannot control the terminal", async () => {
  const folder = project("terminal");
  write("terminal/openapi.json", document({ "/pets": get("list"), "/\u001b[2J\u202e": { options: {} } }));
  const { out } = await toolbooth(folder, "openapi.json");
  assert.doesNotMatch(out, /[\u001b\u202e]/);
});
