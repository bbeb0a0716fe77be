// Signs the visitor in: this page is an OAuth client of its own server, with PKCE (RFC 7636). It registers once for each browser
// (RFC 7591). The server's pages open in a new window, so that code and verifier need not outlive this page.
import { browserName } from "./browser.ts";
import { type Credential, credential, forget, setCredential } from "./credential.ts";
import { type Json, at } from "./json.ts";
import { send } from "./server.ts";

/** Where the server sends the visitor's window afterwards, and the channel on which that page reports. */
export const RETURN_PATH = "/signed-in";
export const CHANNEL = "sign-in";

/** The size of the server's page: a request with several scopes needs all of it. */
const WIDTH = 560;
const HEIGHT = 900;

/** The longest wait for the visitor, in milliseconds. */
const TIMEOUT = 10 * 60_000;

/** Where the browser keeps the id of its client. It is no secret: it is part of the address of the server's page. */
const CLIENT = "client";

/** What every sign-in asks for: a request without scopes that the server knows would be one for all of them, or be rejected. */
const LEAST = "profile";

/** The metadata of the authorization server (RFC 8414). */
export interface SignIn {
  issuer: string;
  /** Paths of this origin. */
  authorize: string;
  token: string;
  register: string;
  revoke: string;
  resource: string;
}

/** Whether AUTH may let people sign in. The Worker names the ways in the page. */
const hasSignIn = (): boolean => (document.documentElement.dataset["ways"] ?? "").split(" ").includes("sign-in");

/** How visitors sign in; undefined if this server has no sign-in, or has it at another address. Throws if it cannot respond now. */
export async function signIn(): Promise<SignIn | undefined> {
  // Browsers report a request that fails in their console.
  if (!hasSignIn()) return undefined;
  const { status, json } = await send("/.well-known/oauth-authorization-server", { anonymous: true });
  if (status === 429 || status >= 500) throw new Error(`Status ${status}`);
  const text = (name: string) => String(at(json, `/${name}`) ?? "");
  const path = (name: string) => (URL.canParse(text(name)) ? new URL(text(name)).pathname : "");
  if (status !== 200 || text("issuer") !== location.origin) return undefined;
  return {
    issuer: text("issuer"),
    authorize: path("authorization_endpoint"),
    token: path("token_endpoint"),
    // This page may register where other clients may not.
    register: path("registration_endpoint") || "/oauth/register",
    revoke: path("revocation_endpoint"),
    resource: String(at(json, "/protected_resources/0") ?? `${location.origin}/mcp`),
  };
}

/**
 * Opens the server's page, where the visitor allows this one to use `more` scopes than before, and sets the credential. Must be
 * called by an event of the visitor: browsers open no window otherwise. Throws an error whose message is for the visitor.
 */
export async function authorize(server: SignIn, more: string[] = []): Promise<void> {
  const popup = open("", "_blank", `popup,width=${WIDTH},height=${Math.min(HEIGHT, screen.availHeight)}`);
  if (!popup) throw new Error("Your browser blocked the sign-in window. Allow pop-ups and try again.");
  // A window that a page opens begins with a copy of the page's storage.
  forget(popup);
  const before = credential();
  try {
    const redirect = location.origin + RETURN_PATH;
    const [state, verifier] = [random(), random()];
    const challenge = base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
    const scopes = [...new Set([...(before?.person?.scopes ?? []), ...more])];
    const address = (client: string) => {
      const query = { response_type: "code", client_id: client, redirect_uri: redirect, state, code_challenge: challenge, code_challenge_method: "S256", resource: server.resource, scope: [LEAST, ...scopes].join(" ") };
      return `${server.authorize}?${new URLSearchParams(query)}`;
    };
    const client = (await knownClient(address)) ?? (await register(server, redirect));
    const returned = authorizationCode(server, state);
    popup.location.href = address(client);
    const code = await returned;
    const { json } = await postForm(server.token, { grant_type: "authorization_code", code, redirect_uri: redirect, client_id: client, code_verifier: verifier, resource: server.resource });
    const secret = member(json, "access_token");
    const scopesAt = (pointer: string) => String(at(json, pointer) ?? "").split(" ").filter(Boolean);
    const granted = scopesAt("/scope");
    setCredential({ secret, person: { name: String(at(json, "/name") ?? "Signed in"), scopes: granted, available: scopesAt("/available_scope"), client } });
    // Otherwise the visitor's account would list this page twice.
    if (before) void revoke(server, before);
    const refused = more.filter((scope) => !granted.includes(scope));
    if (refused.length > 0) throw new Error(`You cannot allow ${refused.join(", ")} on this server.`);
  } finally {
    // A provider's page may have severed the connection to the window: then the last page closes it.
    popup.close();
  }
}

/** Ends the access of the token of a sign-in (RFC 7009). If the server does not respond, the token expires by itself. */
export async function revoke(server: SignIn, { secret, person }: Credential): Promise<void> {
  if (person) await postForm(server.revoke, { token: secret, client_id: person.client }).catch(() => {});
}

/** The client that this browser has registered, unless the server does not know it any more: then its page is an error. */
async function knownClient(address: (client: string) => string): Promise<string | undefined> {
  const known = storage()?.getItem(CLIENT);
  if (!known) return undefined;
  const { status } = await fetch(address(known), { cache: "no-store", credentials: "omit", redirect: "manual" });
  return status === 400 ? undefined : known;
}

/** Registers this browser; returns its `client_id`. */
async function register({ register: path }: SignIn, redirect: string): Promise<string> {
  const body = { client_name: `Playground · ${browserName(navigator.userAgent)}`, redirect_uris: [redirect], token_endpoint_auth_method: "none", grant_types: ["authorization_code"], response_types: ["code"] };
  const { json } = await send(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), anonymous: true });
  const client = member(json, "client_id");
  storage()?.setItem(CLIENT, client);
  return client;
}

/** What the browser keeps for this site; undefined if it denies that. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
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
      else if (data["error"] === "access_denied") reject(new Error("You declined, and nothing was stored. To allow it after all, press the button again."));
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
