// Calls that are logged: ours and Hono write the same line for each.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";

import { Connection } from "./load.mjs";
import { calculator } from "./tools.mjs";
import { CALL } from "./verify.mjs";
import { configure, serve } from "./workerd.mjs";
import { service } from "./workers.mjs";

/** The Workers that log: Hono, and ours with these modules. */
export async function loggers(modules) {
  const variables = { AUTH: "none", ANONYMOUS_SCOPES: "*", LOG: "calls" };
  return [
    await service("hono-logged", "Hono + AJV", "add", await calculator()),
    { name: "ours-logged", title: "ours", variables, modules },
  ];
}

/** Throws unless the Workers log the same line. */
export async function verifyLines(workers) {
  const [expected, ...others] = await Promise.all(workers.map(line));
  for (const other of others) assert.equal(other, expected);
}

/** What a Worker logs for a call, without its duration. */
async function line(worker) {
  const use = async ({ ports, output }) => {
    const lines = createInterface({ input: output })[Symbol.asyncIterator]();
    const connection = await Connection.open(ports[worker.name]);
    await connection.send(CALL);
    const { value } = await lines.next();
    connection.close();
    return value.replace(/"duration_ms":\d+/, '"duration_ms":0');
  };
  return serve(await configure([worker]), use, { output: "pipe" });
}
