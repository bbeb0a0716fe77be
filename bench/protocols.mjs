// The same call in each protocol, in the formats of tests/support/protocols.mjs.
import assert from "node:assert/strict";

import { FORMS, pathOf } from "../tests/support/protocols.mjs";
import { Connection, get, post } from "./load.mjs";
import { add } from "./mcp.mjs";

// The root accepts the formats of other protocols.
const CALLABLE = Object.entries(FORMS).filter(([protocol, { path }]) => protocol !== "root" && path !== undefined);

/** A call of Calculator.Add with this input in each protocol: `{ title, request, sum }`; `sum` reads a response. */
export function calls(input) {
  return CALLABLE.map(([protocol, { title, path, body, value }]) => ({
    title,
    // The current revision of MCP repeats parts of the body in headers.
    request: protocol === "mcp" ? add(input) : post(pathOf(path, "Calculator_Add"), JSON.stringify(body("Calculator_Add", input))),
    sum: (response) => Number(value(response)),
  }));
}

/** The measured call: 10 + 5. */
export const CALLS = calls({ a: 10, b: 5 });

/** Throws unless the Worker at `port` returns the sum in every protocol and has no protocol that is missing here. */
export async function verifyProtocols(port) {
  const connection = await Connection.open(port);
  try {
    for (const { title, request, sum } of CALLS) {
      const { status, body } = await connection.send(request);
      assert.deepEqual([status, status === 200 && sum(JSON.parse(body))], [200, 15], `${title}: ${body}`);
    }
    const { protocols } = JSON.parse((await connection.send(get("/"))).body);
    // The root speaks other protocols, and the chat gateway calls models.
    const others = ["root", "gateway", "messages", "responses", "2api"];
    const taking = protocols.filter(({ name, endpoints }) => !others.includes(name) && endpoints.some(({ method }) => method === "POST"));
    assert.deepEqual(taking.map(({ name }) => name).sort(), CALLABLE.map(([name]) => name).sort());
  } finally {
    connection.close();
  }
}
