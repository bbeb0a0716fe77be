// A realistic call: 2 KB of nested input to a tool whose schema has thirty properties.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Connection, post } from "./load.mjs";
import { ROOT } from "./paths.mjs";
import { comparable } from "./verify.mjs";

/** The tool. */
export const definition = JSON.parse(await readFile(join(ROOT, "bench/order/Price@1.0.0.json"), "utf8"));

// The order that is priced stands in the definition, as its example.
const [{ input: ORDER, value: PRICE }] = definition.examples;

const call = (input) => {
  const body = JSON.stringify({ call_id: "order", tool_id: "Order.Price@1.0.0", input });
  return { bytes: Buffer.byteLength(JSON.stringify(input)), request: post("/tools/call", body) };
};

/** What is measured, and how many bytes its input has. */
export const { request: CALL, bytes: BYTES } = call(ORDER);

const changed = (change) => {
  const order = structuredClone(ORDER);
  change(order);
  return call(order).request;
};
const REFUSED = [
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

/** Throws unless all these Workers price the order right, and refuse bad ones in the same words. */
export async function verifyOrder(names, ports) {
  let expected;
  for (const name of names) {
    const connection = await Connection.open(ports[name]);
    const answers = [];
    for (const request of [CALL, ...REFUSED]) answers.push(comparable(await connection.send(request)));
    connection.close();
    const [priced, ...refused] = answers;
    assert.deepEqual([priced.status, priced.body.value], [200, PRICE], name);
    for (const { status } of refused) assert.equal(status, 422, name);
    expected ??= answers;
    assert.deepEqual(answers, expected, name);
  }
}
