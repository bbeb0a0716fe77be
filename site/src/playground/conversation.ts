// A conversation with a model of the chat gateway: streams its answer and runs the tools that it calls.
import { credentialChanges } from "../credential.ts";
import { type Json, type JsonObject, at, isObject, parse, stringify } from "../json.ts";
import { headers, post, send } from "../server.ts";
import { events } from "./sse.ts";

export interface ToolCall {
  id: string;
  name: string;
  /** The arguments as JSON, as far as they have arrived. */
  arguments: string;
  state: "arriving" | "asking" | "running" | "done" | "failed" | "rejected" | "stopped";
  result?: string;
  duration?: number;
}

export interface Turn {
  role: "user" | "assistant";
  text: string;
  calls: ToolCall[];
  /** Who has answered, and what it took, as far as the answer says so. */
  took?: Took;
}

export interface Took {
  model: string;
  /** Milliseconds until the end of the answer. */
  duration: number;
  tokens?: { input: number; output: number };
  /** Dollars, if the answer says so. */
  cost?: number;
}

/** How the user answers when a call needs approval. */
export type Approve = (call: ToolCall) => Promise<boolean>;

/** Settles like `waiting`, or is rejected when the signal aborts. */
function abortable<Value>(waiting: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    waiting.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** What the model reads about a call. */
function resultOf({ id, state, result }: ToolCall): JsonObject {
  const reason = state === "rejected" ? "the user rejected this call" : state === "running" ? "there was no response, but the call may have run" : "the call was stopped before it ran";
  return { role: "tool", tool_call_id: id, content: result ?? `Error: ${reason}` };
}

/** The most rounds of calls for one question. */
const MOST_ROUNDS = 8;

export class Conversation {
  /** What the model has seen, in the format of OpenAI. */
  #messages: Json[] = [];
  /** The tools of a credential, by the number of `credentialChanges`. */
  #tools: { key: number; list: Json[] } | undefined;
  turns: Turn[] = [];

  /** Called whenever a turn has changed. */
  readonly changed: () => void;
  readonly approve: Approve;

  constructor(changed: () => void, approve: Approve) {
    this.changed = changed;
    this.approve = approve;
  }

  /** Asks a question; resolves when the model has answered. Throws an error whose message is for the user. */
  async ask(model: string, question: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#rounds(model, question, signal);
    } catch (error) {
      // Calls stay with their results: a model that does not know of them makes them again. A question without an answer is dropped.
      if (at(this.#messages.at(-1), "/role") === "user") this.#messages.pop();
      const calls = this.turns.flatMap((turn) => turn.calls);
      for (const call of calls) if (["arriving", "asking", "running"].includes(call.state)) call.state = "stopped";
      this.changed();
      throw error;
    }
  }

  async #rounds(model: string, question: string, signal: AbortSignal): Promise<void> {
    this.#messages.push({ role: "user", content: question });
    this.turns.push({ role: "user", text: question, calls: [] });
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const turn: Turn = { role: "assistant", text: "", calls: [] };
      this.turns.push(turn);
      const message = await this.#answer(model, turn, signal);
      try {
        for (const [index, call] of turn.calls.entries()) await this.#run(call, at(message, `/tool_calls/${index}`), signal);
      } finally {
        this.#messages.push(message, ...turn.calls.map(resultOf));
      }
      if (turn.calls.length === 0) return;
    }
    throw new Error(`Stopped: the model was still calling tools after ${MOST_ROUNDS} rounds.`);
  }

  /** The definitions of the tools that the current credential may call. */
  async #definitions(signal: AbortSignal): Promise<Json[]> {
    const key = credentialChanges();
    if (this.#tools?.key !== key) {
      const { status, text, json } = await send("/providers/openai/tools?skip_incompatible=true", { signal });
      if (!Array.isArray(json)) throw new Error(problem(text) ?? `Status ${status}`);
      this.#tools = { key, list: json };
    }
    return this.#tools.list;
  }

  async #answer(model: string, turn: Turn, signal: AbortSignal): Promise<JsonObject> {
    const tools = await this.#definitions(signal);
    const body = stringify({ model, messages: this.#messages, stream: true, ...(tools.length > 0 && { tools }) });
    const start = performance.now();
    let report: Json | undefined;
    const init = { method: "POST", headers: headers({ "content-type": "application/json", accept: "text/event-stream" }), body, signal };
    const response = await fetch("/v1/chat/completions", { ...init, cache: "no-store", credentials: "omit" });
    if (!response.ok || !response.body) throw new Error(problem(await response.text()) ?? `Status ${response.status}`);
    // Signatures and thinking blocks travel here: the message must go back as it came.
    const extras: JsonObject = {};
    for await (const data of events(response.body)) {
      if (data === "[DONE]") {
        turn.took = tookOf(model, report, performance.now() - start);
        return this.#message(turn, extras);
      }
      const chunk = parse(data);
      const error = at(chunk, "/error/message");
      if (typeof error === "string") throw new Error(error);
      report = at(chunk, "/_2api") ?? report;
      const delta = at(chunk, "/choices/0/delta");
      if (isObject(delta)) this.#add(turn, delta, extras);
      this.changed();
    }
    throw new Error("The response was cut off.");
  }

  #add(turn: Turn, delta: JsonObject, extras: JsonObject) {
    if (typeof delta["content"] === "string") turn.text += delta["content"];
    if (isObject(delta["extra_content"])) extras["extra_content"] = { ...(isObject(extras["extra_content"]) ? extras["extra_content"] : {}), ...delta["extra_content"] };
    for (const part of Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : []) {
      const index = Number(at(part, "/index") ?? 0);
      const call = (turn.calls[index] ??= { id: "", name: "", arguments: "", state: "arriving" });
      call.id ||= String(at(part, "/id") ?? "");
      call.name += String(at(part, "/function/name") ?? "");
      call.arguments += String(at(part, "/function/arguments") ?? "");
      const extra = at(part, "/extra_content");
      if (isObject(extra)) extras[`call ${index}`] = extra;
    }
  }

  #message(turn: Turn, extras: JsonObject): JsonObject {
    const calls = turn.calls.map((call, index) => {
      const extra = extras[`call ${index}`];
      return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments || "{}" }, ...(extra !== undefined && { extra_content: extra }) };
    });
    const extra = extras["extra_content"];
    return { role: "assistant", content: turn.text || null, ...(extra !== undefined && { extra_content: extra }), ...(calls.length > 0 && { tool_calls: calls }) };
  }

  /** Runs `call` if the user approves it: `sent` is what the model wrote. Ids may be repeated, so they select nothing. */
  async #run(call: ToolCall, sent: Json | undefined, signal: AbortSignal): Promise<void> {
    call.state = "asking";
    this.changed();
    if (!(await abortable(this.approve(call), signal))) {
      call.state = "rejected";
      return this.changed();
    }
    signal.throwIfAborted();
    call.state = "running";
    this.changed();
    const reply = await post("/providers/openai/call", stringify({ role: "assistant", content: null, tool_calls: sent === undefined ? [] : [sent] }), {}, { signal });
    const result = at(reply.json, "/messages/0");
    if (result === undefined) throw new Error(problem(reply.text) ?? `Status ${reply.status}`);
    call.duration = reply.duration;
    call.result = String(at(result, "/content") ?? "");
    call.state = at(reply.json, "/_toolbooth/calls/0/success") === false ? "failed" : "done";
    this.changed();
  }
}

/** What an answer took. `report` is the gateway's. */
function tookOf(model: string, report: Json | undefined, duration: number): Took {
  const number = (pointer: string) => Number(at(report, pointer) ?? Number.NaN);
  const [input, output, cost] = [number("/usage/input_tokens"), number("/usage/output_tokens"), number("/cost")] as const;
  return { model, duration, ...(Number.isFinite(input + output) && { tokens: { input, output } }), ...(Number.isFinite(cost) && { cost }) };
}

function problem(text: string): string | undefined {
  try {
    const message = at(parse(text), "/error/message");
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
