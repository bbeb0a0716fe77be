// `toolbooth import`: the names of tools, and what the next import changes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { toolkitOf, toolkitOfHost, toolOf, variableOf, withProperties } from "../packages/toolbooth/src/import/names.js";
import { levelOf, raised, withEdits } from "../packages/toolbooth/src/import/update.js";
import { isOfWorker } from "../packages/toolbooth/src/variables.js";
import { imported, openapi } from "./support/import.mjs";

test("names of toolkits, tools and properties", () => {
  for (const [title, name] of [
    ["GitHub's official OpenAPI spec + more", "GitHub"],
    ["Slack Web API", "Slack"],
    ["Google Calendar API v3", "GoogleCalendar"],
    ["The Stripe API", "Stripe"],
    ["Ünïted Stätes", "UnitedStates"],
    ["3 things", "Things"],
    ["宠物", undefined],
    [undefined, undefined],
    ["Types", undefined],
    ["API Reference", undefined],
    ["REST API Documentation v2", undefined],
    ["The API Reference of Pets", "Pets"],
    ["Reference: Pet Store", "PetStore"],
    ["OpenAPI Definition", undefined],
    ["2.0", undefined],
  ]) {
    assert.equal(toolkitOf(title), name, title);
  }
  for (const [url, name] of [
    ["https://api.pets.example/v1", "Pets"],
    ["https://pets.co.uk", "Pets"],
    ["https://api.pet-store.io/v1", "PetStore"],
    ["https://api.example/v1", undefined],
    ["https://127.0.0.1/v1", undefined],
    ["http://localhost:8080", undefined],
    ["/v1", undefined],
    [undefined, undefined],
  ]) {
    assert.equal(toolkitOfHost(url), name, url);
  }
  const long = "a".repeat(80);
  for (const [operationId, tool] of [
    ["repos/list-for-org", "ReposListForOrg"],
    ["getPetById", "GetPetById"],
    ["__proto__", "Proto"],
    ["constructor", "Constructor"],
    ["2fa", "Get2fa"],
    ["self", /^self[0-9a-f]{6}$/i],
    ["../../etc/passwd", "EtcPasswd"],
    ["获取宠物", "GetAByBC"],
    ["\u0000\u001b[31m", "Get31m"],
    [undefined, "GetAByBC"],
    [long, /^A[a]{42}[0-9a-f]{6}$/],
  ]) {
    const name = toolOf("Pets", { method: "GET", path: "/a/{b-c}", operationId }, () => false);
    if (tool instanceof RegExp) assert.match(name, tool);
    else assert.equal(name, tool);
    assert.ok(`Pets_${name}__10_10_10`.length <= 64);
  }
  const properties = (...entries) => withProperties(entries.map(([place, name]) => ({ in: place, name }))).map(({ property }) => property);
  for (const [entries, expected] of [
    [[["path", "id"], ["body", "id"]], ["id__path", "id"]],
    [[["path", "id"], ["query", "id"]], ["id__path", "id__query"]],
    [[["query", "a[]"], ["query", "$top"], ["query", "[]"]], ["a", "top", "parameter"]],
    [[["query", "id__path"], ["path", "id"], ["body", "id"]], ["id__path", "id__path_2", "id"]],
    [[["query", "__proto__"], ["body", "constructor"]], ["__proto__", "constructor"]],
    [[["query", "a.b"], ["query", "a b"], ["query", "a_b"]], ["a.b", "a_b__query", "a_b__query_2"]],
  ]) {
    assert.deepEqual(properties(...entries), expected);
  }
});

