// Sends the same wrong assertions of a company (ID-JAG) to Toolbooth and to workers-oauth-provider, and writes the table of docs/SIGN-IN.md.
//   node bench/sign-in/assertions.mjs
import { createHmac, createSign, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CompactSign, SignJWT, UnsecuredJWT, exportJWK, exportSPKI, generateKeyPair } from "jose";
import { ROOT } from "../paths.mjs";
import { another, companies, toolbooth } from "./companies.mjs";

const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const HEADER = { alg: "ES256", kid: "1", typ: "oauth-id-jag+jwt" };
const PAIRS = 20;
const idps = await companies();
const { privateKey: wrongKey } = await generateKeyPair("ES256");
const rsa = await generateKeyPair("RS256", { modulusLength: 2048 });

const now = () => Math.floor(Date.now() / 1000);
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const signed = (header, claims, signature) => {
  const message = `${part({ ...HEADER, ...header })}.${part(claims)}`;
  return `${message}.${signature(message)}`;
};
const hs256 = (secret, claims) => signed({ alg: "HS256" }, claims, (message) => createHmac("sha256", secret).update(message).digest("base64url"));
const rs256 = (key, claims) => signed({ alg: "RS256" }, claims, (message) => createSign("sha256").update(message).sign(key, "base64url"));
// Without members that are undefined.
const sign = (payload, header = {}, key = idps.privateKey) =>
  new SignJWT(JSON.parse(JSON.stringify(payload))).setProtectedHeader(JSON.parse(JSON.stringify({ ...HEADER, ...header }))).sign(key);

/** The claims of a good assertion for a server, with changes; `undefined` omits one. */
const claims = ({ base, clients }, changes = {}) => ({
  ...{ iss: "https://acme.example", sub: "ada", email: "ada@acme.example", groups: ["engineering"], scope: "github:read" },
  ...{ aud: base, resource: `${base}/mcp`, client_id: clients.agent.client_id },
  ...{ jti: randomUUID(), iat: now(), exp: now() + 300 },
  ...changes,
});

/** Sends a request to the token endpoint. Returns what was granted: `{ scopes }`, or undefined if the request was rejected. */
async function ask(server, parameters) {
  const sent = Object.entries({ grant_type: GRANT, ...server.clients.agent, ...parameters }).filter(([, value]) => value !== undefined);
  const reply = await fetch(`${server.base}/oauth/token`, { method: "POST", body: new URLSearchParams(sent) });
  const { error, access_token, scope } = await reply.json();
  if (!error === !access_token) throw new Error(`${reply.status}: neither a token nor an error`);
  return error ? undefined : { scopes: (scope ?? "").split(" ").filter(Boolean) };
}

const outcome = (granted) => (granted ? "**accepted**" : "rejected");
/** A row about one request; `make` returns its parameters for a server. */
const one = (what, make, more) => ({ what, run: async (server) => outcome(await ask(server, await make(server))), ...more });
/** An assertion with other claims or another header. `changes` may depend on the server. */
const changed = (what, changes, { header, key, ...more } = {}) =>
  one(what, async (server) => ({ assertion: await sign(claims(server, typeof changes === "function" ? changes(server) : changes), header, key) }), more);
const company = (what, name, more) => changed(what, { iss: `https://${name}.example` }, more);
/** What a deployment has to write itself. */
const left = (callback) => ({ other: `not supported by itself: left to your \`${callback}\`` });

