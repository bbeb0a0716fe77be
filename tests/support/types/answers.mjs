// Checks what the gateway answers with the types of the providers' SDKs, in every test that starts it.
import { problems } from "./check.mjs";
import { typed, parse } from "../gateway/fronts/events.mjs";

/** The formats of clients, by the end of the path. */
const FORMATS = { "/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages" };
/** Longer answers are not kept for a check. */
const MOST = 1 << 20;

// What is not as the types say. `output_text` is what OpenAI's SDK makes of an answer.
const EXPECTED = [/\.output_text: missing in Response$/];

/** The problems of an answer to a request that was successful. */
export function answerProblems(format, contentType, text) {
  // Blocks of Anthropic's connector for MCP are in the types of betas only.
  const of = (kind, value) => (format === "messages" && JSON.stringify(value).includes('"mcp_') ? `messages ${kind} of betas` : `${format} ${kind}`);
  if (!contentType?.startsWith("text/event-stream")) {
    const answer = JSON.parse(text);
    return problems(of("answer", answer), answer);
  }
  const events = format === "chat" ? parse(text).filter(({ data }) => data && data !== "[DONE]").map(({ data }) => JSON.parse(data)) : typed(text);
  // Errors within a stream have no type in two of the SDKs, which raise them.
  return events.filter((event) => !event.error && event.type !== "error" && event.type !== "ping").flatMap((event) => problems(of("event", event), event).map((problem) => `${event.type ?? "chunk"} ${problem}`));
}

let watched;
/**
 * Watches the answers of a gateway at `address`, whichever client asks. Returns what is wrong with them so far. Bodies pass
 * through as they are read: a client that waits or goes is one that waits or goes.
 */
export function watch(address) {
  if (!watched) {
    watched = new Map();
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init);
      const url = new URL(typeof input === "string" ? input : (input.url ?? input));
      const found = watched.get(url.origin);
      const format = FORMATS[url.pathname];
      if (!found || !format || response.status !== 200 || !response.body) return response;
      const parts = [];
      let size = 0;
      const keep = new TransformStream({
        transform(part, controller) {
          size += part.length;
          if (size <= MOST) parts.push(part);
          controller.enqueue(part);
        },
        flush() {
          if (size > MOST) return;
          const text = Buffer.concat(parts).toString();
          for (const problem of answerProblems(format, response.headers.get("content-type"), text)) {
            if (!EXPECTED.some((one) => one.test(problem))) found.add(`${format}: ${problem}`);
          }
        },
      }, { highWaterMark: 1 }, { highWaterMark: 0 });
      const { status, statusText, headers } = response;
      return new Response(response.body.pipeThrough(keep), { status, statusText, headers });
    };
  }
  const found = new Set();
  watched.set(new URL(address).origin, found);
  return found;
}
