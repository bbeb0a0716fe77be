// The Worker as a chat gateway in front of stand-ins of the providers.
import assert from "node:assert/strict";
import { entryOf } from "../../../packages/toolbooth/src/credentials.js";
import { standIns } from "../providers/stand-in.mjs";
import { watch } from "../types/answers.mjs";
import { SAMPLES, start } from "../worker.mjs";
import { MODELS } from "./cases.mjs";
import { FRONTS } from "./fronts/index.mjs";

const IDS = { openai: "openai", anthropic: "anthropic", gemini: "google", "gemini-2.5": "google", responses: "answers" };

/** An API key that may use the gateway and call every tool. Like all keys of tests, it has the word that no log may have. */
export const KEY = "canary-of-a-gateway-key";
/** A key for what the gateway seals. */
export const STATE_KEY = Buffer.alloc(32, 7).toString("base64");
export const authorization = `Bearer ${KEY}`;

/** The model of a provider as the gateway names it. */
export const model = (provider) => `${IDS[provider]}/${MODELS[provider]}`;

/** The variables that put a Worker in front of `upstream`. */
export const variables = (upstream, { scopes = ["*"], ...entry } = {}) => ({
  AUTH: "api-key",
  API_KEYS: JSON.stringify([{ ...entryOf(KEY, "tests", scopes), ...entry }]),
  OPENAI_API_KEY: upstream.openai.key,
  OPENAI_BASE_URL: `${upstream.openai.base}/v1`,
  ANTHROPIC_API_KEY: upstream.anthropic.key,
  ANTHROPIC_BASE_URL: upstream.anthropic.base,
  GEMINI_API_KEY: upstream.gemini.key,
  GEMINI_BASE_URL: upstream.gemini.base,
  // OpenAI once more, as a provider that is asked in the format of Responses.
  PROVIDERS: "answers",
  ANSWERS_API: "responses",
  ANSWERS_API_KEY: upstream.openai.key,
  ANSWERS_BASE_URL: `${upstream.openai.base}/v1`,
});

/** Posts a request to `address` in the format of a front, for the model of a provider or `body.model`. */
export const sender = (address, headers = {}) => (provider, body, signal, front = FRONTS.chat) =>
  fetch(`${address}${front.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization, ...front.headers, ...headers },
    body: JSON.stringify({ model: provider && model(provider), ...body }),
    signal,
  });

/** `send` for checks about a model: `target` is `{ model }`, of the provider that the check asks. */
export const targeted = (send, target) => (provider, body, ...rest) => send(provider, target ? { ...body, model: `${IDS[provider] ?? provider}/${target.model}` } : body, ...rest);

/** Starts a Worker with stand-ins: `{ worker, upstream, send, close }`. `vars` adds variables, `entry` members of the key. */
export async function startGateway({ bundle = SAMPLES, vars = {}, entry, upstream, ...options } = {}) {
  const providers = upstream ?? (await standIns());
  const worker = await start(bundle, { vars: { ...variables(providers, entry), ...vars }, ...options });
  const untyped = watch(worker.address);
  const stop = worker.close.bind(worker);
  worker.close = async () => {
    await stop();
    assert.deepEqual([...untyped], [], "the answers are what the types of the providers' SDKs say");
  };
  const close = async () => {
    try {
      await worker.close();
    } finally {
      await providers.close();
    }
  };
  return { worker, upstream: providers, address: worker.address, send: sender(worker.address), close };
}
