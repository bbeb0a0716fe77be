// The HTTP server of a stand-in for a model provider. It rejects what the real provider rejects, answers from a
// script, and keeps a journal of what arrived.
import { anthropic } from "./anthropic.mjs";
import { compatible } from "./compatible.mjs";
import { gemini } from "./gemini.mjs";
import { openai } from "./openai.mjs";
import { broken, errorOf, TABLES } from "./rules.mjs";
import { listen } from "../server.mjs";
import { requestProblems } from "../types/requests.mjs";

const PROVIDERS = { openai, anthropic, gemini, ...compatible };

/** The key that each stand-in expects. The word is one that no log line may contain. */
export const KEYS = { openai: "sk-canary-openai", anthropic: "sk-ant-canary", gemini: "canary-gemini", ...Object.fromEntries(Object.keys(compatible).map((name) => [name, `sk-canary-${name}`])) };

/**
 * Starts the stand-in of `provider`. `script(...turns)` replaces the answers; each request takes the next turn:
 *
 * - `{ text, thinking, redacted, calls: [{ name, namespace, input | text, id, signature }], signature, finish, usage }`:
 *   what the model says. `text` may be a list of deltas. A call's `text` is its literal arguments.
 * - `{ status, headers, message, body }`: an error before the first byte.
 * - `{ raw, type }`: a body that is not what the provider promises.
 * - a function of the request's body that returns one of these, or a promise of it.
 *
 * In a stream, `cut: n` breaks the connection after n events, `end: n` ends it cleanly there, `fail: [n, error]`
 * sends the provider's error event there, `hold: n` waits there until the client has gone, `drip: ms` pauses after each, `omit` removes the
 * events for which it returns true, `deltas: false` sends arguments only when they are complete, if the format can, `repeat: [text, n]` sends the events that contain the text n times. `eol`, `space`, `comments`, `multiline` and `split` (bytes per write) vary the framing.
 */
export async function standIn(provider, { key = KEYS[provider] } = {}) {
  const rules = PROVIDERS[provider];
  const state = { issued: new Map() };
  const journal = [];
  let turns = [];
  let counter = 0;
  const server = await listen(async (request, response) => {
    const entry = { method: request.method, path: request.url, headers: request.headers, sent: 0 };
    entry.closed = new Promise((closed) => response.once("close", () => closed(response.writableFinished ? "complete" : "aborted")));
    journal.push(entry);
    const reject = (status, message, more) => {
      entry.rejection = message;
      json(response, status, rules.error(status, message, more));
    };
    const parts = [];
    for await (const part of request) parts.push(part);
    const endpoint = rules.route(request.method, request.url);
    if (!endpoint) return reject(404, `no such endpoint: ${request.method} ${request.url}`);
    const unauthorized = rules.unauthorized(request.headers, request.url, key);
    if (unauthorized) return reject(...unauthorized);
    const context = { ...endpoint, models: rules.models, headers: request.headers, state };
    if (endpoint.rules) {
      entry.text = Buffer.concat(parts).toString();
      if (!/^application\/json\b/.test(request.headers["content-type"])) return reject(400, "the content type is not JSON");
      try {
        context.body = entry.body = JSON.parse(entry.text);
      } catch (error) {
        return reject(400, error.message);
      }
      const found = broken(endpoint.rules, entry.body, { headers: request.headers, issued: state.issued, model: endpoint.model, only: endpoint.only });
      if (found) {
        entry.rejection = found.message;
        entry.rule = `${endpoint.rules}: ${found.id}`;
        return json(response, found.status, errorOf(TABLES[endpoint.rules], found.message, found));
      }
      const untyped = endpoint.only === "count_tokens" ? [] : requestProblems(endpoint.rules, entry.body, request.headers);
      if (untyped.length > 0) return reject(400, `not what the types of the provider's SDK say: ${untyped.join("; ")}`);
    }
    if (endpoint.answer) return json(response, 200, endpoint.answer(context));
    let turn = turns.length > 1 ? turns.shift() : turns[0];
    if (turn === undefined) return reject(500, "the script has no turn for this request");
    if (typeof turn === "function") turn = await turn(entry.body);
    if (turn.hang) return;
    if (turn.status) return json(response, turn.status, turn.body ?? rules.error(turn.status, turn.message ?? "Scripted."), turn.headers);
    if (turn.raw !== undefined) {
      return response.writeHead(200, { "content-type": turn.type ?? "application/json", ...turn.headers }).end(turn.raw);
    }
    counter += 1;
    const reply = endpoint.reply(normalized(turn, `${provider}${counter}`), context);
    if (!reply.stream) return json(response, 200, reply.body, turn.headers);
    await stream(response, reply, turn, entry, { eol: rules.eol, ...endpoint });
  });
  return {
    ...server,
    provider,
    key,
    models: rules.models,
    journal,
    /** The last request. */
    get last() {
      return journal.at(-1);
    },
    /** The messages with which requests were rejected. */
    get rejections() {
      return journal.flatMap(({ rejection }) => rejection ?? []);
    },
    script(...next) {
      turns = next;
      journal.length = 0;
    },
  };
}

