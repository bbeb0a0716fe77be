// Verifies signatures with the runtime's own cryptography, which is native code.

const ALGORITHMS = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
};

// An issuer has few keys; each is imported once. The bound is for keys that have been replaced.
const known = new Map();
const MOST_KNOWN = 32;

/**
 * Whether `signature` is that of `message`; both are views of WebAssembly memory. `jwk` is the public
 * key as JSON text.
 */
export async function verify(algorithm, jwk, message, signature) {
  // WebAssembly may move its memory while this waits.
  const [signed, proof] = [message.slice(), signature.slice()];
  const parameters = ALGORITHMS[algorithm];
  let key = known.get(jwk);
  if (key === undefined) {
    key = await crypto.subtle.importKey("jwk", JSON.parse(jwk), parameters, false, ["verify"]);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(jwk, key);
  }
  return crypto.subtle.verify(parameters, key, proof, signed);
}
