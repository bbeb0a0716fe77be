// The sample samples/notes, on simulations of D1 and R2: limits, hostile input and other users. Its own tests, which
// `toolbooth test` runs, are in samples/notes/notes: tests-on-workerd.test.mjs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { NOTES, start } from "./support/worker.mjs";

const sample = (path) => new URL(`../samples/notes/${path}`, import.meta.url);
const MIGRATION = readFileSync(sample("migrations/0001_notes.sql"), "utf8");
const [ANN, BOB, READER] = ["ann-key", "bob-key", "reader-key"];
const KEYS = [entryOf(ANN, "ann", ["notes:read", "notes:write"]), entryOf(BOB, "bob", ["*"]), entryOf(READER, "reader", ["notes:read"])];
const ALL = { NOTES: { type: "d1", id: "notes" }, ATTACHMENTS: { type: "r2", name: "attachments" } };
const vars = { AUTH: "api-key", API_KEYS: JSON.stringify(KEYS), MAX_BODY_BYTES: "2097152" };

/** Starts the sample with an empty database. */
async function open(bindings = ALL) {
  const worker = await start(NOTES, { vars, bindings });
  if (!bindings.NOTES) return worker;
  // A statement ends at a semicolon at the end of a line, in a trigger at END.
  const statements = MIGRATION.replaceAll(/^\s*--.*$/gm, "").match(/CREATE TRIGGER[^]*?END;|CREATE[^]*?;/g);
  const database = await worker.database("NOTES");
  await database.batch(statements.map((sql) => database.prepare(sql)));
  return worker;
}

let worker;
before(async () => (worker = await open()));
after(() => worker.close());
afterEach(async () => {
  await (await worker.database("NOTES")).exec("DELETE FROM notes");
  const bucket = await worker.bucket("ATTACHMENTS");
  await bucket.delete((await bucket.list()).objects.map(({ key }) => key));
});

const post = (tool, input, { key = ANN, user, on = worker } = {}) =>
  on.post({ tool_id: `Notes.${tool}`, input, ...(user && { context: { user_id: user } }) }, { headers: { authorization: `Bearer ${key}` } });
async function call(tool, input, options) {
  const { status, json } = await post(tool, input, options);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}
const create = async (title, text, options) => (await call("Create", { title, text }, options)).value.id;
const titles = async (query, options) => (await call("Search", { query }, options)).value.notes.map(({ title }) => title);
const attach = (note_id, bytes, mime_type = "text/plain", options) =>
  call("Attach", { note_id, name: "a", mime_type, data: Buffer.from(bytes).toString("base64") }, options);

test("search: all words, forms and beginnings of words, the best first, the newest without a query", async () => {
  await create("Milk", "milk milk milk");
  await create("List", "bread, potatoes and milk");
  for (const [query, expected] of [
    ["milk", ["Milk", "List"]],
    ["MILK", ["Milk", "List"]],
    ["milk bread", ["List"]],
    ["potato", ["List"]],
    ["pot*", ["List"]],
    ["pot", []],
    ["list", ["List"]],
    ["umbrella", []],
  ]) {
    assert.deepEqual(await titles(query), expected, query);
  }
  const newest = await call("Search", {});
  assert.deepEqual(newest.value.notes.map(({ title }) => title), ["List", "Milk"]);
  assert.equal((await call("Search", { limit: 1 })).value.notes.length, 1);
});

