// The Worker as a gateway in front of the stand-ins.
import { entryOf } from "../../scripts/credentials.mjs";
import { MODELS } from "../../tests/support/gateway/cases.mjs";
import { BOOTH, start } from "../../tests/support/worker.mjs";

const KEY = "canary-of-a-gateway-key";
const IDS = { openai: "openai", anthropic: "anthropic", gemini: "google", "gemini-2.5": "google" };

/** The variables that put the Worker in front of `upstream`. */
export const variables = (upstream) => ({
  AUTH: "api-key",
  API_KEYS: [entryOf(KEY, "tests", ["gateway"])],
  OPENAI_API_KEY: upstream.openai.key,
  OPENAI_BASE_URL: `${upstream.openai.base}/v1`,
  ANTHROPIC_API_KEY: upstream.anthropic.key,
  ANTHROPIC_BASE_URL: upstream.anthropic.base,
  GEMINI_API_KEY: upstream.gemini.key,
  GEMINI_BASE_URL: upstream.gemini.base,
});

export const model = (provider) => `${IDS[provider]}/${MODELS[provider]}`;
export const authorization = `Bearer ${KEY}`;

/** Sends a chat request to a Worker. */
export const sender = (address) => (provider, body, signal) =>
  fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    body: JSON.stringify({ ...body, model: model(provider) }),
    signal,
  });

export async function toolbooth(upstream, { vars = {} } = {}) {
  const worker = await start(BOOTH, { vars: { ...variables(upstream), ...vars } });
  return { name: "Toolbooth", worker, base: worker.address, send: sender(worker.address), close: () => worker.close() };
}
