// No gateway: requests go to the stand-in of the provider whose format the client speaks. It shows which checks that provider itself
// would pass.
import { MODELS } from "../../tests/support/gateway/cases.mjs";

const OWN = { chat: "openai", messages: "anthropic", responses: "openai" };

export async function direct(upstream) {
  const send = (provider, body, signal, front, target) => {
    const { base, key } = upstream[OWN[front.name]];
    return fetch(`${base}${front.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...front.headers },
      body: JSON.stringify({ ...body, model: target?.model ?? MODELS[provider] }),
      signal,
    });
  };
  return { send, offers: () => true, fronts: Object.keys(OWN), close: async () => {} };
}