test("queries that are syntax to FTS5 or SQL are words", async () => {
  await create("A", "nothing to see: title, AND, OR, NOT, NEAR");
  for (const query of [
    '"', '""', '"a', "a\"b", "'", "';--", "AND", "OR OR", "NOT a", "NEAR(a b)", "NEAR(a b, 2", "title:nothing", "words:nothing", "{title} : a",
    "^nothing", "-nothing", "+nothing", "a + b", "(", ")", "((a)", "nothing)", "*", "**", "a * b", "\\", "%", "_", "nothing\0", "\0", "é*",
    "' UNION SELECT owner, id, text, 1 FROM notes --", "x' OR '1'='1", "a; DROP TABLE notes;",
  ]) {
    const { error, success } = await call("Search", { query });
    assert.ok(success || error.message === "The query has no words", `${JSON.stringify(query)}: ${JSON.stringify(error)}`);
  }
  assert.deepEqual(await titles("nothing OR umbrella"), [], "OR is a word");
  assert.deepEqual(await titles("' OR 1=1 --"), []);
  assert.deepEqual(await worker.logs(), []);
});

test("SQL in every other input is text", async () => {
  const evil = `x'); DROP TABLE notes; -- ", ?1 %s $1 \\' \u{2028} 😀`;
  const id = await create(evil, evil);
  assert.deepEqual((await call("Get", { id })).value.text, evil);
  for (const wrong of [`${id.slice(0, 20)}' OR 1=1`, "' OR '1'='1", "%", "_", "", "x' --"]) {
    for (const tool of ["Get", "Delete"]) assert.equal((await call(tool, { id: wrong })).error.message, "There is no such note", wrong);
    assert.equal((await call("GetAttachment", { id: wrong })).error.message, "There is no such attachment", wrong);
    assert.equal((await attach(wrong, "x")).error.message, "There is no such note", wrong);
  }
  assert.deepEqual(await titles("DROP"), [evil]);
  assert.deepEqual(await worker.logs(), []);
});

test("a user reaches nobody else's notes and attachments", async () => {
  const id = await create("Secret", "the treasure is under the tree");
  const { value: attached } = await attach(id, "map");
  for (const other of [{ key: BOB }, { user: "carl" }, { key: BOB, user: "ann" }]) {
    assert.deepEqual(await titles("treasure", other), []);
    assert.deepEqual((await call("Search", {}, other)).value.notes, []);
    for (const tool of ["Get", "Delete"]) assert.equal((await call(tool, { id }, other)).error.message, "There is no such note");
    assert.equal((await attach(id, "x", "text/plain", other)).error.message, "There is no such note");
    assert.equal((await call("GetAttachment", { id: attached.id }, other)).error.message, "There is no such attachment");
  }
  const own = (await call("Get", { id })).value;
  assert.equal(own.attachments.length, 1);
  assert.deepEqual(await titles("treasure", { user: "ann" }), [], "a user of the application is not the application");
});

test("scopes", async () => {
  for (const [tool, input] of [["Create", { title: "a", text: "b" }], ["Delete", { id: "a" }], ["Attach", { note_id: "a", name: "a", mime_type: "a/b", data: "" }]]) {
    assert.equal((await post(tool, input, { key: READER })).status, 403, tool);
  }
  assert.deepEqual((await call("Search", {}, { key: READER })).value, { notes: [] });
});

test("attachments come back as content blocks", async () => {
  const id = await create("Files", "four");
  for (const [mime_type, bytes, expected] of [
    ["image/png", "\x89PNG", (data) => ({ type: "image", data, mimeType: "image/png" })],
    ["audio/wav", "RIFF", (data) => ({ type: "audio", data, mimeType: "audio/wav" })],
    ["text/plain", "hé", (data, uri) => ({ type: "resource", resource: { uri, mimeType: "text/plain", text: "hé" } })],
    ["application/pdf", "%PDF", (data, uri) => ({ type: "resource", resource: { uri, mimeType: "application/pdf", blob: data } })],
  ]) {
    const { value } = await attach(id, bytes, mime_type);
    const { value: blocks } = await call("GetAttachment", { id: value.id });
    assert.deepEqual(blocks, [expected(Buffer.from(bytes).toString("base64"), `attachment:${value.id}`)]);
  }
  const { value: note } = await call("Get", { id });
  assert.deepEqual(note.attachments.map(({ mime_type, size }) => [mime_type, size]), [["image/png", 5], ["audio/wav", 4], ["text/plain", 3], ["application/pdf", 4]]);
  const bucket = await worker.bucket("ATTACHMENTS");
  const object = await bucket.head(`attachments/${note.attachments[0].id}`);
  assert.equal(object.httpMetadata.contentType, "image/png");
});

