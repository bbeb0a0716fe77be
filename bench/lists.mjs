// Tool lists, compared with Workers that return the same response (status, headers and bytes) as a
// constant.
import assert from "node:assert/strict";

import { Connection, get } from "./load.mjs";

const PATHS = [
  { name: "oxp", title: "OXP", path: "/oxp/tools" },
  { name: "anthropic", title: "Anthropic Messages", path: "/providers/anthropic/tools" },
];

/** Headers that the runtime adds. */
const OWN = new Set(["content-length", "date", "connection", "transfer-encoding"]);

/** The list requests with the responses of ours: `{ name, title, request, answer }`. Each list is requested
 *  in full and with its entity tag. */
export async function lists(connection) {
  const recorded = [];
  for (const { name, title, path } of PATHS) {
    const whole = { name: `list-${name}`, title: `${title}, full`, request: get(path) };
    const answer = await connection.send(whole.request);
    const etag = headersOf(answer).find(([header]) => header === "etag")?.[1];
    const known = {
      name: `list-${name}-known`,
      title: `${title}, cached (If-None-Match)`,
      request: get(path, { "if-none-match": etag }),
    };
    recorded.push({ ...whole, answer }, { ...known, answer: await connection.send(known.request) });
  }
  return recorded;
}

/** A Worker that always returns this response of ours. It creates the bytes once: the minimum in
 *  JavaScript. */
export function constant({ name, title, answer: { status, body, ...answer } }) {
  const bytes = Buffer.from(body, "latin1").toString("base64");
  const source = `
const bytes = ${status === 304 ? "null" : `Uint8Array.from(atob("${bytes}"), (letter) => letter.charCodeAt(0))`};
const init = { status: ${status}, headers: ${JSON.stringify(headersOf(answer))} };
export default { fetch: () => new Response(bytes, init) };
`;
  const module = { name: "worker.js", type: "esModule", bytes: Buffer.from(source) };
  return { name: `${name}-constant`, title, modules: [module] };
}

function headersOf({ head }) {
  return head
    .split("\r\n")
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
    .filter(([name]) => !OWN.has(name));
}

/** Throws unless ours and the constant Workers return the recorded responses byte for byte. */
export async function verifyLists(recorded, ports) {
  for (const { name, title, request, answer } of recorded) {
    assert.equal(answer.status, name.endsWith("-known") ? 304 : 200, title);
    for (const worker of ["ours", `${name}-constant`]) {
      const connection = await Connection.open(ports[worker]);
      const got = await connection.send(request);
      connection.close();
      assert.deepEqual([got.status, got.body], [answer.status, answer.body], `${worker}: ${title}`);
      assert.deepEqual(sorted(got), sorted(answer), `${worker}: ${title}`);
    }
  }
}

const sorted = (answer) => headersOf(answer).sort();
