// Creates credentials for the Worker: API keys with their `API_KEYS` entries, and HS256 tokens.
import { createHash, createHmac, randomBytes } from "node:crypto";

/** The entry in `API_KEYS` for `key`. */
export function entryOf(key, name, scopes) {
  return { name, scopes, hash: createHash("sha256").update(key).digest("hex") };
}

/** A new key of 32 random bytes and its entry. */
export function newKey(name, scopes) {
  const key = randomBytes(32).toString("base64url");
  return { key, entry: entryOf(key, name, scopes) };
}

/** A token with these claims, signed with HS256. */
export function token(claims, secret, header = { alg: "HS256", typ: "JWT" }) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const message = `${part(header)}.${part(claims)}`;
  return `${message}.${createHmac("sha256", secret).update(message).digest("base64url")}`;
}