const ROWS = {
  form: [
    one("no assertion", () => ({})),
    one("not a token", () => ({ assertion: "x" })),
    one("two parts", async (server) => ({ assertion: (await sign(claims(server))).split(".").slice(0, 2).join(".") })),
    one("claims that are no object", async () => ({ assertion: await new CompactSign(new TextEncoder().encode("[]")).setProtectedHeader(HEADER).sign(idps.privateKey) })),
    changed("8,200 bytes of filler", { filler: "f".repeat(8200) }, { why: "The limits are 8 KB and 16 KB" }),
    changed("17,000 bytes of filler", { filler: "f".repeat(17000) }),
  ],
  type: [changed("no `typ`", {}, { header: { typ: undefined } }), changed("`JWT`", {}, { header: { typ: "JWT" } }), changed("`at+jwt`", {}, { header: { typ: "at+jwt" } })],
  signature: [
    one("`alg` `none`", (server) => ({ assertion: new UnsecuredJWT(claims(server)).encode() })),
    one("`alg` `none` with the right `typ`", (server) => ({ assertion: signed({ alg: "none" }, claims(server), () => "") })),
    one("HS256 with the public key", async (server) => ({ assertion: hs256(await exportSPKI(idps.publicKey), claims(server)) })),
    one("HS256 with the client's secret", (server) => ({ assertion: hs256(server.clients.agent.client_secret, claims(server)) })),
    one("changed signature", async (server) => ({ assertion: (await sign(claims(server))).replace(/.{4}$/, "AAAA") })),
    one("changed claims", async (server) => ({ assertion: (await sign(claims(server))).replace(/\..*\./, `.${part(claims(server, { sub: "eve" }))}.`) })),
    changed("a different key with the same `kid`", {}, { key: wrongKey }),
    changed("a key of a different algorithm", {}, { key: rsa.privateKey, header: { alg: "RS256" } }),
    changed("unknown `kid`", {}, { header: { kid: "2" } }),
    changed("`kid` that is a number", {}, { header: { kid: 1 }, why: "It ignores such a `kid`, and the signature is right. By RFC 7515, 4.1.4 it is a string" }),
    one("a key in the header", async (server) => ({ assertion: await sign(claims(server), { kid: undefined, jwk: await exportJWK(rsa.publicKey), alg: "RS256" }, rsa.privateKey) })),
    one("unknown `crit`", async (server) => ({ assertion: await new SignJWT(claims(server)).setProtectedHeader({ ...HEADER, crit: ["x"], x: 1 }).sign(idps.privateKey, { crit: { x: true } }) }), {
      why: "RFC 7515, 4.1.11 requires to reject it",
    }),
  ],
  "the issuer's keys": [
    company("a redirect", "redirects", { why: "It follows redirects, to any host" }),
    company("1 MB", "huge"),
    company("status 500", "fails"),
    company("not JSON", "text"),
    company("an empty set", "empty"),
    company("no response", "silent"),
    company("a key for encryption", "encrypts"),
    one("RSA with 1,024 bits", (server) => ({ assertion: rs256(idps.short, claims(server, { iss: "https://short.example" })) }), { why: "RFC 7518, 3.3 requires 2,048 bits" }),
    one("a published symmetric key", (server) => ({ assertion: hs256(idps.secret, claims(server, { iss: "https://shared.example" })) })),
    {
      what: "20 made-up `kid`s",
      why: "Neither fetches the keys for each",
      async run(server) {
        const before = idps.counts.kids ?? 0;
        const made = Array.from({ length: 20 }, () => sign(claims(server, { iss: "https://kids.example" }), { kid: randomUUID() }));
        let granted;
        for (const assertion of await Promise.all(made)) granted ??= await ask(server, { assertion });
        return `${outcome(granted)}; fetches: ${idps.counts.kids - before}`;
      },
    },
  ],
  issuer: [
    changed("not trusted", { iss: "https://stranger.example" }, { key: wrongKey }),
    changed("with a slash", { iss: "https://acme.example/" }),
    changed("none", { iss: undefined }),
  ],
  audience: [
    changed("different", { aud: "https://other.example" }),
    changed("the resource", ({ base }) => ({ aud: `${base}/mcp` })),
    changed("the token endpoint", ({ base }) => ({ aud: `${base}/oauth/token` })),
    changed("two", ({ base }) => ({ aud: [base, "https://other.example"] })),
    changed("none", { aud: undefined }),
  ],
  resource: [
    changed("different", { resource: "https://other.example/mcp" }),
    changed("one that begins like ours", ({ base }) => ({ resource: `${base}/mcp/other` })),
    changed("two", ({ base }) => ({ resource: [`${base}/mcp`, "https://other.example/mcp"] })),
    changed("an empty list", { resource: [] }),
    one("a different one in the request", async (server) => ({ assertion: await sign(claims(server)), resource: "https://other.example/mcp" })),
  ],
  client: [
    changed("a different `client_id`", ({ clients }) => ({ client_id: clients.other.client_id })),
    changed("no `client_id`", { client_id: undefined }),
    one("wrong secret", async (server) => ({ assertion: await sign(claims(server)), client_secret: "wrong" })),
    one("no secret", async (server) => ({ assertion: await sign(claims(server)), client_secret: undefined })),
    one("a public client", async (server) => ({ assertion: await sign(claims(server, server.clients.public)), client_secret: undefined, ...server.clients.public })),
    one("one that the issuer does not have", async (server) => ({ assertion: await sign(claims(server, { client_id: server.clients.other.client_id })), ...server.clients.other }), left("trustedIssuers")),
  ],
  times: [
    changed("expired 100 s ago", () => ({ iat: now() - 400, exp: now() - 100 })),
    changed("expired 10 s ago", () => ({ iat: now() - 200, exp: now() - 10 }), { why: "Toolbooth lets clocks differ by 30 s" }),
    changed("`iat` 120 s ahead", () => ({ iat: now() + 120, exp: now() + 300 })),
    changed("`iat` 45 s ahead", () => ({ iat: now() + 45, exp: now() + 300 }), { why: "It lets clocks differ by 60 s (`clockSkewSeconds`)" }),
    changed("`nbf` 120 s ahead", () => ({ nbf: now() + 120 })),
    changed("a lifetime of 10 minutes", () => ({ exp: now() + 600 })),
    changed("a lifetime of 310 s", () => ({ exp: now() + 310 }), { why: "It adds its 60 s to the longest lifetime, 300 s" }),
    changed("no `exp`", { exp: undefined }),
    changed("no `iat`", { iat: undefined }),
    changed("`exp` that is a text", () => ({ exp: String(now() + 300) })),
  ],
  person: [
    changed("no `sub`", { sub: undefined }),
    changed("an empty `sub`", { sub: "" }),
    changed("`sub` that is a number", { sub: 7 }),
    changed("without a rule", { groups: ["finance"] }, left("mapClaims")),
    changed("an address of a different domain", { email: "ada@other.example" }, left("mapClaims")),
    changed("an address that is not verified", { email_verified: false }, left("mapClaims")),
  ],
  "`jti`": [
    changed("none", { jti: undefined }),
    changed("empty", { jti: "" }),
    changed("257 bytes", { jti: "j".repeat(257) }, { why: "It stores the hash of the `jti`, so its length does not matter" }),
  ],
  binding: [changed("`cnf`", { cnf: { jkt: "x" } })],
  scopes: [
    {
      what: "more requested than asserted",
      async run(server) {
        const { scopes } = await ask(server, { assertion: await sign(claims(server)), scope: "github:read github:write" });
        return scopes.includes("github:write") ? "**accepted**" : "granted without the others";
      },
    },
    {
      what: "none of the requested is asserted",
      why: "A token without a scope gives no access by scope",
      async run(server) {
        const granted = await ask(server, { assertion: await sign(claims(server, { scope: "github:write" })), scope: "github:read" });
        return granted?.scopes.length === 0 ? "a token without a scope" : outcome(granted);
      },
    },
    changed("none that a rule gives", { groups: ["sales"] }, left("mapClaims")),
  ],
};

