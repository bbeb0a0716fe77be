// The cases in which gateways are known to go wrong, as checks that run against any gateway, in each format of clients that it has:
// the Worker's tests and the comparison with other gateways use them.
import { CALLS } from "./cases/calls.mjs";
import { CONVERSATIONS } from "./cases/conversations.mjs";
import { REQUESTS } from "./cases/requests.mjs";
import { STREAMS } from "./cases/streams.mjs";
import { TRAPS } from "./cases/traps.mjs";

export const MODELS = { openai: "gpt-4.1", anthropic: "claude-sonnet-4-5", gemini: "gemini-3-pro-preview", "gemini-2.5": "gemini-2.5-flash", responses: "gpt-5.5" };

/**
 * `{ number, title, checks: [{ title, provider, own, fronts, run }] }`. `own`: only our specification asks for it. `fronts`: the
 * formats of clients that it is about, all if absent.
 */
export const CASES = [...CALLS, ...CONVERSATIONS, ...STREAMS, ...REQUESTS, ...TRAPS].toSorted((a, b) => a.number - b.number);

/** The checks that are about a front. */
export const checksOf = (front, checks) => checks.filter(({ fronts }) => fronts === undefined || fronts.includes(front.name));
