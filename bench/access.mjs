// Calls with each authentication method: one Worker per method, all with the same bundle. A local
// issuer serves the ES256 keys; the Worker fetches them once.
import assert from "node:assert/strict";
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

import { Connection } from "./load.mjs";
import { call } from "./verify.mjs";

const now = Math.floor(Date.now() / 1000);
const CLAIMS = {
  iss: "https://issuer.example",
  aud: "toolbooth",
  sub: "user-1",
  scope: "add read",
  iat: now,
  exp: now + 24 * 60 * 60,
};

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function token(header, signature) {
  const message = `${part({ typ: "JWT", ...header })}.${part(CLAIMS)}`;
  return `${message}.${signature(message).toString("base64url")}`;
}

/** Runs `use` with the authentication methods while the issuer runs: `{ name, title, variables, request }`
 *  each. The first requires no credentials. */
export async function withAccess(use) {
  const key = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(key).digest("hex");
  const secret = randomBytes(32).toString("base64url");
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256" };
  const issuer = createServer((_, answer) => {
    answer.setHeader("content-type", "application/json");
    answer.end(JSON.stringify({ keys: [jwk] }));
  });
  issuer.listen(0, "127.0.0.1");
  await once(issuer, "listening");

  const hs256 = token({ alg: "HS256" }, (message) =>
    createHmac("sha256", secret).update(message).digest(),
  );
  const es256 = token({ alg: "ES256", kid: "one" }, (message) =>
    sign("sha256", message, { key: pair.privateKey, dsaEncoding: "ieee-p1363" }),
  );
  const rules = { JWT_ISSUER: CLAIMS.iss, JWT_AUDIENCE: CLAIMS.aud };
  const way = (name, title, variables, credential) => {
    const headers = credential === undefined ? {} : { authorization: `Bearer ${credential}` };
    return { name: `access-${name}`, title, variables, request: call(headers) };
  };
  try {
    return await use([
      way("none", "none", { AUTH: "none", ANONYMOUS_SCOPES: "*" }),
      way(
        "key",
        "API key",
        { AUTH: "api-key", API_KEYS: JSON.stringify([{ name: "bench", scopes: [], hash }]) },
        key,
      ),
      way("hs256", "token, HS256", { AUTH: "jwt", JWT_SECRET: secret, ...rules }, hs256),
      way(
        "es256",
        "token, ES256",
        { AUTH: "jwt", JWKS_URL: `http://127.0.0.1:${issuer.address().port}/keys`, ...rules },
        es256,
      ),
    ]);
  } finally {
    issuer.closeAllConnections();
    issuer.close();
  }
}

/** Throws unless each method accepts its credentials and rejects a request without credentials. */
export async function verifyAccess(ways, ports) {
  for (const { name, title, variables, request } of ways) {
    const connection = await Connection.open(ports[name]);
    const { status, body } = await connection.send(request);
    assert.deepEqual([status, status === 200 && JSON.parse(body).value], [200, 15], `${title}: ${body}`);
    const bare = await connection.send(call());
    assert.equal(bare.status, variables.AUTH === "none" ? 200 : 401, `${title}, without credentials`);
    connection.close();
  }
}
