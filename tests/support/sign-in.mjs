// A person's browser at the pages of sign-in, and stand-ins for the documents of well-known clients.
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync } from "node:crypto";
import http from "node:http";
import { watch } from "./leaks.mjs";
import { listen } from "./server.mjs";

/** The form in which secrets of clients are configured. */
export const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** A simple browser: it keeps the cookies of each origin and sends the headers that browsers send. */
export class Person {
  #cookies = new Map();

  /** Sends a request without following redirects. */
  async visit(url, { method = "GET", body, headers = {} } = {}) {
    const { origin, pathname, search, hostname, port } = new URL(url);
    const jar = this.#cookies.get(origin) ?? new Map();
    this.#cookies.set(origin, jar);
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const sent = { ...(cookie && { cookie }), ...headers };
    const reply = await new Promise((resolve, reject) => {
      // With a connection of its own: the server may close one that is idle just when it is used again.
      const request = http.request({ hostname, port, method, path: pathname + search, headers: sent, agent: false }, (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
      });
      request.on("error", reject);
      request.end(body);
    });
    watch(pathname + search, sent, body, reply);
    for (const set of reply.headers["set-cookie"] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set);
      if (value) jar.set(name, value);
      else jar.delete(name);
    }
    return { ...reply, url, location: reply.headers.location && new URL(reply.headers.location, url).href };
  }

  /** Sends one of the forms of a consent page: the one whose `with` has this value. */
  answer(page, choice, fields = {}) {
    const forms = [...page.text.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/g)];
    const found = forms.map(([, action, inner]) => ({
      action,
      hidden: Object.fromEntries([...inner.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(([, name, value]) => [name, value])),
    }));
    const form = found.find(({ hidden }) => hidden.with === choice);
    assert.ok(form, `the page offers ${choice}: ${page.text}`);
    const url = new URL(form.action, page.url);
    const headers = { "content-type": "application/x-www-form-urlencoded", origin: url.origin, "sec-fetch-site": "same-origin" };
    return this.visit(url, { method: "POST", headers, body: String(new URLSearchParams({ ...form.hidden, ...fields })) });
  }

  /** Agrees with an API key; returns the URL of the client's callback. */
  async agree(url, api_key) {
    const page = await this.visit(url);
    assert.equal(page.status, 200, page.text);
    const back = await this.answer(page, "key", { api_key });
    assert.equal(back.status, 303, back.text);
    return new URL(back.location);
  }
}

/** Serves JSON documents on a loopback port. `documents` are functions of the address, by path. */
export async function hosting(documents) {
  const requests = [];
  const { base, close } = await listen((request, response) => {
    requests.push(request.url);
    const document = documents[request.url]?.(base);
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  return { base, requests, close };
}

/** The keys of a client that authenticates with `private_key_jwt`. */
export function clientKeys() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" } };
}

/** Claude's document, with another address. */
export const claude = (base) => ({
  client_id: `${base}/oauth/mcp-oauth-client-metadata`,
  client_name: "Claude",
  client_uri: "https://claude.ai",
  redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
  grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** Claude Code's document, with another address. */
export const claudeCode = (base) => ({
  client_id: `${base}/oauth/claude-code-client-metadata`,
  client_name: "Claude Code",
  client_uri: "https://claude.ai",
  redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** ChatGPT's document, with another address. */
export const chatgpt = (base) => ({
  client_id: `${base}/oauth/abc/client.json`,
  client_name: "ChatGPT",
  redirect_uris: ["https://chatgpt.com/connector/oauth/abc"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "private_key_jwt",
  token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
  token_endpoint_auth_signing_alg: "RS256",
  jwks_uri: `${base}/oauth/jwks.json`,
});