test("a long name is shortened by words before it gets a hash", () => {
  const paths = (list) => Object.fromEntries(list.map(([method, path, operationId]) => [path, { [method]: operationId === undefined ? {} : { operationId } }]));
  for (const [operations, expected] of [
    [[["get", "/repositories/{workspace}/{repo_slug}/pullrequests/{pull_request_id}/tasks/{task_id}"]], ["GetRepositoriesPullrequestsTasksByTaskId"]],
    [[["delete", "/repositories/{workspace}/{repo_slug}/commit/{commit}/comments/{comment_id}"]], ["DeleteRepositoriesCommitCommentsByCommentId"]],
    [[["get", "/a", "actions/list-selected-repositories-of-the-organization-secret"]], ["ActionsListSelectedRepositoriesOrganizationSecret"]],
    [[["get", "/a", "getTheConfigurationOfTheEnvironmentForTheApplication"]], ["GetConfigurationEnvironmentApplication"]],
    [[["get", "/a", "PetsController_getPetsControllerPetsOfTheLargestShop"]], ["PetsControllerGetPetsControllerPetsLargestShop"]],
    // What two could be is none of them.
    [[["get", "/a", "getTheVeryLongNameOfTheFirstPetOfTheOwnerInTheLargestShop"], ["get", "/b", "getVeryLongNameOfFirstPetsOfTheOwnersInTheLargestOfTheShops"]], ["GetVeryLongNameFirstPetOwnerLargestShop", "GetVeryLongNameFirstPetsOwnersLargestShops"]],
    [[["get", "/a", "getTheVeryLongNameOfTheFirstPetOfTheOwnerInTheLargestShop"], ["get", "/b", "getVeryLongNameOfTheFirstPetOfTheOwnerInTheLargestOfTheShop"]], [/^GetVeryLong.*Shop[0-9a-f]{6}$/, /^GetVeryLong.*Shop[0-9a-f]{6}$/]],
    [[["get", "/a", `get${"x".repeat(60)}`]], [/^Getx{40}[0-9a-f]{6}$/]],
  ]) {
    const names = Object.keys(imported(openapi(paths(operations))).tools);
    for (const [at, name] of expected.entries()) name instanceof RegExp ? assert.match(names[at], name) : assert.equal(names[at], name, JSON.stringify(operations));
  }
});

test("variables have no name that the Worker itself uses", () => {
  for (const [toolkit, suffix, name] of [
    ["GitHub", "URL", "GITHUB_URL"],
    ["OpenAI", "API_KEY", "SERVICE_OPENAI_API_KEY"],
    ["OpenAI", "URL", "OPENAI_URL"],
    ["Gateway", "URL", "SERVICE_GATEWAY_URL"],
    ["State", "KEY_PREVIOUS", "SERVICE_STATE_KEY_PREVIOUS"],
  ]) {
    assert.equal(variableOf(toolkit, suffix), name);
  }
  // The build has a list of its own.
  const list = readFileSync(new URL("../crates/toolbooth-build/src/http/reserved.rs", import.meta.url), "utf8").split("const PREFIXES")[1];
  const names = [...list.matchAll(/"([A-Z_]+)"/g)].map(([, name]) => name);
  assert.ok(names.length > 30, `${names}`);
  assert.deepEqual(names.filter((name) => !isOfWorker(name) && !isOfWorker(`${name}X`)), []);
});

test("operations with the same id have different names, which the next import keeps", () => {
  const get = { get: { operationId: "list" } };
  const first = imported(openapi({ "/a": get }));
  assert.deepEqual(Object.keys(first.tools), ["List"]);
  const previous = { List: { operation: "GET /a", definition: {} } };
  const second = imported(openapi({ "/b": { get: { operationId: "LIST" } }, "/a": get }), { previous });
  const [other, same] = Object.keys(second.tools);
  assert.equal(same, "List");
  assert.match(other, /^LIST[0-9a-f]{6}$/);
  // A document that renames an operation does not rename the tool.
  assert.deepEqual(Object.keys(imported(openapi({ "/a": { get: { operationId: "index" } } }), { previous }).tools), ["List"]);
});

