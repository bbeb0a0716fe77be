// A Worker where a person signs in with a key, and a client whose document is on this machine.
import { entryOf } from "../../packages/toolbooth/src/credentials.js";
import { freePort } from "./commands.mjs";
import { chatgpt, clientKeys, hosting } from "./sign-in.mjs";
import { CANARY, SAMPLES, start } from "./worker.mjs";

export const KEY = `${CANARY}-key-of-ada`;
export const STATE_KEY = `${CANARY}-state-key-of-at-least-32-bytes`;
export const REDIRECT = "http://localhost:3118/callback";

/** Starts the Worker at an address that it knows. `vars` are further variables, and `around` is that of `start`. */
export async function startSignIn(vars = {}, around = undefined) {
  const port = await freePort();
  const API_KEYS = JSON.stringify([entryOf(KEY, "Ada", ["*"])]);
  return start(SAMPLES, { port, vars: { AUTH: "sign-in, api-key", API_KEYS, PUBLIC_URL: `http://127.0.0.1:${port}`, STATE_KEY, ...vars }, around });
}

/** Serves the document of a client that authenticates with `private_key_jwt`. Returns its keys, too. */
export async function hostClient() {
  const keys = clientKeys();
  const documents = await hosting({
    "/client.json": (base) => ({
      ...chatgpt(base),
      client_id: `${base}/client.json`,
      redirect_uris: [REDIRECT],
      token_endpoint_auth_methods_supported: ["private_key_jwt"],
    }),
    "/oauth/jwks.json": () => ({ keys: [keys.jwk] }),
  });
  return { documents, keys };
}
