// What the examples of the definitions cannot show, on simulations of D1 and R2: `toolbooth test` runs it.
import assert from "node:assert/strict";
import { test } from "node:test";
// In a project of your own: from "toolbooth/testing".
import { ToolTest } from "../../../packages/toolbooth/src/testing.js";

test("a note is created, found, read and deleted", async (t) => {
  const notes = await ToolTest.start(t);
  const { id } = await notes.value("Notes.Create", { title: "Trip", text: "Buy tickets to 東京, quickly" });
  const note = await notes.value("Notes.Get", { id });
  assert.match(note.created, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(note, { id, title: "Trip", text: "Buy tickets to 東京, quickly", created: note.created, attachments: [] });
  const found = await notes.value("Notes.Search", { query: "ticket" });
  assert.deepEqual(found.notes, [{ id, title: "Trip", snippet: note.text, created: note.created }]);
  assert.equal(await notes.value("Notes.Delete", { id }), null);
  assert.equal((await notes.error("Notes.Get", { id })).message, "There is no such note");
  assert.deepEqual(await notes.value("Notes.Search", { query: "ticket" }), { notes: [] }, "the index forgets deleted notes");
});

test("an attachment goes to R2, and with its note", async (t) => {
  const notes = await ToolTest.start(t);
  const { NOTES, ATTACHMENTS } = await notes.env();
  const { id } = await notes.value("Notes.Create", { title: "Files", text: "one" });
  const attached = await notes.value("Notes.Attach", { note_id: id, name: "a.txt", mime_type: "text/plain", data: "aGk=" });
  const object = await ATTACHMENTS.get(`attachments/${attached.id}`);
  assert.equal(await object.text(), "hi");
  await notes.value("Notes.Delete", { id });
  assert.equal(await ATTACHMENTS.head(`attachments/${attached.id}`), null);
  assert.deepEqual(await NOTES.prepare("SELECT count(*) AS count FROM attachments").first(), { count: 0 });
});
