// Looks for what a caller or a provider entrusts to a Worker where it may not stand: in anything that
// the runtime prints, and in errors. Every Worker that support/worker.mjs starts is watched, and every
// answer that support/http.mjs receives, so each file of tests is covered unasked.
import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";

/** Whatever tests send as input, token or secret, and whatever a provider issues to them, holds this word. */
export const CANARY = "canary";

// What went over the wire and is a secret without that word: tokens, codes, cookies.
const secrets = new Set();

/** What is secret in the query of a flow's address. */
const FLOW = ["c", "code", "state", "code_verifier"];

/** The secrets in a request: its credentials and cookies, and what a flow hands on in the address. */
export function entrusted(headers, path) {
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const query = new URLSearchParams(path.split("?")[1]);
  return [
    named.authorization?.replace(/^\w+ +/, ""),
    named["oxp-api-key"],
    named["otc-api-key"],
    ...cookies(named.cookie?.split("; ")),
    ...FLOW.flatMap((name) => query.getAll(name)),
  ].flatMap(parts);
}

const cookies = (pairs = []) => pairs.map((pair) => pair.split(";")[0].replace(/^[^=]*=/, ""));

/** A secret and the parts of a signed one; what is short is no secret but a word. */
const parts = (secret = "") => [secret, ...secret.split(".")].filter(({ length }) => length >= 16 || (length >= 8 && secret.includes(CANARY)));

// How the word looks in base64, wherever it begins within three bytes: the characters that it alone decides on.
const ENCODED = [0, 1, 2].map((before) => {
  const text = Buffer.from("\0".repeat(before) + CANARY).toString("base64url");
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + CANARY.length) * 8) / 6));
});

/** The lines of `text` that may not be printed. */
export function printedLeaks(text, known = secrets) {
  const told = (line) =>
    line.toLowerCase().includes(CANARY) ||
    ENCODED.some((form) => line.includes(form)) ||
    [...known].some((secret) => line.includes(secret) || line.includes(encodeURIComponent(secret)));
  return text.split("\n").filter(told);
}

/** The values with the word in a body. What pairs a call with its answer, or names what is called, may be told. */
export function values(body) {
  const json = parsed(body);
  if (json !== undefined) return [...within(json)];
  return (body?.match(/[\w-]+/g) ?? []).filter((word) => word.toLowerCase().includes(CANARY));
}

const NAMES = ["id", "call_id", "tool_call_id", "tool_use_id", "name", "tool_id", "tool_name", "method", "$schema", "type", "role"];

// Without recursion, since a body may nest deeper than any stack.
function* within(body) {
  const rest = [body];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") {
      const inner = parsed(value);
      if (typeof inner === "object") rest.push(inner);
      else if (value.toLowerCase().includes(CANARY)) yield value;
    } else if (typeof value === "object" && value !== null) {
      const told = Object.entries(value).filter(([key, member]) => !NAMES.includes(key) || typeof member !== "string");
      rest.push(...told.map(([, member]) => member).reverse());
    }
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an answer says of errors, in any protocol's form: its body, or the errors in it. */
export function errors({ status, headers, text }) {
  const told = [headers["www-authenticate"], headers["toolbooth-warning"]].filter(Boolean);
  if (status >= 400) return [...told, text];
  const events = headers["content-type"] === "text/event-stream" && (text.match(/event:error\ndata:.*/g) ?? []);
  return [...told, ...(events || failures(parsed(text)))].map((error) => error.replace(ON_PURPOSE, ""));
}

// What a tool's own error tells of its input: words of the specification's example.
const ON_PURPOSE = /The doorbell with ID '[^']*' does not exist\./g;

function* failures(value) {
  if (typeof value === "string" && value.startsWith("Error:")) yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "error" && member !== null) yield JSON.stringify(member);
    else yield* failures(member);
  }
}

/**
 * Takes note of an exchange; throws when an error repeats a value of the request, or a secret that was
 * ever sent.
 */
export function watch(path, headers, body, reply) {
  const given = cookies(reply.headers["set-cookie"]).flatMap(parts);
  for (const secret of [...entrusted(headers, path), ...given]) secrets.add(secret);
  // A page of a flow carries on what it was given, so its own address is no leak.
  const kept = path.startsWith("/auth/") ? [] : [...secrets];
  const repeats = (secret) => errors(reply).some((error) => error.includes(secret) || error.includes(quoted(secret)));
  const found = [...kept, ...values(body)].filter(repeats);
  assert.deepEqual(found, [], `an error repeats what a caller sent: ${path} answered ${reply.status} ${reply.text}`);
}

/** As it stands within a text of JSON. */
const quoted = (text) => JSON.stringify(text).slice(1, -1);

// Every byte that a runtime writes, whether it is a log of the Worker or the runtime's own.
const runtimes = new Set();
let watched = 0;
let closed = 0;
subscribe("child_process", ({ process: child }) => {
  // It has its file and its streams once it is spawned.
  queueMicrotask(() => {
    if (!child.spawnfile?.includes("workerd")) return;
    const runtime = { child, text: "", ended: new Promise((end) => child.once("close", end)) };
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => (runtime.text += part));
    runtimes.add(runtime);
    watched += 1;
  });
});

/** To be called when a Worker has ended: throws when a runtime that has ended has printed what it may not. */
export async function checkPrinted() {
  closed += 1;
  assert.ok(closed <= watched, "a runtime has ended that nobody watched");
  const ended = [...runtimes].filter(({ child }) => child.exitCode !== null || child.signalCode !== null);
  for (const runtime of ended) {
    await runtime.ended;
    runtimes.delete(runtime);
  }
  const found = ended.flatMap(({ text }) => printedLeaks(text));
  assert.deepEqual(found, [], "what a caller sent stands in what the runtime printed");
}
