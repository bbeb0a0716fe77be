// Asks a gateway in the format of a client, with stand-ins of the providers behind it.
import { FRONTS } from "./fronts/index.mjs";

/** The longest wait for an answer, in milliseconds. */
const LIMIT = 300_000;

export const user = (content = "What is the weather?") => ({ role: "user", content });
export const result = (call, content) => ({ role: "tool", tool_call_id: call.id ?? call, content });

export const SCHEMA = { type: "object", properties: { city: { type: "string", description: "A city." } }, required: ["city"] };
export const tool = (name, parameters = SCHEMA) => ({ type: "function", function: { name, description: `The ${name}.`, parameters } });
export const WEATHER = tool("weather");
export const CLOCK = tool("clock", { type: "object", properties: {} });

// Some gateways pass on that Anthropic requires max_tokens; only the check for that leaves it out.
const DEFAULTS = { messages: [user()], max_tokens: 4000 };

/**
 * A gateway under test. `send(provider, body, signal, front)` posts a request for a provider's model in the format of a front and
 * returns a `Response`. `upstream` has the stand-ins. `provider` is openai, anthropic, gemini,
 * gemini-2.5 (an older model) or responses (OpenAI in its newer format).
 *
 * Checks write requests in the form of Chat Completions, and read answers in it: see `fronts/index.mjs`.
 */
export class Gateway {
  constructor(upstream, send, front = FRONTS.chat) {
    Object.assign(this, { upstream, send, front });
  }

  /** Sends a request. Its `native` members are in the front's own format. */
  post(provider, { native, ...body }) {
    return this.send(provider, { ...this.front.request({ ...DEFAULTS, ...body }), ...native }, AbortSignal.timeout(LIMIT), this.front);
  }

  /** The stand-in behind `provider`. */
  at(provider) {
    return this.upstream[provider === "responses" ? "openai" : provider.split("-")[0]];
  }

  /** Sets what the provider's model says, turn by turn. */
  script(provider, ...turns) {
    this.at(provider).script(...turns);
  }

  /** `{ status, headers, json }`. The conversation is a question unless `body` says otherwise. */
  async chat(provider, body = {}) {
    const reply = await this.post(provider, body);
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, get json() { return JSON.parse(text); } };
  }

  /** An answer with status 200. */
  async choice(provider, body) {
    const reply = await this.chat(provider, body);
    if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.text.slice(0, 600)}`);
    return this.front.answer(reply.json);
  }

  /** The stream folded into a message; `broken` if the connection broke off. */
  async stream(provider, body = {}) {
    const reply = await this.post(provider, { ...body, stream: true });
    const decoder = new TextDecoder();
    let text = "";
    let broken = false;
    try {
      for await (const part of reply.body) text += decoder.decode(part, { stream: true });
    } catch (error) {
      if (error.name === "TimeoutError") throw error;
      broken = true;
    }
    if (reply.status !== 200) return { status: reply.status, text, errors: [this.front.error(JSON.parse(text))], finishes: [], calls: [], chunks: [], usages: [] };
    return { status: 200, headers: reply.headers, text, broken, ...this.front.fold(text) };
  }

  /** Either of the two as `{ message, calls, finish, ... }`, so that a check can cover both. */
  async either(streamed, provider, body) {
    if (!streamed) return this.choice(provider, body);
    const folded = await this.stream(provider, body);
    if (folded.errors.length > 0) throw new Error(JSON.stringify(folded.errors[0]).slice(0, 600));
    return { ...folded, finish: folded.finishes[0] };
  }

  /** The body of the last request that reached the provider; throws if the provider rejected it. */
  arrived(provider) {
    const { last } = this.at(provider);
    if (!last) throw new Error("nothing reached the provider");
    if (last.rejection) throw new Error(`the provider rejected the request: ${last.rejection}`);
    return last.body;
  }
}

/** The same check for an answer and for a stream. */
export const both = (title, provider, run, more) =>
  [false, true].map((streamed) => ({ title: `${title}${streamed ? ", streamed" : ""}`, provider, run: (gateway) => run(gateway, streamed), ...more }));

/** The checks, only on these fronts. */
export const only = (fronts, ...checks) => checks.flat().map((check) => ({ ...check, fronts: fronts.split(" ") }));
