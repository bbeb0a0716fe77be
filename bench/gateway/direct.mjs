// No gateway: requests go to OpenAI's stand-in. It shows which checks OpenAI itself would pass.
import { MODELS } from "../../tests/support/gateway/cases.mjs";

export async function direct(upstream) {
  const send = (provider, body, signal) =>
    fetch(`${upstream.openai.base}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${upstream.openai.key}` },
      body: JSON.stringify({ ...body, model: MODELS[provider] }),
      signal,
    });
  return { send, close: async () => {} };
}
