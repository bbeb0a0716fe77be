// Identity providers of companies, and the two Workers that trust them: Toolbooth and workers-oauth-provider, each in its own workerd.
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { Log, LogLevel, Miniflare } from "miniflare";
import { freePort } from "../../tests/support/commands.mjs";
import { listen } from "../../tests/support/server.mjs";
import { sha256 } from "../../tests/support/sign-in.mjs";
import { deployed } from "../../tests/support/worker.mjs";
import { ROOT } from "../paths.mjs";
import { ours } from "../workers.mjs";
import { provider } from "./servers.mjs";

const REDIRECT = "http://localhost:3118/callback";
const SECRETS = { agent: "secret-of-the-agent-of-32-bytes-x", other: "secret-of-the-other-of-32-bytes-x" };

/** `https://<name>.example` of both Workers: what it answers at `/keys`. `counts` are the requests. */
export async function companies() {
  const keys = await generateKeyPair("ES256");
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const secret = Buffer.from("a secret that everyone can read, as it is in the published set");
  const good = { ...(await exportJWK(keys.publicKey)), kid: "1", alg: "ES256", use: "sig" };
  const json = (...set) => (response) => response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: set }));
  const answers = {
    acme: json(good),
    kids: json(good),
    empty: json(),
    short: json({ ...short.publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }),
    encrypts: json({ ...good, use: "enc" }),
    shared: json({ kty: "oct", k: secret.toString("base64url"), kid: "1", alg: "HS256", use: "sig" }),
    redirects: (response) => response.writeHead(302, { location: "/acme.example/keys" }).end(),
    huge: json(good, ...Array(6000).fill({ ...good, kid: "2" })),
    fails: (response) => response.writeHead(500).end(),
    text: (response) => response.end("<!doctype html>"),
    silent: () => {},
  };
  const counts = {};
  const { base, close } = await listen((request, response) => {
    const [, name] = /^\/(\w+)\.example\/keys$/.exec(request.url) ?? [];
    counts[name] = (counts[name] ?? 0) + 1;
    return answers[name](response);
  });
  return { names: Object.keys(answers), privateKey: keys.privateKey, publicKey: keys.publicKey, short: short.privateKey, secret, counts, base, close };
}

/** Sends requests for `https://*.example` to the server of `companies`. */
const around = (base) => `import Worker from "./worker.js";
export * from "./worker.js";
const send = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const { host, pathname } = new URL(input.url ?? input);
  if (!host.endsWith(".example")) return send(input, init);
  const url = ${JSON.stringify(base)} + "/" + host + pathname;
  return send(typeof input === "string" ? url : new Request(url, input), init);
};
export default Worker;`;

async function start({ modules, variables, bindings, exports = {} }, idps) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const types = { esModule: "esm", wasm: "wasm" };
  const { compatibilityDate, compatibilityFlags } = deployed;
  const env = Object.fromEntries(Object.entries({ ...variables, PUBLIC_URL: base }).map(([name, value]) => [name, { type: "text", value }]));
  const manifest = {
    mainModule: "around.js",
    modulesRoot: "/",
    modules: {
      "around.js": { type: "esm", contents: around(idps.base) },
      ...Object.fromEntries(modules.map(({ name, type, bytes }) => [name, { type: types[type], contents: Buffer.from(bytes) }])),
    },
  };
  const config = { name: "worker", compatibilityDate, compatibilityFlags, env: { ...env, ...bindings }, exports, manifest };
  const runtime = new Miniflare({ host: "127.0.0.1", port, cf: false, telemetry: { enabled: false }, log: new Log(LogLevel.NONE), handleStructuredLogs() {}, workers: [{ config }] });
  await runtime.ready;
  return { base, close: () => runtime.dispose() };
}

/** Toolbooth. `ledger` binds the Durable Object, which counts assertions exactly. */
export async function toolbooth(idps, { ledger = true } = {}) {
  const clients = ["agent", "other"].map((id) => ({ id, name: id, redirect_uris: [REDIRECT], secret_hash: sha256(SECRETS[id]) }));
  const issuer = (name) => ({
    issuer: `https://${name}.example`,
    jwks_uri: `https://${name}.example/keys`,
    clients: ["agent", "public"],
    rules: { engineering: { scopes: ["github:read"] }, sales: { scopes: [] } },
    allowed: ["@acme.example"],
  });
  const variables = {
    AUTH: "sign-in",
    DEVELOPMENT: "true",
    STATE_KEY: "state-key-of-at-least-thirty-two-bytes",
    LOG: "off",
    SIGN_IN_CLIENTS: JSON.stringify([...clients, { id: "public", name: "public", redirect_uris: [REDIRECT] }]),
    ENTERPRISE_ISSUERS: JSON.stringify(idps.names.map(issuer)),
  };
  const bindings = { KV: { type: "kv", id: "bench" }, ...(ledger && { LEDGER: { type: "durable-object", worker: "worker", exportName: "Ledger" } }) };
  const exports = { Ledger: { type: "durable-object", storage: "sqlite" } };
  const { modules } = await ours("toolbooth", "Toolbooth", join(ROOT, "target/samples"));
  const server = await start({ modules, variables, bindings, exports }, idps);
  const known = (id) => ({ client_id: id, ...(SECRETS[id] && { client_secret: SECRETS[id] }) });
  return { ...server, clients: { agent: known("agent"), other: known("other"), public: known("public") } };
}

/** workers-oauth-provider. Its clients register themselves. */
export async function another(idps) {
  const { modules } = await provider("assertions.worker.mjs");
  const variables = { ISSUERS: JSON.stringify(idps.names.map((name) => `https://${name}.example`)) };
  const server = await start({ modules, variables, bindings: { OAUTH_KV: { type: "kv", id: "bench" } } }, idps);
  const register = async (token_endpoint_auth_method) => {
    const body = JSON.stringify({ client_name: "Test", redirect_uris: [REDIRECT], token_endpoint_auth_method });
    const reply = await fetch(`${server.base}/oauth/register`, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { client_id, client_secret } = await reply.json();
    return { client_id, ...(client_secret && { client_secret }) };
  };
  const [agent, other, open] = [await register("client_secret_post"), await register("client_secret_post"), await register("none")];
  return { ...server, clients: { agent, other, public: open } };
}
