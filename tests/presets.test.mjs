// The preconfigured providers of tools: a user authorizes a shipped tool at each, with nothing configured but the client. What the
// Worker and the browser send to the providers' own addresses arrives at a stand-in, which demands what each of them demands.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { Browser, PUBLIC } from "./support/authorizing.mjs";
import { listen } from "./support/server.mjs";
import { TOOLKITS, inputOf, standIn, variables } from "./support/toolkits.mjs";
import { CANARY, TOOLKITS as WORKER, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-of-an-application`;
const CLIENT = { id: "booth", secret: `${CANARY}-client-secret` };
const BASIC = `Basic ${btoa(`${CLIENT.id}:${CLIENT.secret}`)}`;
const inBody = ({ form, authorization }) => authorization === undefined && form.get("client_id") === CLIENT.id && form.get("client_secret") === CLIENT.secret;
/** The lifetime of access tokens: each call renews them. */
const LIFETIME = 0;

/**
 * Each provider: its endpoints, a tool that needs it, what its authorization request must have besides and may not have, how clients
 * authenticate, and what the token endpoint responds, with `fails` for a code or token that is wrong.
 */
const PROVIDERS = [
  {
    id: "slack",
    tool: "Slack.ListChannels",
    authorize: "slack.com/oauth/v2_user/authorize",
    token: "slack.com/api/oauth.v2.user.access",
    asked: ({ scope }) => scope === "channels:read groups:read",
    authenticated: inBody,
    tokens: ({ access, refresh }) => ({ ok: true, access_token: access, token_type: "user", refresh_token: refresh, expires_in: LIFETIME, scope: "channels:read,groups:read", team: { id: "T1" } }),
    fails: { status: 200, body: { ok: false, error: "invalid_code" } },
  },
  {
    id: "notion",
    tool: "Notion.Search",
    authorize: "api.notion.com/v1/oauth/authorize",
    token: "api.notion.com/v1/oauth/token",
    asked: ({ owner, scope }) => owner === "user" && scope === undefined,
    authenticated: ({ form, authorization }) => authorization === BASIC && !form.has("client_secret"),
    tokens: ({ access, refresh }) => ({ access_token: access, token_type: "bearer", refresh_token: refresh, bot_id: "b1", workspace_id: "w1", owner: { type: "user" } }),
    fails: { status: 400, body: { error: "invalid_grant" } },
    // It does not say when its tokens expire.
    isRenewed: false,
  },
  {
    id: "linear",
    tool: "Linear.ListTeams",
    authorize: "linear.app/oauth/authorize",
    token: "api.linear.app/oauth/token",
    asked: ({ prompt, scope }) => prompt === "consent" && scope === "read",
    authenticated: inBody,
    tokens: ({ access, refresh }) => ({ access_token: access, token_type: "Bearer", refresh_token: refresh, expires_in: LIFETIME, scope: ["read"] }),
    fails: { status: 400, body: { error: "invalid_grant" } },
  },
  {
    id: "atlassian",
    tool: "Jira.ListProjects",
    authorize: "auth.atlassian.com/authorize",
    token: "auth.atlassian.com/oauth/token",
    asked: ({ audience, prompt, scope }) => audience === "api.atlassian.com" && prompt === "consent" && scope === "read:jira-work offline_access",
    authenticated: inBody,
    tokens: ({ access, refresh }) => ({ access_token: access, token_type: "Bearer", refresh_token: refresh, expires_in: LIFETIME, scope: "read:jira-work offline_access" }),
    fails: { status: 403, body: { error: "invalid_grant" } },
  },
];

/** The providers, below `/<host>`. `asked` has their authorization requests, and `wrong` what they would reject. */
async function providers() {
  const [asked, wrong] = [[], []];
  const [codes, renewals] = [new Map(), new Set()];
  let issued = 0;
  const isValid = (form) => {
    if (form.get("grant_type") === "refresh_token") return renewals.delete(form.get("refresh_token"));
    const request = codes.get(form.get("code"));
    codes.delete(form.get("code"));
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    return request?.redirect_uri === form.get("redirect_uri") && request.code_challenge === challenge;
  };
  const server = await listen(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { pathname, searchParams } = new URL(request.url, "http://stand-in");
    const to = pathname.slice(1);
    const answer = ({ status, body }) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const atAuthorize = PROVIDERS.find(({ authorize }) => authorize === to);
    if (atAuthorize && request.method === "GET") {
      const query = Object.fromEntries(searchParams);
      asked.push(atAuthorize.id);
      if (query.client_id !== CLIENT.id || query.response_type !== "code" || !atAuthorize.asked(query)) wrong.push(request.url);
      const back = new URL(query.redirect_uri);
      const code = `${CANARY}-code-${codes.size}-of-${atAuthorize.id}`;
      codes.set(code, query);
      back.search = new URLSearchParams({ code, state: query.state });
      return response.writeHead(302, { location: back.href }).end();
    }
    const provider = PROVIDERS.find(({ token }) => token === to);
    const form = new URLSearchParams(body);
    if (!provider || request.method !== "POST" || !provider.authenticated({ form, authorization: request.headers.authorization })) {
      wrong.push(`${request.method} ${request.url}`);
      return answer({ status: 401, body: { error: "invalid_client" } });
    }
    if (!isValid(form)) return answer(provider.fails);
    issued += 1;
    const [access, refresh] = [`${CANARY}-access-${issued}-of-${provider.id}`, `${CANARY}-refresh-${issued}-of-${provider.id}`];
    renewals.add(refresh);
    answer({ status: 200, body: provider.tokens({ access, refresh }) });
  });
  return { ...server, asked, wrong };
}

/** The source of a module that sends the Worker's requests for public hosts to the stand-in. */
const rerouted = (base) => `
const send = globalThis.fetch;
globalThis.fetch = (url, init) => send(String(url).replace(/^https:\\/\\//, "${base}/"), init);
export default Worker;`;

let service, oauth, worker;
before(async () => {
  [service, oauth] = await Promise.all([standIn(), providers()]);
  const clients = PROVIDERS.flatMap(({ id }) => [[`OAUTH_${id.toUpperCase()}_CLIENT_ID`, CLIENT.id], [`OAUTH_${id.toUpperCase()}_CLIENT_SECRET`, CLIENT.secret]]);
  worker = await start(WORKER, {
    around: rerouted(oauth.base),
    vars: {
      ...variables(service.base),
      ...Object.fromEntries(clients),
      AUTH: "api-key",
      API_KEYS: JSON.stringify([entryOf(KEY, "Application", ["*"])]),
      OAUTH_PROVIDERS: PROVIDERS.map(({ id }) => id).join(","),
      PUBLIC_URL: PUBLIC,
      UNVERIFIED_USERS: "allow",
      STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
      GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
    },
  });
});
after(async () => {
  await worker?.close();
  await Promise.all([service?.close(), oauth?.close()]);
});

test("the providers that are not configured are named to the operator, and the report says where", async () => {
  const { json } = await worker.get("/health", { "oxp-api-key": KEY });
  assert.equal(json.status, "OK");
  const requiring = (provider) => TOOLKITS.flatMap(({ definitions }) => definitions).filter(({ requirements }) => requirements?.authorization[0].id === provider);
  for (const [provider, first] of [["github", "GitHub_AddComment"], ["google", "Calendar_CreateEvent"]]) {
    const others = requiring(provider).length - 1;
    const expected = `OAUTH_PROVIDERS does not include "${provider}", which ${first} and ${others} more require: users cannot grant access, so clients must send tokens`;
    assert.ok(json.warnings.includes(expected), JSON.stringify(json.warnings));
  }
  for (const { id } of PROVIDERS) assert.ok(!json.warnings.some((warning) => warning.includes(`"${id}"`)), id);
  const { checks } = (await worker.get("/doctor", { accept: "application/json" })).json;
  const { state, fix } = checks.find(({ id }) => id === "tools");
  assert.equal(state, "info");
  assert.match(fix, /\/health for a valid API key with the scope \*/);
});

for (const { id, tool, isRenewed = true } of PROVIDERS) {
  test(`${id}: a challenge, the user's consent, a call with the user's token, and one with a renewed token`, async () => {
    const { examples } = TOOLKITS.flatMap(({ definitions }) => definitions).find((definition) => definition.id.startsWith(`${tool}@`));
    service.example = examples[0];
    const user_id = `${CANARY}-user-of-${id}`;
    const call = () => worker.post({ tool_id: tool, input: inputOf(examples[0], service.base), context: { user_id } }, { headers: { "oxp-api-key": KEY } });
    const { status, json } = await call();
    assert.equal(status, 400, JSON.stringify(json));
    const [asked] = json.missing_requirements.authorization;
    const browser = new Browser(worker, (address) => address.replace("https:/", oauth.base));
    assert.equal((await browser.grant(asked)).status, 200);
    assert.equal(oauth.asked.at(-1), id);
    const arrived = [];
    for (const _ of ["first", "second"]) {
      const reply = await call();
      assert.equal(reply.status, 200, JSON.stringify(reply.json));
      assert.deepEqual(reply.json.value, examples[0].value);
      arrived.push(service.request.headers.authorization);
    }
    assert.deepEqual(oauth.wrong, []);
    for (const authorization of arrived) assert.match(authorization, new RegExp(`^Bearer ${CANARY}-access-\\d+-of-${id}$`));
    assert.equal(arrived[0] !== arrived[1], isRenewed, arrived.join());
  });
}
