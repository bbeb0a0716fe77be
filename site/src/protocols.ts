// How to write a call in each protocol, and how to read its response. The samples are those of the server's own tests.
import { type Json, at, isObject, own, parse, stringify } from "./json.ts";
import type { Index, Reply, Tool } from "./server.ts";
import SAMPLES from "./protocols.json" with { type: "json" };

type Sample = (typeof SAMPLES)[number];

export interface Protocol {
  name: string;
  title: string;
  /** What it is for, as a sentence. */
  use: string;
  path: string;
  headers: Record<string, string>;
  /** Whether a call can carry a user, tokens and secrets. */
  carriesContext: boolean;
  sample: Sample;
}

/** What a call carries in addition to its input. */
export interface CallContext {
  user_id?: string;
  authorization?: { id: string; token: string }[];
  secrets?: { id: string; value: string }[];
}

/**
 * The context of a call that is repeated after a user's consent. A challenge does not name its provider, so every provider
 * without a token gets the proof; the server ignores proofs for other providers.
 */
export function withProof(context: CallContext, { requirements }: Tool, proof: string | undefined): CallContext {
  if (proof === undefined) return context;
  const typed = context.authorization ?? [];
  const missing = (requirements?.authorization ?? []).filter(({ id }) => typed.every((token) => token.id !== id));
  return { ...context, authorization: [...typed, ...missing.map(({ id }) => ({ id, token: proof }))] };
}

export interface Challenge {
  url: string;
  check_url?: string;
}

export type Outcome =
  | { success: true; value: Json; duration?: number }
  | { success: false; message: string; hint?: string; log?: string; parameters: Record<string, string>; challenges: Challenge[] };

/**
 * What each protocol is for. The first ones come first in the menu; the very first reports most, and is the one that is chosen
 * until the visitor chooses another.
 */
const USES: Record<string, string> = {
  oxp: "For any program that sends HTTP requests.",
  rest: "Each tool has an address of its own.",
  mcp: "For agents.",
  jsonrpc: "Each tool is a method.",
  otc: "The predecessor of OXP.",
  "oxp-envelope": "For the SDKs of OXP.",
  opentool: "For the SDKs of OpenTool.",
  langchain: "For LangChain agents.",
  xaibo: "For Xaibo agents.",
  openai: "For tool calls as OpenAI's models write them.",
  "openai-responses": "For tool calls in the format of OpenAI's newer API.",
  anthropic: "For tool calls as Claude writes them.",
  gemini: "For tool calls as Gemini writes them.",
};
const ORDER = Object.keys(USES);

/** The protocols that the server speaks and that the playground can call. */
export function protocols({ protocols: served }: Index): Protocol[] {
  const found = served.flatMap(({ name }): Protocol[] => {
    const sample = SAMPLES.find(({ protocol, paths }) => protocol === name && paths.length > 0);
    const path = sample?.paths[0];
    if (sample === undefined || path === undefined || name === "root") return [];
    // Streamable HTTP requires clients to accept both.
    const headers: Record<string, string> = name === "mcp" ? { accept: "application/json, text/event-stream" } : {};
    const title = name === ORDER[0] ? `Plain HTTP (${sample.title})` : sample.title;
    return [{ name, title, use: own(USES, name) ?? "", path, headers, carriesContext: sample.carries_context, sample }];
  });
  const rank = ({ name }: Protocol) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return found.sort((one, other) => rank(one) - rank(other));
}

/** The path of a call. */
export const pathOf = (protocol: Protocol, tool: Tool): string => protocol.path.replace("{name}", encodeURIComponent(tool.name));

/** The body of a call. */
export function bodyOf({ sample }: Protocol, tool: Tool, input: Json, context: CallContext): Json {
  const values: Record<string, Json | undefined> = {
    id: "1",
    name: tool.name,
    tool_id: tool.id,
    input,
    context: Object.keys(context).length > 0 ? (context as unknown as Json) : undefined,
  };
  values["call"] = fill(sample.call as Json, values);
  return fill(sample.body as Json, values) ?? null;
}

/** `template` with `values` instead of `{name}`. A text that is `"{input}"` in JSON becomes the JSON of the input. */
function fill(template: Json, values: Record<string, Json | undefined>): Json | undefined {
  if (typeof template === "string") {
    if (template === '"{input}"') return stringify(values["input"] ?? null);
    const name = /^\{(\w+)\}$/.exec(template)?.[1];
    return name === undefined ? template.replace("{id}", String(values["id"])) : values[name];
  }
  if (Array.isArray(template)) return template.map((item) => fill(item, values) ?? null);
  if (!isObject(template)) return template;
  const members = Object.entries(template).map(([key, value]) => [key, fill(value, values)] as const);
  const present = members.filter((member): member is readonly [string, Json] => member[1] !== undefined);
  // The samples are sorted by name. People read what is short first.
  present.sort(([, one], [, other]) => Number(typeof one === "object") - Number(typeof other === "object"));
  // A member that only carries the context is left out with it.
  return Object.fromEntries(present.filter(([key, value]) => !(key === "_meta" && isObject(value) && Object.keys(value).length === 0)));
}

