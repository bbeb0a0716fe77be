// What a view makes of the messages of its host.
import assert from "node:assert/strict";
import { test } from "node:test";

// What it needs of a page.
const listeners = [];
const parent = { postMessage: () => {} };
Object.assign(globalThis, { parent, document: { title: "view" }, addEventListener: (_, listener) => listeners.push(listener) });
const { connect } = await import("../packages/toolbooth/src/view.js");

const VALUE = { content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } };
const FAILED = { content: [{ type: "text", text: "no such city" }], isError: true };
const IMAGE = { content: [{ type: "image", data: "AA==", mimeType: "image/png" }] };
const EMPTY = [
  ...[{}, null, undefined, { content: [] }, { content: null }, { content: {} }, { structuredContent: null }, { structuredContent: {}, content: [] }],
  ...[{ content: [{ type: "text", text: "" }] }, { content: [{ type: "text" }] }, { isError: true, content: [] }, { isError: false, content: [], _meta: { a: 1 } }],
];
const result = (params) => ({ method: "ui/notifications/tool-result", params });
const input = (params) => ({ method: "ui/notifications/tool-input", params });
const cancelled = { method: "ui/notifications/tool-cancelled", params: { reason: "changed my mind" } };
const ofText = (text, more) => result({ content: [{ type: "text", text }], ...more });

for (const [title, messages, expected] of [
  ...EMPTY.map((empty) => [`${JSON.stringify(empty)} after a value`, [result(VALUE), result(empty)], { result: { a: 1 }, changes: 1 }]),
  ...EMPTY.map((empty) => [`${JSON.stringify(empty)} after an error`, [result(FAILED), result(empty)], { error: "no such city", changes: 1 }]),
  ["an empty result after the end of a call", [cancelled, result({})], { error: "changed my mind", changes: 1 }],
  ["an empty result, then a value", [result({}), result(VALUE)], { result: { a: 1 }, changes: 2 }],
  ["an error, then a value", [result(FAILED), result(VALUE)], { result: { a: 1 }, changes: 2 }],
  ["a value, then an error", [result(VALUE), result(FAILED)], { error: "no such city", changes: 2 }],
  ["a value, then an empty object", [result(VALUE), ofText("{}", { structuredContent: {} })], { result: {}, changes: 2 }],
  ["a value, then a text", [result(VALUE), ofText("b")], { result: "b", changes: 2 }],
  ["a value, then an image", [result(VALUE), result(IMAGE)], { result: "", changes: 2 }],
  ["a value, then zero", [result(VALUE), ofText("0", { structuredContent: { result: 0 } })], { result: 0, changes: 2 }],
  ["a value, then null", [result(VALUE), ofText("null", { structuredContent: { result: null } })], { result: null, changes: 2 }],
  ["an error without a text", [result({ isError: true })], { error: "The tool failed", changes: 1 }],
  ["an input, then empty ones", [input({ arguments: { a: 1 } }), input({ arguments: {} }), input({}), input(null)], { input: { a: 1 }, changes: 1 }],
  ["an empty input, then another", [input({ arguments: {} }), input({ arguments: { a: 1 } })], { input: { a: 1 }, changes: 2 }],
]) {
  test(`a view gets ${title}`, () => {
    const view = connect();
    const receive = listeners.pop();
    let changes = 0;
    view.onChange(() => (changes += 1));
    for (const message of messages) receive({ source: parent, data: { jsonrpc: "2.0", ...message } });
    assert.deepEqual({ input: view.input, result: view.result, error: view.error, changes }, { input: undefined, result: undefined, error: undefined, ...expected });
  });
}
