// The host of a view: MCP Apps (2026-01-26), JSON-RPC between the playground and the page that shows the result of a tool. The page is
// not trusted: what it sends is input.
import { type Json, type JsonObject, at, isObject, stringify } from "../json.ts";

const VERSION = "2026-01-26";
/** The most requests of a view that may wait for the visitor or the server. */
const MOST_WAITING = 8;
/** The highest view, in pixels. */
const MOST_HEIGHT = 2000;

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const REFUSED = -32000;

/** Why a request of a view is refused; the view gets the message. */
export class Refusal extends Error {
  readonly code: number;

  constructor(message: string, code = REFUSED) {
    super(message);
    this.code = code;
  }
}

export interface HostOptions {
  /** What the view may know about the page around it. */
  context: JsonObject;
  /** The origins that the view uses. */
  csp: JsonObject;
  /** What it may use of the browser. */
  permissions: JsonObject;
  input: JsonObject;
  /** The result of the call, as MCP returns it. */
  result: JsonObject;
  /** Calls a tool for the view. Throws a `Refusal` if it may not. */
  callTool(name: string, input: JsonObject): Promise<Json>;
  /** Opens a page, if the visitor agrees. Throws a `Refusal` otherwise. */
  openLink(url: URL): Promise<void>;
  resized(height: number): void;
}

/** Answers the messages of the view in `frame`. Returns a function that ends it. */
export function host(frame: HTMLIFrameElement, options: HostOptions): { tell(context: JsonObject): void; end(): void } {
  let waiting = 0;
  let isInitialized = false;
  // A page without an origin has no name for its messages.
  const send = (message: JsonObject) => frame.contentWindow?.postMessage(plain({ jsonrpc: "2.0", ...message }), "*");
  const notify = (method: string, params: JsonObject) => send({ method: `ui/notifications/${method}`, params });

  const limited = async <Value,>(run: () => Promise<Value>): Promise<Value> => {
    if (waiting >= MOST_WAITING) throw new Refusal(`At most ${MOST_WAITING} requests can wait`);
    waiting += 1;
    try {
      return await run();
    } finally {
      waiting -= 1;
    }
  };
  const callTool = async (params: Json | undefined): Promise<Json> => {
    const name = at(params, "/name");
    const input = at(params, "/arguments") ?? {};
    if (typeof name !== "string" || !isObject(input)) throw new Refusal("expected a name, and arguments that are an object", INVALID_PARAMS);
    return limited(() => options.callTool(name, input));
  };
  const openLink = async (params: Json | undefined): Promise<Json> => {
    const address = at(params, "/url");
    const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
    if (url?.protocol !== "https:" && url?.protocol !== "http:") throw new Refusal("expected the address of a web page", INVALID_PARAMS);
    await limited(() => options.openLink(url));
    return {};
  };
  const answer = async (method: string, params: Json | undefined): Promise<Json> => {
    switch (method) {
      case "ui/initialize":
        return {
          protocolVersion: VERSION,
          hostInfo: { name: "Playground", version: "1.0.0" },
          hostCapabilities: { openLinks: {}, serverTools: {}, sandbox: { csp: options.csp, permissions: options.permissions } },
          hostContext: options.context,
        };
      case "ping":
        return {};
      case "tools/call":
        return callTool(params);
      case "ui/open-link":
        return openLink(params);
      case "ui/request-display-mode":
        return { mode: "inline" };
      default:
        throw new Refusal("The playground does not have this", METHOD_NOT_FOUND);
    }
  };
  const onMessage = async ({ source, data }: MessageEvent) => {
    const message = data as Json;
    if (source !== frame.contentWindow || !isObject(message) || message["jsonrpc"] !== "2.0") return;
    const { id, method, params } = message;
    if (typeof method !== "string") return;
    if (typeof id === "string" || typeof id === "number") {
      try {
        send({ id, result: await answer(method, params) });
      } catch (error) {
        const [code, text] = error instanceof Refusal ? [error.code, error.message] : [REFUSED, "The server did not respond"];
        send({ id, error: { code, message: text } });
      }
    } else if (method === "ui/notifications/initialized" && !isInitialized) {
      isInitialized = true;
      notify("tool-input", { arguments: options.input });
      notify("tool-result", options.result);
    } else if (method === "ui/notifications/size-changed") {
      const height = at(params, "/height");
      if (typeof height === "number" && height >= 0) options.resized(Math.min(Math.ceil(height), MOST_HEIGHT));
    }
  };
  addEventListener("message", onMessage);
  return {
    tell: (context) => isInitialized && notify("host-context-changed", context),
    end: () => {
      removeEventListener("message", onMessage);
      if (isInitialized) send({ id: "end", method: "ui/resource-teardown", params: { reason: "The result is no longer shown" } });
    },
  };
}

/** A value with JavaScript's own numbers: a message cannot carry others. */
const plain = (value: Json): unknown => JSON.parse(stringify(value));

/** What views can ask for of the browser, with the features of the frame. */
const FEATURES: Record<string, string> = { camera: "camera", microphone: "microphone", geolocation: "geolocation", clipboardWrite: "clipboard-write" };

/** Those of the permissions that a view asks for which the playground knows. */
export const permissionsOf = (asked: JsonObject): JsonObject => Object.fromEntries(Object.keys(FEATURES).filter((name) => isObject(asked[name])).map((name) => [name, {}]));

/** The attribute `allow` of a frame with these permissions. The browser still asks the visitor. */
export const allowOf = (permissions: JsonObject): string => Object.keys(permissions).map((name) => `${FEATURES[name]} *`).join("; ");

const LISTS = ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"] as const;
/** An origin that can stand in a policy, and nothing else that could. */
const ORIGIN = /^(https|wss|http|ws):\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?$/;

/** The page of a view with its policy (MCP Apps, "Content Security Policy Enforcement"), which applies before anything else in it. */
export function withPolicy(html: string, csp: JsonObject): string {
  const [connect, resource, frame, base] = LISTS.map((name) => {
    const origins = csp[name];
    return (Array.isArray(origins) ? origins : []).filter((origin): origin is string => typeof origin === "string" && ORIGIN.test(origin));
  });
  const list = (...sources: (string[] | undefined)[]) => sources.flatMap((all) => all ?? []).join(" ") || "'none'";
  const policy = [
    "default-src 'none'",
    `script-src ${list(["'unsafe-inline'"], resource)}`,
    `style-src ${list(["'unsafe-inline'"], resource)}`,
    `img-src ${list(["data:"], resource)}`,
    `font-src ${list(["data:"], resource)}`,
    `media-src ${list(["data:"], resource)}`,
    `connect-src ${list(connect)}`,
    `frame-src ${list(frame)}`,
    `base-uri ${list(base)}`,
    "object-src 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html><meta http-equiv="content-security-policy" content="${policy}">${html}`;
}