test("attachments have at most 1 MiB, and a note at most 10", async () => {
  const id = await create("Large", "");
  const megabyte = Buffer.alloc(1 << 20, 7);
  const { value } = await attach(id, megabyte, "application/octet-stream");
  const [{ resource }] = (await call("GetAttachment", { id: value.id })).value;
  assert.ok(Buffer.from(resource.blob, "base64").equals(megabyte));
  // As long in base64 as the largest attachment, and a byte longer.
  const longer = await attach(id, Buffer.alloc((1 << 20) + 1), "application/octet-stream");
  assert.match(longer.error.message, /larger than 1048576 bytes/);
  const input = { note_id: id, name: "a", mime_type: "a/b", data: "AAAA".repeat(349_527) };
  const long = await post("Attach", input);
  assert.match(JSON.stringify(long.json), /1398104/);
  assert.equal((await post("Attach", { ...input, data: "A".repeat(2_200_000) })).status, 413);
  for (const data of ["hi!", "aGk", "aGk=\n"]) {
    assert.equal((await call("Attach", { ...input, data })).error.message, "The data is not base64", data);
  }
  for (let more = 1; more < 10; more++) assert.ok((await attach(id, "x")).success);
  assert.equal((await attach(id, "x")).error.message, "The note already has 10 attachments");
  assert.equal((await call("Get", { id })).value.attachments.length, 10);
});

test("an object that R2 has lost is no attachment", async () => {
  const id = await create("Lost", "");
  const { value } = await attach(id, "x");
  await (await worker.bucket("ATTACHMENTS")).delete(`attachments/${value.id}`);
  assert.equal((await call("GetAttachment", { id: value.id })).error.message, "There is no such attachment");
});

test("a user has at most 1,000 notes", async () => {
  const database = await worker.database("NOTES");
  const fill = `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
    INSERT INTO notes (id, owner, title, text, created_ms) SELECT n, '["key","ann",""]', 't', 't', 0 FROM n`;
  await database.prepare(fill).run();
  assert.match((await call("Create", { title: "a", text: "b" })).error.message, /1000 notes/);
  assert.ok((await call("Create", { title: "a", text: "b" }, { key: BOB })).success);
});

async function isDisabled(tool, input, on) {
  const { status, json } = await post(tool, input, { on });
  assert.equal(status, 400, tool);
  assert.equal(json.message, `Tool 'Notes_${tool}' is not configured`);
}

test("without R2 only attachments are disabled; without D1 every tool", async () => {
  const noFiles = await open({ NOTES: ALL.NOTES });
  try {
    const id = await create("a", "b", { on: noFiles });
    await isDisabled("Attach", { note_id: id, name: "a", mime_type: "a/b", data: "" }, noFiles);
    await isDisabled("GetAttachment", { id }, noFiles);
    assert.ok((await call("Delete", { id }, { on: noFiles })).success);
  } finally {
    await noFiles.close();
  }
  const nothing = await open({});
  try {
    for (const [tool, input] of [["Search", {}], ["Create", { title: "a", text: "b" }]]) await isDisabled(tool, input, nothing);
  } finally {
    await nothing.close();
  }
});

test("a database without its tables is the tool's error, and the log has the reason but no input", async () => {
  const empty = await start(NOTES, { vars, bindings: ALL });
  try {
    const { error } = await call("Create", { title: "a", text: "a secret" }, { on: empty });
    assert.equal(error.message, "A service that the tool uses failed");
    const [{ message }] = (await empty.logs()).filter(({ message }) => message.includes('"platform"'));
    assert.match(message, /no such table: notes/);
    assert.doesNotMatch(message, /a secret/);
  } finally {
    await empty.close();
  }
});
