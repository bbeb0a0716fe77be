// The gateway that a file of tests asks, and what its tests share.
import { after, before } from "node:test";
import { Gateway, user } from "./ask.mjs";
import { authorization, model, startGateway } from "./worker.mjs";
import { standIns } from "../providers/stand-in.mjs";

export let upstream, served, gateway;
before(async () => {
  upstream = await standIns();
  served = await startGateway({ upstream });
  gateway = new Gateway(upstream, served.send);
});
after(async () => {
  await served.worker.close();
  await upstream.close();
});

/** A Worker for one test, with the same stand-ins. */
export async function using(options, use) {
  const { worker, send } = await startGateway({ ...options, upstream });
  try {
    await use(new Gateway(upstream, send), worker);
  } finally {
    await worker.close();
  }
}

/** The body of a request to a provider. */
export const body = (provider, rest = {}) => ({ model: model(provider), messages: [user("canary-question")], ...rest });
export const post = (worker, json, { path = "/v1/chat/completions", headers = { authorization } } = {}) => worker.post(json, { path, headers });
/** What an error says: its status, type and code. */
export const problem = ({ status, json }) => [status, json.error?.type, json.error?.code];

/** An alias that has a second model. */
export const FALLBACK = { targets: [{ provider: "openai", model: "gpt" }, { provider: "anthropic", model: "claude" }] };
