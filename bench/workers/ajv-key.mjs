// The tool service in JavaScript, without a framework, for callers with an API key: it knows the SHA-256 of each key, as ours does.
import { HEADERS, call, rejection } from "./call.mjs";

let hashes;

export default {
  async fetch(request, env) {
    const { status, body } = await answer(request, env);
    return new Response(JSON.stringify(body), { status, headers: HEADERS });
  },
};

async function answer(request, env) {
  if (new URL(request.url).pathname !== "/tools/call") {
    return rejection(404, "There is nothing at this address", "the endpoint is POST /tools/call");
  }
  if (request.method !== "POST") {
    return rejection(405, "This address does not take this method", "it takes POST");
  }
  const { headers } = request;
  if (!(await isKnown(headers.get("authorization"), env))) {
    return rejection(401, "The request needs valid credentials", "send an API key: Authorization: Bearer <key>");
  }
  return call(headers.get("content-type"), headers.get("oxp-version"), await request.text());
}

/** Whether the header has one of the keys. Compares in constant time. */
async function isKnown(authorization, env) {
  const [, key] = /^Bearer (\S+)$/i.exec(authorization ?? "") ?? [];
  if (key === undefined) return false;
  hashes ??= JSON.parse(env.API_KEYS).map(({ hash }) => bytes(hash));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return hashes.some((hash) => crypto.subtle.timingSafeEqual(hash, digest));
}

const bytes = (hex) => Uint8Array.from(hex.match(/../g), (byte) => Number.parseInt(byte, 16));
