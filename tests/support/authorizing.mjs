// Everything a test needs to have a user authorize a tool: the services that the Worker calls, and a browser.
import assert from "node:assert/strict";
import { github } from "./github.mjs";
import { CLIENT, authorizationServer } from "./oauth.mjs";
import { CANARY } from "./leaks.mjs";

/** The Worker's `PUBLIC_URL`. Nothing listens there: the browser goes to the Worker itself. */
export const PUBLIC = "https://tools.example";

/** Starts GitHub's API and its authorization server; `vars` configures a Worker that uses both. */
export async function authorizing() {
  const [provider, api] = await Promise.all([authorizationServer(), github()]);
  const vars = {
    GITHUB_API_URL: api.base,
    OAUTH_PROVIDERS: "github",
    PUBLIC_URL: PUBLIC,
    // Without it, a challenge for the user of an application with an API key would have to be verified.
    UNVERIFIED_USERS: "allow",
    STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
    GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
    OAUTH_GITHUB_CLIENT_ID: CLIENT.id,
    OAUTH_GITHUB_CLIENT_SECRET: CLIENT.secret,
    OAUTH_GITHUB_AUTHORIZE_URL: `${provider.base}/authorize`,
    OAUTH_GITHUB_TOKEN_URL: `${provider.base}/token`,
    OAUTH_GITHUB_REVOKE_URL: `${provider.base}/applications/{client_id}/grant`,
  };
  return { provider, api, vars, close: () => Promise.all([provider.close(), api.close()]) };
}

/** The path of a URL of the authorization flow. */
export function path(address) {
  assert.ok(address.startsWith(`${PUBLIC}/auth/`), address);
  return address.slice(PUBLIC.length);
}

/** A simple browser: keeps cookies, submits forms and follows redirects. */
export class Browser {
  cookies = new Map();

  /** `reach` says where the provider at an address is. */
  constructor(booth, reach = (address) => address) {
    this.booth = booth;
    this.reach = reach;
  }

  async visit(method, address) {
    const cookie = [...this.cookies].map((pair) => pair.join("=")).join("; ");
    const reply = await this.booth.request(method, path(address), { headers: { cookie, "sec-fetch-site": "same-origin" } });
    for (const set of reply.headers["set-cookie"] ?? []) {
      const [, name, value] = /^(__Host-[^=]+)=([^;]*); /.exec(set);
      this.cookies.set(name, value);
    }
    return reply;
  }

  /** Goes to the provider and returns the callback URL, without visiting it. */
  async leave({ url }) {
    const page = await this.visit("GET", url);
    assert.equal(page.status, 200);
    const [, action] = /<form method="post" action="([^"]+)">/.exec(page.text);
    const sent = await this.visit("POST", `${PUBLIC}${action}`);
    assert.equal(sent.status, 303);
    const answer = await fetch(this.reach(sent.headers.location), { redirect: "manual" });
    return answer.headers.get("location");
  }

  /** Completes the whole flow. */
  async grant(asked) {
    return this.visit("GET", await this.leave(asked));
  }
}
