// Searches the runtime's output and all errors for secrets and inputs, which must not appear there. This
// covers every Worker that support/worker.mjs starts and every response that support/http.mjs receives,
// so each test file is covered automatically.
import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";

/** Part of every input, token and secret that tests send or that a provider issues to them. */
export const CANARY = "canary";

// Secrets that went over the wire and may lack that word: tokens, codes, cookies.
const secrets = new Set();

/** The secret parameters of the authorization flows, in queries and forms. */
const FLOW = ["c", "code", "state", "code_verifier", "refresh_token", "token", "client_secret", "api_key"];
/** The secret members of JSON responses. */
const ISSUED = ["access_token", "refresh_token", "client_secret"];

/** The secrets in a request: its credentials and cookies, and those in its query and form. */
export function entrusted(headers, path, body) {
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const parameters = [path.split("?")[1], named["content-type"]?.startsWith("application/x-www-form-urlencoded") ? body : ""];
  return [
    named.authorization?.replace(/^\w+ +/, ""),
    named["oxp-api-key"],
    named["otc-api-key"],
    named["x-api-key"],
    named["x-auth-token"],
    ...cookies(named.cookie?.split("; ")),
    ...parameters.map((text) => new URLSearchParams(text)).flatMap((query) => FLOW.flatMap((name) => query.getAll(name))),
  ].flatMap(parts);
}

/** The secrets that a response issues: its cookies, those in the address to go to, and tokens. */
export function issued({ headers, text }) {
  const json = parsed(text);
  return [
    ...cookies(headers["set-cookie"]).flatMap(parts),
    ...entrusted({}, headers.location ?? ""),
    ...ISSUED.flatMap((name) => (typeof json?.[name] === "string" ? parts(json[name]) : [])),
  ];
}

/** Records the secrets in the address of a page that a browser opens. */
export function watchPage(address) {
  for (const secret of entrusted({}, address)) secrets.add(secret);
}

const cookies = (pairs = []) => pairs.map((pair) => pair.split(";")[0].replace(/^[^=]*=/, ""));

/** A secret and, if it is signed, its parts. Short strings are ordinary words, not secrets. */
const parts = (secret = "") => [secret, ...secret.split(".")].filter(({ length }) => length >= 16 || (length >= 8 && secret.includes(CANARY)));

// The word in base64 at each offset within three bytes: the characters that depend on it alone.
const ENCODED = [0, 1, 2].map((before) => {
  const text = Buffer.from("\0".repeat(before) + CANARY).toString("base64url");
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + CANARY.length) * 8) / 6));
});

/** The lines of `text` that leak a secret. */
export function printedLeaks(text, known = secrets) {
  const leaks = (line) =>
    line.toLowerCase().includes(CANARY) ||
    ENCODED.some((form) => line.includes(form)) ||
    [...known].some((secret) => line.includes(secret) || line.includes(encodeURIComponent(secret)));
  return text.split("\n").filter(leaks);
}

/** The values in a body that contain the word, except ids and names, which errors may repeat. */
export function values(body) {
  const json = parsed(body);
  if (json !== undefined) return [...within(json)];
  return (body?.match(/[\w-]+/g) ?? []).filter((word) => word.toLowerCase().includes(CANARY));
}

const NAMES = ["id", "call_id", "tool_call_id", "tool_use_id", "name", "tool_id", "tool_name", "method", "$schema", "type", "role"];

// Not recursive, because a body may nest deeper than the stack allows.
function* within(body) {
  const rest = [body];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") {
      const inner = parsed(value);
      if (typeof inner === "object") rest.push(inner);
      else if (value.toLowerCase().includes(CANARY)) yield value;
    } else if (typeof value === "object" && value !== null) {
      const members = Object.entries(value).filter(([key, member]) => !NAMES.includes(key) || typeof member !== "string");
      rest.push(...members.map(([, member]) => member).reverse());
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

/** The errors in a response, in any protocol's form: its body, or the errors within. */
export function errors({ status, headers, text }) {
  const inHeaders = [headers["www-authenticate"], headers["toolbooth-warning"]].filter(Boolean);
  if (status >= 400) return [...inHeaders, text];
  const events = headers["content-type"] === "text/event-stream" && (text.match(/event:error\ndata:.*/g) ?? []);
  return [...inHeaders, ...(events || failures(parsed(text)))].map((error) => error.replace(ON_PURPOSE, ""));
}

// The only tool error that repeats its input: the specification's example has this text.
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
 * Records the secrets of an exchange; throws if an error repeats a value of the request, or any secret
 * recorded so far.
 */
export function watch(path, headers, body, reply) {
  for (const secret of [...entrusted(headers, path, body), ...issued(reply)]) secrets.add(secret);
  // Pages of the flow pass on parameters that they received, so those are not leaks.
  const kept = path.startsWith("/auth/") ? [] : [...secrets];
  const repeats = (secret) => errors(reply).some((error) => error.includes(secret) || error.includes(quoted(secret)));
  const found = [...kept, ...values(body)].filter(repeats);
  assert.deepEqual(found, [], `an error repeats what a caller sent: ${path} returned ${reply.status} ${reply.text}`);
}

/** As it appears inside a JSON string. */
const quoted = (text) => JSON.stringify(text).slice(1, -1);

// The whole output of each runtime: the Worker's logs and the runtime's own messages.
const runtimes = new Set();
let watched = 0;
let closed = 0;
subscribe("child_process", ({ process: child }) => {
  // The process gets its file name and streams once it is spawned.
  queueMicrotask(() => {
    if (!child.spawnfile?.includes("workerd")) return;
    const runtime = { child, text: "", ended: new Promise((end) => child.once("close", end)) };
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => (runtime.text += part));
    runtimes.add(runtime);
    watched += 1;
  });
});

/** Call after a Worker has ended: throws if the output of an ended runtime contains a secret. */
export async function checkPrinted() {
  closed += 1;
  assert.ok(closed <= watched, "a runtime has ended whose output was not recorded");
  const ended = [...runtimes].filter(({ child }) => child.exitCode !== null || child.signalCode !== null);
  for (const runtime of ended) {
    await runtime.ended;
    runtimes.delete(runtime);
  }
  const found = ended.flatMap(({ text }) => printedLeaks(text));
  assert.deepEqual(found, [], "the runtime printed what a caller sent");
}
