// What may be used only once, when 50 requests at the same time try: with the ledger, exactly one of them may. And a refresh token, which
// several may use.
import assert from "node:assert/strict";
import { createSign, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { flow } from "./support/oauth-client.mjs";
import { KEY, REDIRECT, hostClient, startSignIn } from "./support/sign-in-server.mjs";

const COUNT = 50;

let worker, address, documents, keys;
before(async () => {
  ({ documents, keys } = await hostClient());
  worker = await startSignIn();
  ({ address } = worker);
});
after(async () => {
  await worker?.close();
  await documents?.close();
});

/** Sends a form to the token endpoint. */
async function token(fields) {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { status, json } = await worker.request("POST", "/oauth/token", { headers, body: String(new URLSearchParams(fields)) });
  return { status, json };
}

/** A flow, and the form that exchanges its code. */
async function consented(more) {
  const one = await flow(address, { redirect: REDIRECT, key: KEY, ...more });
  const code = (await one.agree()).searchParams.get("code");
  const { client_id } = one.client;
  return { grant_type: "authorization_code", client_id, code, redirect_uri: REDIRECT, code_verifier: one.verifier };
}

/** Sends all forms at the same time: exactly one gets tokens; the others one of these errors. */
async function race(forms, errors) {
  const replies = await Promise.all(forms.map(token));
  const passed = replies.filter(({ status }) => status === 200);
  assert.equal(passed.length, 1, JSON.stringify(replies.map(({ status, json }) => json.error ?? status)));
  for (const { status, json } of replies) {
    if (status !== 200) assert.ok(errors.includes(json.error), JSON.stringify(json));
  }
  return passed[0].json;
}

test(`${COUNT} requests with one code`, async () => {
  const form = await consented();
  const tokens = await race(Array(COUNT).fill(form), ["invalid_grant"]);
  const again = await token({ grant_type: "refresh_token", client_id: form.client_id, refresh_token: tokens.refresh_token });
  assert.deepEqual([again.status, again.json.error], [400, "invalid_grant"], "the second use has ended the grant");
});

test(`${COUNT} requests with one refresh token, and an older one`, async () => {
  const form = await consented();
  const { json } = await token(form);
  const refresh = (refresh_token) => token({ grant_type: "refresh_token", client_id: form.client_id, refresh_token });
  let current = json.refresh_token;
  for (let generation = 0; generation < 3; generation += 1) {
    const replies = await Promise.all(Array.from({ length: COUNT }, () => refresh(current)));
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
    const successors = new Set(replies.map(({ json: { refresh_token } }) => refresh_token));
    assert.equal(successors.size, 1, "copies do not multiply");
    [current] = successors;
  }
  assert.equal((await refresh(json.refresh_token)).json.error, "invalid_grant");
  assert.equal((await refresh(current)).json.error, "invalid_grant", "somebody has a copy");
});

test(`${COUNT} requests with one assertion`, async () => {
  const client_id = `${documents.base}/client.json`;
  const forms = [];
  for (let at = 0; at < COUNT; at += 1) forms.push(await consented({ client: { client_id } }));
  const now = Math.floor(Date.now() / 1000);
  const encoded = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const claims = { iss: client_id, sub: client_id, aud: address, jti: randomUUID(), iat: now, exp: now + 300 };
  const message = `${encoded({ alg: "RS256", kid: "1" })}.${encoded(claims)}`;
  const client_assertion = `${message}.${createSign("RSA-SHA256").update(message).sign(keys.privateKey, "base64url")}`;
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  await race(forms.map((form) => ({ ...form, client_assertion, client_assertion_type })), ["invalid_client"]);
});
