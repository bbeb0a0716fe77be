// Requests to the server that this site belongs to.
import { type Credential, credential, judge } from "./credential.ts";
import { type Json, type JsonObject, at, isObject, parse } from "./json.ts";
import type { Schema } from "./schema.ts";

/** The response of `GET /`. */
export interface Index {
  name: string;
  version: string;
  protocols: { name: string; title: string; endpoints: { method: string; path: string }[] }[];
}

export interface Tool {
  id: string;
  name: string;
  description: string;
  version: string;
  input_schema: Schema;
  output_schema?: Schema | null;
  requirements?: { authorization?: { id: string }[]; secrets?: { id: string }[]; user_id?: boolean };
}

/** What only the OpenAPI document contains about a tool. */
export interface Details {
  title?: string;
  scopes: string[];
  deprecated: boolean;
  readOnly: boolean;
  /** The address of the view that shows the value, if there is one. */
  view?: string;
  examples: { title?: string; input: Json; succeeds: boolean }[];
}

/** A response, with how long it took in milliseconds. */
export interface Reply {
  status: number;
  text: string;
  json: Json | undefined;
  headers: [string, string][];
  duration: number;
  /** The scopes that the credential lacks for this call. */
  lacking: string[];
}

/** The server's address: PUBLIC_URL if it is set, otherwise that of the page. The Worker writes it into the page. */
export const address = (): string => document.documentElement.dataset["address"] ?? location.origin;

const ACCEPT = { accept: "application/json" };

const withCredential = (used: Credential | undefined, more: Record<string, string> = {}): Record<string, string> => ({
  ...ACCEPT,
  ...(used && { authorization: `Bearer ${used.secret}` }),
  ...more,
});

/** The headers of a request that carries the visitor's credential. */
export const headers = (more: Record<string, string>): Record<string, string> => withCredential(credential(), more);

interface Init {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** Whether to send no credential: the authorization server would take it for that of a client. */
  anonymous?: boolean;
}

/** The scopes that a response says the credential lacks (RFC 6750, 3.1). The challenge names those that it has, too. */
function lackingIn(response: Response): string[] {
  const challenge = response.headers.get("www-authenticate") ?? "";
  if (!/error="insufficient_scope"/.test(challenge)) return [];
  const named = /\bscope="([^"]*)"/.exec(challenge)?.[1]?.split(" ") ?? [];
  const held = credential()?.person?.scopes ?? [];
  const others = named.filter((scope) => !held.includes(scope));
  // A rule may have taken one that the sign-in gave.
  return others.length > 0 ? others : named;
}

/** Sends a request, with the visitor's credential unless it is anonymous. Throws if there is no response. */
export async function send(path: string, { anonymous = false, ...init }: Init = {}): Promise<Reply> {
  const start = performance.now();
  const used = anonymous ? undefined : credential();
  const response = await fetch(path, { ...init, headers: withCredential(used, init.headers), cache: "no-store", credentials: "omit" });
  if (used && response.status === 401) judge(used, "rejected");
  const text = await response.text();
  const duration = performance.now() - start;
  let json: Json | undefined;
  try {
    json = parse(text);
  } catch {
    // Some responses have no body.
  }
  return { status: response.status, text, json, headers: [...response.headers], duration, lacking: lackingIn(response) };
}

export const post = (path: string, body: string, more: Record<string, string> = {}, init: Pick<Init, "signal"> = {}): Promise<Reply> =>
  send(path, { ...init, method: "POST", headers: { "content-type": "application/json", ...more }, body });

export async function index(): Promise<Index> {
  return (await send("/")).json as unknown as Index;
}

/** The tools that the visitor may call, or the response that explains why there is no list. */
export async function tools(): Promise<Tool[] | Reply> {
  const used = credential();
  const reply = await send("/tools");
  const items = at(reply.json, "/items");
  if (reply.status !== 200 || !Array.isArray(items)) return reply;
  if (used) judge(used, "accepted");
  return items as unknown as Tool[];
}

/** The ids of the tools that fit a query, the best first; undefined if the server has no search. */
export async function found(query: string, signal: AbortSignal): Promise<string[] | undefined> {
  const { status, json } = await send(`/tools?query=${encodeURIComponent(query)}`, { signal });
  const items = at(json, "/items");
  if (status !== 200 || !Array.isArray(items)) return undefined;
  return items.map((item) => at(item, "/id")).filter((id): id is string => typeof id === "string");
}

/** By the name of the tool, of which the OpenAPI document has the newest version; empty if the server has no such document. */
export async function details(): Promise<Map<string, Details>> {
  const found = new Map<string, Details>();
  const { status, json } = await send("/openapi.json").catch(() => ({ status: 0, json: undefined }));
  const paths = at(json, "/paths");
  if (status !== 200 || !isObject(paths)) return found;
  for (const operation of Object.values(paths).map((path) => at(path, "/post"))) {
    const name = at(operation, "/operationId");
    if (isObject(operation) && typeof name === "string") found.set(name, detailsOf(operation));
  }
  return found;
}

function detailsOf(operation: JsonObject): Details {
  const examples = at(media(operation["requestBody"]), "/examples");
  const failures = operation["x-toolbooth-failures"];
  const exampleOf = (example: Json, succeeds: boolean) => {
    const title = at(example, "/summary");
    return { ...(typeof title === "string" && { title }), input: at(example, "/value") ?? {}, succeeds };
  };
  const title = operation["summary"];
  const view = operation["x-toolbooth-view"];
  const security = Array.isArray(operation["security"]) ? operation["security"] : [];
  const scopes = security.flatMap((way) => (isObject(way) ? Object.values(way).flat() : []));
  return {
    ...(typeof title === "string" && { title }),
    scopes: [...new Set(scopes.filter((scope): scope is string => typeof scope === "string"))],
    deprecated: operation["deprecated"] === true,
    readOnly: operation["x-openai-isConsequential"] === false,
    ...(typeof view === "string" && { view }),
    examples: [
      ...Object.values(isObject(examples) ? examples : {}).map((example) => exampleOf(example, true)),
      ...(Array.isArray(failures) ? failures : []).map((example) => exampleOf(example, false)),
    ],
  };
}

function media(body: Json | undefined): Json | undefined {
  const content = at(body, "/content");
  return isObject(content) ? content["application/json"] : undefined;
}

/** A model of the chat gateway. */
export interface Model {
  name: string;
  /** What a million tokens cost, in dollars, if the operator has said so. */
  price?: { input: number; output: number };
}

/**
 * The models of the chat gateway that the visitor may use. A name that ends in a slash is that of a provider, of which
 * every model may be used. Empty if there is no gateway, or none for the visitor.
 */
export async function models(): Promise<Model[]> {
  const { status, json } = await send("/v1/models").catch(() => ({ status: 0, json: undefined }));
  if (status !== 200) return [];
  const listOf = (list: Json | undefined) => (Array.isArray(list) ? list : []);
  const named = listOf(at(json, "/data")).map((model) => ({ name: at(model, "/id"), price: priceOf(at(model, "/price")) }));
  const providers = listOf(at(json, "/providers")).map((id) => ({ name: `${String(id)}/`, price: undefined }));
  return [...named, ...providers].flatMap(({ name, price }) => (typeof name === "string" ? [{ name, ...(price && { price }) }] : []));
}

function priceOf(price: Json | undefined): { input: number; output: number } | undefined {
  const [input, output] = [at(price, "/input"), at(price, "/output")].map(Number);
  return price === undefined || !Number.isFinite(input) || !Number.isFinite(output) ? undefined : { input: input ?? 0, output: output ?? 0 };
}
