// The 18 cases in which gateways are known to go wrong, as checks that run against any gateway with Chat Completions: the
// Worker's tests and the comparison with other gateways use them.
import { CALLS } from "./cases/calls.mjs";
import { CONVERSATIONS } from "./cases/conversations.mjs";
import { REQUESTS } from "./cases/requests.mjs";
import { STREAMS } from "./cases/streams.mjs";

export const MODELS = { openai: "gpt-4.1", anthropic: "claude-sonnet-4-5", gemini: "gemini-3-pro-preview", "gemini-2.5": "gemini-2.5-flash" };

/** `{ number, title, checks: [{ title, provider, own, run }] }`. `own`: only our specification asks for it. */
export const CASES = [...CALLS, ...CONVERSATIONS, ...STREAMS, ...REQUESTS].toSorted((a, b) => a.number - b.number);
