// What the checks of the reports share.
import assert from "node:assert/strict";
import { only, tool, user } from "../ask.mjs";

export const W = tool("w");
export const ROME = '{"city":"Rome"}';
export const call = (id, text = ROME, name = "w") => ({ id, type: "function", function: { name, arguments: text } });
export const calls = (...all) => ({ role: "assistant", content: null, tool_calls: all });
export const HI = user("hi");

/** The models that a report is about, as a check's `target`. */
export const claude = (model) => ({ provider: "anthropic", target: { model } });
export const gpt = (model) => ({ provider: "openai", target: { model } });
export const google = (model = "gemini-3-pro-preview") => ({ provider: "gemini", target: { model } });
export const made = (maker, model) => ({ provider: "compat", target: { model, maker } });

/**
 * A check about a model: `run(gateway, provider)`. `fronts` names the formats of clients that the report is about, all if absent.
 */
export const check = (title, { provider, target }, run, fronts) => {
  const one = { title: `${title}: ${target.model}`, provider, target, run: (gateway) => run(gateway, provider) };
  return fronts ? only(fronts, one)[0] : one;
};

/** The same for an answer and for a stream: `run(gateway, provider, streamed)`. */
export const either = (title, model, run, fronts) =>
  [false, true].map((streamed) => check(`${title}${streamed ? ", streamed" : ""}`, model, (gateway, provider) => run(gateway, provider, streamed), fronts));

/** What only Toolbooth says: the answer names what was changed or left out. */
export const own = (one) => ({ ...one, own: true });

/** Asks, and returns the body that reached the provider; undefined if the gateway answered 400 before it sent anything. */
export async function sent(gateway, provider, body) {
  gateway.script(provider);
  const { status, text } = await gateway.chat(provider, body);
  if (status === 400 && gateway.at(provider).journal.length === 0) return undefined;
  assert.equal(status, 200, text.slice(0, 400));
  return gateway.arrived(provider);
}

/** The same, for a request that the gateway must pass on. */
export async function passed(gateway, provider, body) {
  const arrived = await sent(gateway, provider, body);
  assert.ok(arrived, "the gateway rejects the request");
  return arrived;
}

/** Every object in a value. */
export function objects(value) {
  if (value === null || typeof value !== "object") return [];
  return [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(objects)];
}