/** How many of the requests with one assertion are accepted, all at the same time. */
async function replays(server, count) {
  const assertion = await sign(claims(server));
  const all = await Promise.all(Array.from({ length: count }, () => ask(server, { assertion })));
  return all.filter(Boolean).length;
}

ROWS.replay = [
  one("a second time", async (server) => {
    const assertion = await sign(claims(server));
    if (!(await ask(server, { assertion }))) throw new Error("the first was rejected");
    return { assertion };
  }),
  {
    what: `twice at the same time, ${PAIRS} pairs`,
    why: "Its documentation says that KV is best effort. Toolbooth counts in its ledger",
    async run(server) {
      let both = 0;
      for (let pair = 0; pair < PAIRS; pair++) both += (await replays(server, 2)) === 2;
      return both === 0 ? "rejected" : `**accepted**: both requests of ${both} pairs`;
    },
  },
  {
    what: "100 at the same time, 5 times",
    why: "The same",
    async run(server) {
      const accepted = [];
      for (let time = 0; time < 5; time++) accepted.push(await replays(server, 100));
      return accepted.every((count) => count === 1) ? "rejected, all but one" : `**accepted**: ${accepted.join(", ")}`;
    },
  },
];

/** Rows of a kind with the same outcomes and no explanation are one. */
function table(results) {
  const groups = Map.groupBy(results, ({ kind, what, own, other, why }) => JSON.stringify([kind, own, other, why ? what : ""]));
  const rows = [...groups.values()].map((all) => `| ${all[0].kind}: ${all.map(({ what }) => what).join("; ")} | ${all[0].own} | ${all[0].other} | ${all[0].why ?? "–"} |`);
  return ["| Wrong assertion | Toolbooth | workers-oauth-provider | Why |", "|---|---|---|---|", ...rows].join("\n");
}

const servers = [await toolbooth(idps), await another(idps)];
// Good assertions, so that what is rejected is rejected for its mistake.
const check = async (...names) => {
  for (const server of servers) {
    for (const iss of names.map((name) => `https://${name}.example`)) {
      if (!(await ask(server, { assertion: await sign(claims(server, { iss })) }))) throw new Error(`${server.base} rejects a good assertion of ${iss}`);
    }
  }
};
await check("acme");
const results = [];
for (const [kind, rows] of Object.entries(ROWS)) {
  for (const { what, run, other, why } of rows) {
    const result = { kind, what, why, own: await run(servers[0]), other: other ?? (await run(servers[1])) };
    console.log(`${kind}: ${what}: ${result.own} | ${result.other}`);
    results.push(result);
  }
}
await check("acme", "kids");
const stored = await toolbooth(idps, { ledger: false });
const passed = await replays(stored, 100);
await Promise.all([...servers, stored, idps].map(({ close }) => close()));

const { version } = JSON.parse(await readFile(join(import.meta.dirname, "node_modules/@cloudflare/workers-oauth-provider/package.json")));
const about = `${results.length} cases, workers-oauth-provider ${version}, ${new Date().toISOString().slice(0, 10)}. Of 100 replays at the same time, Toolbooth without the ledger, in one instance, accepted ${passed}. How many replays KV lets pass varies.`;
const PAGE = join(ROOT, "docs/SIGN-IN.md");
const place = /(<!-- make sign-in-bench writes from here -->\n).*?(\n<!-- to here -->)/s;
const page = await readFile(PAGE, "utf8");
if (!place.test(page)) throw new Error("SIGN-IN.md has no place for the table");
await writeFile(PAGE, page.replace(place, (_, before, after) => `${before}${table(results)}\n\n${about}${after}`));
// The one that Toolbooth is meant to accept.
const worse = results.filter(({ what, own }) => own.includes("**") && what !== "expired 10 s ago");
if (worse.length > 0) throw new Error(`Toolbooth accepts: ${worse.map(({ what }) => what).join(", ")}`);
