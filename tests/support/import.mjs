// What becomes of a document in the tests of the import.
import assert from "node:assert/strict";
import { readCatalogue } from "../../packages/toolbooth/src/import/catalogue.js";

const ADDRESS = "file:///document.json";
/** What becomes of a document: `{ tools, left, notes, … }`, with definitions by name. */
export function imported(document, options = {}) {
  const read = { address: ADDRESS, documents: new Map([[ADDRESS, { value: document }]]) };
  const { tools, notes, ...rest } = readCatalogue({ read, toolkit: "Pets", ...options });
  return { ...rest, notes: notes.list(), tools: Object.fromEntries([...tools].map(([tool, { definition }]) => [tool, definition])) };
}
export const openapi = (paths, rest = {}) => ({ openapi: "3.1.0", info: { title: "Pets" }, servers: [{ url: "https://pets.example/v1/" }], paths, ...rest });
/** The only definition of a document with one operation. */
export function only(document, options) {
  const { tools, left } = imported(document, options);
  assert.deepEqual(left, []);
  return Object.values(tools)[0];
}