/** Starts all of them; `close` closes them. */
export async function standIns() {
  const started = await Promise.all(Object.keys(PROVIDERS).map(async (provider) => [provider, await standIn(provider)]));
  return Object.assign(Object.fromEntries(started), { close: () => Promise.all(started.map(([, one]) => one.close())) });
}

/** The path of a request's target. */
export const pathOf = (url) => url.split("?")[0];

function json(response, status, body, headers = {}) {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...headers }).end(text);
}

/** The turn with its text in deltas and an id for each call. */
function normalized(turn, seed) {
  const text = turn.text === undefined ? [] : Array.isArray(turn.text) ? turn.text : pieces(turn.text);
  const calls = (turn.calls ?? []).map((call, at) => ({ id: `${seed}_${at}`, ...call }));
  return { ...turn, text, calls, seed };
}

/** Cuts a text into two to four deltas. */
export function pieces(text) {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / 3));
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) => characters.slice(at * size, (at + 1) * size).join(""));
}

async function stream(response, { events, array }, turn, entry, endpoint) {
  const { eol = endpoint.eol ?? "\n", space = " ", comments = false, multiline = false, split } = turn;
  response.writeHead(200, { "content-type": array ? "application/json; charset=UTF-8" : "text/event-stream; charset=utf-8", "cache-control": "no-cache", ...turn.headers });
  response.flushHeaders();
  let at = 0;
  const write = async (text) => {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length && !response.destroyed; at += split ?? bytes.length) {
      const more = response.write(bytes.subarray(at, at + (split ?? bytes.length)));
      entry.sent += Math.min(split ?? bytes.length, bytes.length - at);
      if (!more) {
        entry.blocked = true;
        await Promise.race([new Promise((drained) => response.once("drain", drained)), entry.closed]);
        entry.blocked = false;
      } else if (split) {
        await new Promise((written) => setImmediate(written));
      }
    }
  };
  // JSON may have a line break after its first brace; each line of an event needs its own field.
  const lines = (data) => (multiline && data.startsWith("{") ? ["{", data.slice(1)] : [data]);
  // Gemini streams a JSON array to those who do not ask for events.
  const frame = ({ event, data }) =>
    array ? `${at === 0 ? "[" : ",\r\n"}${data}\n` : `${event ? `event:${space}${event}${eol}` : ""}${lines(data).map((line) => `data:${space}${line}${eol}`).join("")}${eol}`;
  for (const event of events) {
    if (turn.omit?.(event)) continue;
    if (turn.cut === at) return response.destroy();
    if (turn.end === at) return response.end();
    if (turn.hold === at) return entry.closed;
    if (turn.fail?.[0] === at) {
      await write(frame(endpoint.failure(turn.fail[1], at)));
      return response.end();
    }
    if (comments) await write(`: keep-alive${eol}${eol}`);
    const times = turn.repeat && event.data.includes(turn.repeat[0]) ? turn.repeat[1] : 1;
    for (let time = 0; time < times && !response.destroyed; time += 1) await write(frame(event));
    if (turn.drip) await Promise.race([new Promise((resolve) => setTimeout(resolve, turn.drip)), entry.closed]);
    if (response.destroyed) return;
    at += 1;
  }
  if (turn.hold === "end") return entry.closed;
  if (array) await write("]");
  response.end();
}
