// Signs the visitor in: this page is an OAuth client of its own server, with PKCE (RFC 7636) and a registration for each sign-in
// (RFC 7591). The server's pages open in a new window, so that nothing has to outlive this page: code, verifier and
// token are in memory only.
import { type Json, at } from "./json.ts";
import { send } from "./server.ts";

/** Where the server sends the visitor's window afterwards, and the channel on which that page reports. */
export const RETURN_PATH = "/signed-in";
export const CHANNEL = "sign-in";

/** The longest wait for the visitor, in milliseconds. */
const TIMEOUT = 10 * 60_000;

/** The metadata of the authorization server (RFC 8414). */
export interface SignIn {
  issuer: string;
  authorize: string;
  /** Paths of this origin. */
  token: string;
  register: string;
  resource: string;
  scopes: string[];
}

/** How visitors sign in; undefined if this server has no sign-in, or has it at another address. Throws if it cannot respond now. */
export async function signIn(): Promise<SignIn | undefined> {
  const { status, json } = await send("/.well-known/oauth-authorization-server", { anonymous: true });
  if (status === 429 || status >= 500) throw new Error(`Status ${status}`);
  const text = (name: string) => String(at(json, `/${name}`) ?? "");
  const path = (name: string) => (URL.canParse(text(name)) ? new URL(text(name)).pathname : "");
  if (status !== 200 || text("issuer") !== location.origin) return undefined;
  const scopes = at(json, "/scopes_supported");
  return {
    issuer: text("issuer"),
    authorize: text("authorization_endpoint"),
    token: path("token_endpoint"),
    register: path("registration_endpoint"),
    resource: String(at(json, "/protected_resources/0") ?? `${location.origin}/mcp`),
    scopes: Array.isArray(scopes) ? scopes.map(String).filter((scope) => scope !== "offline_access") : [],
  };
}

/**
 * Opens the server's page and returns an access token when the visitor has agreed. Must be called by an event of the visitor:
 * browsers open no window otherwise. Throws an error whose message is for the visitor.
 */
export async function getToken(server: SignIn): Promise<string> {
  const popup = open("", "_blank", "popup,width=520,height=720");
  if (!popup) throw new Error("Your browser blocked the sign-in window. Allow pop-ups and try again.");
  try {
    const redirect = location.origin + RETURN_PATH;
    const client = await register(server, redirect);
    const [state, verifier] = [random(), random()];
    const challenge = base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
    const query = { response_type: "code", client_id: client, redirect_uri: redirect, state, code_challenge: challenge, code_challenge_method: "S256", resource: server.resource, scope: server.scopes.join(" ") };
    const returned = authorizationCode(server, state);
    popup.location.href = `${server.authorize}?${new URLSearchParams(query)}`;
    const code = await returned;
    const { json } = await postForm(server.token, { grant_type: "authorization_code", code, redirect_uri: redirect, client_id: client, code_verifier: verifier, resource: server.resource });
    return member(json, "access_token");
  } finally {
    // A provider's page may have severed the connection to the window: then the last page closes it.
    popup.close();
  }
}

/** Registers this page; returns its `client_id`. */
async function register({ register: path }: SignIn, redirect: string): Promise<string> {
  const body = { client_name: `Playground of ${location.host}`, redirect_uris: [redirect], token_endpoint_auth_method: "none", grant_types: ["authorization_code"], response_types: ["code"] };
  const { json } = await send(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), anonymous: true });
  return member(json, "client_id");
}

/** The authorization code that the other window reports. */
function authorizationCode({ issuer }: SignIn, state: string): Promise<string> {
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise<string>((resolve, reject) => {
    setTimeout(() => reject(new Error("Sign-in timed out after ten minutes.")), TIMEOUT);
    channel.onmessage = ({ data }: MessageEvent<Record<string, string>>) => {
      // Another tab may sign in, too.
      if (data["state"] !== state) return;
      if (data["code"] && data["iss"] === issuer) resolve(data["code"]);
      else reject(new Error(data["error_description"] ?? data["error"] ?? "The sign-in response did not come from this server."));
    };
  }).finally(() => channel.close());
}

const postForm = (path: string, form: Record<string, string>) =>
  send(path, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: new URLSearchParams(form).toString(), anonymous: true });

function member(json: Json | undefined, name: string): string {
  const value = at(json, `/${name}`);
  if (typeof value === "string") return value;
  throw new Error(String(at(json, "/error_description") ?? at(json, "/error") ?? "The server rejected the sign-in."));
}

const base64url = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));
