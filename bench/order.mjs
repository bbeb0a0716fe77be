// A realistic call: 2 KB of nested input for a tool whose schema has thirty properties.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Connection, post } from "./load.mjs";
import { ROOT } from "./paths.mjs";
import { comparable } from "./verify.mjs";

/** The definition of the tool. */
export const definition = JSON.parse(await readFile(join(ROOT, "bench/order/Price@1.0.0.json"), "utf8"));

// The order is the example in the definition.
const [{ input: ORDER, value: PRICE }] = definition.examples;

const call = (input, tool_id = "Order.Price@1.0.0") => {
  const body = JSON.stringify({ call_id: "order", tool_id, input });
  return { bytes: Buffer.byteLength(JSON.stringify(input)), request: post("/tools/call", body) };
};

/** The measured request, and the size of its input in bytes. */
export const { request: CALL, bytes: BYTES } = call(ORDER);

/** The same request to the tool in TypeScript. */
export const { request: SCRIPTED_CALL } = call(ORDER, "Scripted.Price@1.0.0");

const changed = (change) => {
  const order = structuredClone(ORDER);
  change(order);
  return call(order).request;
};
const INVALID = [
  changed((order) => delete order.customer.address.city),
  changed((order) => (order.lines[7].quantity = 0)),
  changed((order) => (order.lines[9].tax = "much")),
  changed((order) => {
    order.currency = "DEM";
    order.priority = 10;
    order.gift = "yes";
    order.lines[2].discount = 1.5;
    order.lines[3].extra.colour = "red";
    order.lines[4].tags.push("");
    order.shipping.grams = 1.5;
  }),
  changed((order) => (order.lines = [])),
  changed((order) => (order.notes = { first: "none" })),
];

/** Throws unless the tools in TypeScript of this Worker return what those in Rust do. */
export async function verifyScripted(port, sum) {
  const connection = await Connection.open(port);
  const value = async (request) => comparable(await connection.send(request)).body.value;
  assert.deepEqual(await value(SCRIPTED_CALL), PRICE);
  assert.equal(await value(sum), 15);
  connection.close();
}

/** Throws unless all these Workers return the correct price and reject invalid orders with the same messages. */
export async function verifyOrder(names, ports) {
  let expected;
  for (const name of names) {
    const connection = await Connection.open(ports[name]);
    const answers = [];
    for (const request of [CALL, ...INVALID]) answers.push(comparable(await connection.send(request)));
    connection.close();
    const [priced, ...rejected] = answers;
    assert.deepEqual([priced.status, priced.body.value], [200, PRICE], name);
    for (const { status } of rejected) assert.equal(status, 422, name);
    expected ??= answers;
    assert.deepEqual(answers, expected, name);
  }
}
