// Asks a gateway in OpenAI's format, with stand-ins of the providers behind it.
import { fold } from "./completions.mjs";

/** The longest wait for an answer, in milliseconds. */
const LIMIT = 20_000;

export const user = (content = "What is the weather?") => ({ role: "user", content });
export const result = (call, content) => ({ role: "tool", tool_call_id: call.id ?? call, content });

export const SCHEMA = { type: "object", properties: { city: { type: "string", description: "A city." } }, required: ["city"] };
export const tool = (name, parameters = SCHEMA) => ({ type: "function", function: { name, description: `The ${name}.`, parameters } });
export const WEATHER = tool("weather");
export const CLOCK = tool("clock", { type: "object", properties: {} });

// Some gateways pass on that Anthropic requires max_tokens; only the check for that leaves it out.
const DEFAULTS = { messages: [user()], max_tokens: 4000 };

/**
 * A gateway under test. `send(provider, body, signal)` posts a chat request for a provider's model and returns a
 * `Response`. `upstream` has the stand-ins. `provider` is openai, anthropic, gemini or gemini-2.5, an older model.
 */
export class Gateway {
  constructor(upstream, send) {
    Object.assign(this, { upstream, send });
  }

  /** The stand-in behind `provider`. */
  at(provider) {
    return this.upstream[provider.split("-")[0]];
  }

  /** Sets what the provider's model says, turn by turn. */
  script(provider, ...turns) {
    this.at(provider).script(...turns);
  }

  /** `{ status, headers, json }`. The conversation is a question unless `body` says otherwise. */
  async chat(provider, body = {}) {
    const reply = await this.send(provider, { ...DEFAULTS, ...body }, AbortSignal.timeout(LIMIT));
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, get json() { return JSON.parse(text); } };
  }

  /** The only choice of an answer with status 200. */
  async choice(provider, body) {
    const reply = await this.chat(provider, body);
    if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.text.slice(0, 600)}`);
    return { ...reply.json.choices[0], reply: reply.json };
  }

  /** The stream folded into a message; `broken` if the connection broke off. */
  async stream(provider, body = {}) {
    const reply = await this.send(provider, { ...DEFAULTS, ...body, stream: true }, AbortSignal.timeout(LIMIT));
    const decoder = new TextDecoder();
    let text = "";
    let broken = false;
    try {
      for await (const part of reply.body) text += decoder.decode(part, { stream: true });
    } catch (error) {
      if (error.name === "TimeoutError") throw error;
      broken = true;
    }
    if (reply.status !== 200) return { status: reply.status, text, errors: [JSON.parse(text).error], finishes: [], calls: [], chunks: [], usages: [] };
    return { status: 200, headers: reply.headers, text, broken, ...fold(text) };
  }

  /** Either of the two as `{ message, calls, finish, ... }`, so that a check can cover both. */
  async either(streamed, provider, body) {
    if (!streamed) {
      const { message, finish_reason: finish, reply } = await this.choice(provider, body);
      return { message, calls: message.tool_calls ?? [], finish, usage: reply.usage, _2api: reply._2api };
    }
    const folded = await this.stream(provider, body);
    if (folded.errors.length > 0) throw new Error(JSON.stringify(folded.errors[0]).slice(0, 600));
    return { ...folded, finish: folded.finishes[0], usage: folded.usages[0]?.usage };
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
