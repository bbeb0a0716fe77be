// Checks the Workers before measuring: all implementations of the tool must give the same responses to
// valid and invalid calls.
import assert from "node:assert/strict";

import { Connection, post } from "./load.mjs";

const body = (tool_id) => JSON.stringify({
  call_id: "123e4567-e89b-12d3-a456-426614174000",
  tool_id,
  input: { a: 10, b: 5 },
});
const BODY = body("Calculator.Add@1.0.0");

/** The standard call of the benchmark, with additional headers. */
export const call = (headers) =>
  post("/tools/call", BODY, { "content-type": "application/json", ...headers });

/** The standard call without credentials. */
export const CALL = call();

/** The same call of the tool in TypeScript. */
export const SCRIPTED_CALL = post("/tools/call", body("Scripted.Add@1.0.0"), { "content-type": "application/json" });

const SUM = {
  status: 200,
  version: "1.0",
  body: { call_id: "123e4567-e89b-12d3-a456-426614174000", success: true, value: 15 },
};

const add = (tool_id, input) =>
  post("/tools/call", JSON.stringify({ call_id: "c", tool_id, input }));
const CASES = [
  add("Calculator.Add", { a: 0.1, b: 0.2 }),
  add("Calculator.Add@1", { a: -1, b: 1 }),
  add("Calculator.Add@1.0.0", { a: "10" }),
  add("Calculator.Add@1.0.0", { a: 1, b: 2, c: 3 }),
  add("Calculator.Add@1.0.0", [1, 2]),
  add("Calculator.Add", null),
  add("Calculator.Add@2.0.0", { a: 1, b: 2 }),
  add("Calculator.Subtract", { a: 1, b: 2 }),
  add("Calculator", { a: 1, b: 2 }),
  post("/tools/call", '{"tool_id": "Calculator.Add", "inputs": {}}'),
  post("/tools/call", '{"tool_id": "Calculator.Add", "call_id": 1}'),
  post("/tools/call", '{"tool_id": "Calculator.Add"'),
  post("/tools/call", "[]"),
  post("/tools/call", "{}", { "content-type": "text/plain" }),
  post("/tools/call", "{}", { "content-type": "application/json", "oxp-version": "2.0" }),
  post("/tools/calls", "{}"),
];

/** Checks the Worker at `port` and returns its responses to the test cases. */
export async function verify(name, port) {
  const connection = await Connection.open(port);
  const answer = async (request) => comparable(await connection.send(request));
  try {
    if (name === "null" || name === "echo") {
      const { status, body } = await connection.send(CALL);
      const sent = CALL.slice(CALL.indexOf("\r\n\r\n") + 4);
      assert.deepEqual({ status, body }, { status: 200, body: name === "null" ? "" : sent });
      return [];
    }
    assert.deepEqual(await answer(CALL), SUM);
    const answers = [];
    for (const request of CASES) answers.push(await answer(request));
    return answers;
  } finally {
    connection.close();
  }
}

/** Throws if the responses of two Workers differ. */
export function alike(answers) {
  const [[, expected], ...others] = answers.filter(([, list]) => list.length > 0);
  for (const [name, got] of others) {
    got.forEach((answer, at) => assert.deepEqual(answer, expected[at], `${name}: ${CASES[at]}`));
  }
}

// Drops the duration and the developer message, which may contain text of a parser.
export function comparable({ status, head, body }) {
  const { duration, developer_message, ...rest } = JSON.parse(body);
  const [, version] = /\r\noxp-version: (.*)/i.exec(head) ?? [];
  return { status, version, body: rest };
}