test("an operation that is elsewhere now keeps its name, if it is clear which one it is", () => {
  const named = (paths, record) => {
    const previous = Object.fromEntries(Object.entries(record).map(([tool, [operation, operationId]]) => [tool, { operation, operationId, definition: {} }]));
    return Object.fromEntries(Object.entries(imported(openapi(paths), { previous }).tools).map(([tool, { http }]) => [`${http.method} ${http.path}`, tool]));
  };
  const get = (operationId) => ({ get: operationId === undefined ? {} : { operationId } });
  const renamed = /^[A-Za-z]+[0-9a-f]{6}$/;
  for (const [name, paths, record, expected] of [
    ["the version in the path", { "/v2/a/{id}": get("a") }, { A: ["GET /v1/a/{id}", "a"] }, { "GET /v2/a/{id}": "A" }],
    ["the version in the path, and no id", { "/v2/a/{id}": get() }, { Mine: ["GET /v1/a/{id}"] }, { "GET /v2/a/{id}": "Mine" }],
    ["the version moves to the server", { "/a": get() }, { Mine: ["GET /v1/a"] }, { "GET /a": "Mine" }],
    ["a date as a version", { "/2024-01-01/a": get() }, { Mine: ["GET /2023-01-01/a"] }, { "GET /2024-01-01/a": "Mine" }],
    ["a name in the path", { "/a/{petId}/b": get() }, { Mine: ["GET /a/{id}/b"] }, { "GET /a/{petId}/b": "Mine" }],
    ["the same id at a different place", { "/new": get("a") }, { Mine: ["GET /old", "a"] }, { "GET /new": "Mine" }],
    ["the same id with a different method", { "/a": { put: { operationId: "a" } } }, { Mine: ["PATCH /a", "a"] }, { "PUT /a": "Mine" }],
    ["the same name, of an import before ids were kept", { "/new": get("getIt") }, { GetIt: ["GET /old"] }, { "GET /new": "GetIt" }],
    ["both versions", { "/v1/a": get("a"), "/v2/a": get("a") }, { A: ["GET /v1/a", "a"] }, { "GET /v1/a": "A", "GET /v2/a": renamed }],
    ["two that could be meant", { "/v3/a": get() }, { One: ["GET /v1/a"], Two: ["GET /v2/a"] }, { "GET /v3/a": "GetV3A" }],
    ["two that the id could be", { "/x": get("a"), "/y": get("a") }, { Mine: ["GET /old", "a"] }, { "GET /x": "A", "GET /y": renamed }],
    ["a different operation", { "/b": get("b") }, { A: ["GET /a", "a"] }, { "GET /b": "B" }],
    ["one that takes no name of a different operation", { "/b": get("a") }, { A: ["POST /a"] }, { "GET /b": renamed }],
  ]) {
    const found = named(paths, record);
    assert.deepEqual(Object.keys(found), Object.keys(expected), name);
    for (const [key, tool] of Object.entries(expected)) tool instanceof RegExp ? assert.match(found[key], tool, name) : assert.equal(found[key], tool, name);
  }
});

test("ten thousand operations that moved are found at once", () => {
  const paths = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`/v2/p${at}/{id}`, { get: {} }]));
  const previous = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`P${at}`, { operation: `GET /v1/p${at}/{key}`, definition: {} }]));
  const since = performance.now();
  assert.deepEqual(Object.keys(imported(openapi(paths), { previous }).tools), Object.keys(previous));
  assert.ok(performance.now() - since < 20_000);
});

test("properties keep their names", () => {
  const query = (name) => ({ name, in: "query", schema: {} });
  const previous = { A: { operation: "GET /a/{id}", definition: { http: { path: "/a/{id}", parameters: [{ property: "id", in: "path", name: "id" }, { property: "page", in: "query", name: "page[]" }] } } } };
  for (const [path, parameters, expected] of [
    ["/a/{petId}", [query("page[]")], ["id", "page"]],
    ["/a/{petId}", [query("id"), query("page"), query("page[]")], ["id", "id__query", "page__query", "page"]],
    ["/a/{petId}", [{ ...query("petId") }], ["id", "petId"]],
  ]) {
    const { tools } = imported(openapi({ [path]: { get: { operationId: "a", parameters } } }), { previous });
    assert.deepEqual(tools.A.http.parameters.map(({ property }) => property), expected, JSON.stringify(parameters));
  }
});

