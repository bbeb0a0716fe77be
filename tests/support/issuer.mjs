// A token issuer on a loopback port: publishes keys and signs whatever a test asks for.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { listen } from "./server.mjs";

const KINDS = {
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  RS1024: () => generateKeyPairSync("rsa", { modulusLength: 1024 }),
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ES384: () => generateKeyPairSync("ec", { namedCurve: "P-384" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
};

/** A key pair: `jwk` is the published key, `pem` the same in PEM. */
export function keyPair(kind, kid = kind) {
  const { publicKey, privateKey } = KINDS[kind]();
  const jwk = { ...publicKey.export({ format: "jwk" }), kid };
  return { kind, kid, privateKey, jwk, pem: publicKey.export({ format: "pem", type: "spki" }) };
}

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token with this header and these claims; `prove` returns the signature of its first two parts. */
export function token(header, claims, prove) {
  const message = `${part(header)}.${part(claims)}`;
  return `${message}.${Buffer.from(prove(message)).toString("base64url")}`;
}

/** Claims of a user, valid for ten minutes. */
export function claims(more = {}) {
  return { sub: "canary-alice", exp: Math.floor(Date.now() / 1000) + 600, ...more };
}

export const hmac = (secret) => (message) => createHmac("sha256", secret).update(message).digest();

export const signature = ({ kind, privateKey }, dsaEncoding = "ieee-p1363") => (message) =>
  sign(kind === "EdDSA" ? null : "sha256", message, { key: privateKey, dsaEncoding });

/** A token signed with `pair`. */
export function issued(pair, more, header = {}) {
  return token({ alg: pair.kind, kid: pair.kid, typ: "JWT", ...header }, claims(more), signature(pair));
}

/**
 * Starts it: `url` serves `body` with `status` and `location`; `requests` counts requests.
 * The first `silent` requests get no response.
 */
export async function issuer(...pairs) {
  const state = { status: 200, requests: 0, silent: 0 };
  const publish = (...published) => (state.body = JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
  publish(...pairs);
  const { server, base, close } = await listen((_, response) => {
    state.requests += 1;
    if (state.requests <= state.silent) return;
    const location = state.location && { location: state.location };
    response.writeHead(state.status, { "content-type": "application/json", ...location }).end(state.body);
  });
  return Object.assign(state, { server, url: `${base}/jwks.json`, publish, close });
}