/** Reads the outcome of a call from its response. */
export function outcomeOf({ sample }: Protocol, reply: Reply): Outcome {
  const { json } = reply;
  // Without an envelope, the body is the value, even if it has a member `error`.
  if (json !== undefined && reply.status < 300 && (sample.value === "" || !failed(json))) {
    const value = valueAt(json, sample);
    const duration = at(json, "/duration") ?? at(json, "/result/duration");
    if (value !== undefined) return { success: true, value, ...(typeof duration === "number" && { duration }) };
  }
  const textsAt = (pointers: string[]) => pointers.map((pointer) => at(json, pointer)).filter((text) => typeof text === "string");
  const inError = (names: string[]) => textsAt(["", "/error", "/error/data", "/result/error"].flatMap((place) => names.map((name) => `${place}/${name}`)));
  const texts = textsAt([...sample.error, ...sample.rejection]);
  const [sentHint] = inError(["additional_prompt_content", "prompt"]);
  const [sentLog] = inError(["developer_message"]);
  const parameters = at(json, "/parameter_errors") ?? at(json, "/error/data/parameter_errors") ?? {};
  const all = [...new Set(texts)];
  const own = all.filter((text) => text !== sentHint && text !== sentLog);
  const message = (own.length > 0 ? own : all.slice(0, 1)).join(": ");
  const hint = besides(sentHint, [message]);
  const log = besides(sentLog, [message, sentHint ?? ""]);
  return {
    success: false,
    message: message || `Status ${reply.status}`,
    ...(hint !== undefined && { hint }),
    ...(log !== undefined && { log }),
    parameters: isObject(parameters) ? Object.fromEntries(Object.entries(parameters).map(([path, text]) => [path, String(text)])) : {},
    challenges: challengesIn(json) ?? challengesAsText(message),
  };
}

/** What a text says besides others, which it may contain: tools often repeat the message in it. Undefined if that is nothing. */
function besides(text: string | undefined, others: string[]): string | undefined {
  const rest = others.filter(Boolean).reduce((left, other) => left.replace(other, ""), text ?? "").replace(/^[\s.:;,]+/, "").trim();
  return /[\p{Letter}\p{Number}]/u.test(rest) ? rest : undefined;
}

function failed(json: Json): boolean {
  const flags = ["/success", "/result/success", "/_toolbooth/calls/0/success"];
  // Xaibo writes null if there is no error.
  return (at(json, "/error") ?? null) !== null || at(json, "/result/isError") === true || flags.some((pointer) => at(json, pointer) === false);
}

/** Protocols of model providers write values as texts for the model. */
const FOR_MODELS = /^\/providers\//;

function valueAt(json: Json, sample: Sample): Json | undefined {
  const value = at(json, sample.value);
  // MCP has content blocks as they are.
  if (value === undefined) return at(json, "/result/content");
  if (sample.value_in_object) return isObject(value) && Object.keys(value).join() === "result" ? value["result"] : value;
  if (typeof value !== "string" || !FOR_MODELS.test(sample.paths[0] ?? "")) return value;
  try {
    return parse(value);
  } catch {
    return value;
  }
}

/** Where protocols have the challenges of a call. */
const CHALLENGES = ["/missing_requirements/authorization", "/authorization", "/error/data/missing_requirements/challenges", "/result/_meta/toolbooth~1authorization"];

/** Undefined if the response has no list of challenges. */
function challengesIn(json: Json | undefined): Challenge[] | undefined {
  const found = CHALLENGES.map((pointer) => at(json, pointer)).find(Array.isArray);
  return found?.filter(isObject).flatMap(({ url, check_url }) => {
    if (typeof url !== "string" || !/^https?:\/\//.test(url)) return [];
    return [{ url, ...(typeof check_url === "string" && { check_url }) }];
  });
}

const LINK = /https?:\/\/[^\s/]+\/auth\/start\?c=[\w-]+/g;

/** The challenges of a protocol that can only return text, whose message has their links. */
const challengesAsText = (message: string): Challenge[] =>
  [...new Set(message.match(LINK) ?? [])].map((url) => ({ url, check_url: url.replace("/auth/start?", "/auth/check?") }));