test("edits are kept", () => {
  const conflicts = [];
  const generated = { description: "Old.", http: { path: "/a", timeout_ms: 1, body: { a: "a" } }, title: "Title", tags: ["x"] };
  const current = { description: "Mine.", http: { path: "/a", timeout_ms: 9, body: { a: "a" }, select: "$.a" }, tags: ["x"] };
  const next = { description: "New.", http: { path: "/b", timeout_ms: 1, body: { a: "a", b: "b" } }, title: "Title", tags: ["y"] };
  const merged = withEdits(generated, current, next, (place) => conflicts.push(place));
  assert.deepEqual(merged, { description: "Mine.", http: { path: "/b", timeout_ms: 9, body: { a: "a", b: "b" }, select: "$.a" }, tags: ["y"] });
  assert.deepEqual(conflicts, ["description"]);
});

test("versions are raised by what changed for callers", () => {
  const text = { type: "string" };
  const definition = (properties, rest = {}, $defs) => ({ description: "Old.", input_schema: { type: "object", properties, ...rest, ...($defs && { $defs }) }, http: { path: "/a" }, annotations: {} });
  const old = definition({ a: { type: "string", maxLength: 5, enum: ["x", "y"] }, b: { type: "integer" } }, { required: ["a"] });
  const withInput = (properties, rest) => ({ ...old, input_schema: { ...old.input_schema, properties: { ...old.input_schema.properties, ...properties }, ...rest } });
  const reference = (target) => definition({ a: { $ref: "#/$defs/A" } }, {}, { A: target });
  for (const [before, after, level] of [
    [old, old, "none"],
    [old, { ...old, description: "New." }, "patch"],
    [old, { ...old, http: { path: "/b" } }, "patch"],
    [old, { ...old, deprecated: { message: "m" } }, "minor"],
    [old, { ...old, annotations: { read_only: true } }, "minor"],
    [old, { ...old, scopes: ["pets:read"] }, "major"],
    [old, { ...old, requirements: { authorization: [{ id: "pets" }] } }, "major"],
    [old, withInput({ c: text }), "minor"],
    [old, withInput({}, { required: [] }), "minor"],
    [old, withInput({}, { required: ["a", "b"] }), "major"],
    [old, withInput({ a: { type: "string", maxLength: 9, enum: ["x", "y"] } }), "minor"],
    [old, withInput({ a: { type: "string", maxLength: 4, enum: ["x", "y"] } }), "major"],
    [old, withInput({ a: { type: "string", maxLength: 5, enum: ["x", "y", "z"] } }), "minor"],
    [old, withInput({ a: { type: "string", maxLength: 5, enum: ["x"] } }), "major"],
    [old, withInput({ a: { type: "string", maxLength: 5, enum: ["x", "y"], description: "d" } }), "patch"],
    [old, withInput({ b: { type: "number" } }), "minor"],
    [old, withInput({ b: { type: ["integer", "null"] } }), "minor"],
    [old, withInput({ b: text }), "major"],
    [old, withInput({ b: { type: "integer", minimum: 1 } }), "major"],
    [old, { ...old, input_schema: { type: "object", properties: { a: old.input_schema.properties.a }, required: ["a"] } }, "major"],
    [reference(text), reference({ ...text, description: "d" }), "patch"],
    [reference(text), reference({ type: ["string", "null"] }), "minor"],
    [reference(text), reference({ type: "integer" }), "major"],
  ]) {
    assert.equal(levelOf(before, after), level, JSON.stringify(after));
  }
  for (const [version, level, expected] of [
    ["0.1.3", "major", "0.2.0"],
    ["0.1.3", "minor", "0.1.4"],
    ["0.1.3", "patch", "0.1.4"],
    ["1.2.3", "major", "2.0.0"],
    ["1.2.3", "minor", "1.3.0"],
    ["1.2.3", "none", "1.2.3"],
  ]) {
    assert.equal(raised(version, level), expected);
  }
});
