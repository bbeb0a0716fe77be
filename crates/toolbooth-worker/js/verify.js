// Verifies signatures with WebCrypto, which the runtime implements natively.

const ALGORITHMS = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
};

// Imported keys. An issuer has few; the limit only matters after many rotations.
const imported = new Map();
const MAX_IMPORTED = 32;

/**
 * Whether `signature` is a valid signature of `message`; both are views of WebAssembly memory. `jwk` is
 * the public key as JSON.
 */
export async function verify(algorithm, jwk, message, signature) {
  // WebAssembly may move its memory while this waits.
  const [signed, proof] = [message.slice(), signature.slice()];
  const parameters = ALGORITHMS[algorithm];
  let key = imported.get(jwk);
  if (key === undefined) {
    key = await crypto.subtle.importKey("jwk", JSON.parse(jwk), parameters, false, ["verify"]);
    if (imported.size >= MAX_IMPORTED) imported.clear();
    imported.set(jwk, key);
  }
  return crypto.subtle.verify(parameters, key, proof, signed);
}
