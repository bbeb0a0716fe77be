// Gemini's generateContent: its answers. crates/toolbooth-gateway/stand-ins has what it rejects.
import { pathOf } from "./stand-in.mjs";

const generate = {
  rules: "gemini",

  reply(turn, { model, streamed, sse, body, state }) {
    const signs = model.startsWith("gemini-3");
    const parts = [];
    if (turn.thinking !== undefined) parts.push({ text: turn.thinking, thought: true });
    const texts = turn.text.map((text) => ({ text }));
    const calls = turn.calls.map(({ id, name, input = {}, signature }, at) => {
      const part = { functionCall: { ...(signs && { id: id.slice(-16) }), name, args: input } };
      if (signs && at === 0) part.thoughtSignature = signature ?? Buffer.from(`signature of ${turn.seed}`).toString("base64");
      if (part.thoughtSignature) state.issued.set(part.thoughtSignature, part.functionCall);
      return part;
    });
    const thoughts = turn.thinking === undefined ? {} : { thoughtsTokenCount: 7 };
    const usageMetadata = { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 5, ...thoughts, ...turn.usage };
    usageMetadata.totalTokenCount = usageMetadata.promptTokenCount + usageMetadata.candidatesTokenCount + (usageMetadata.thoughtsTokenCount ?? 0);
    const common = { modelVersion: model, responseId: turn.seed };
    const finishReason = turn.finish ?? "STOP";
    const blocked = turn.blocked && { promptFeedback: { blockReason: turn.blocked } };
    if (!streamed) {
      const text = turn.text.length > 0 ? [{ text: turn.text.join("") }] : [];
      const content = { role: "model", parts: [...parts, ...text, ...calls] };
      const candidate = { ...(content.parts.length > 0 && { content }), finishReason, index: 0 };
      return { body: { ...(blocked || { candidates: [candidate] }), usageMetadata, ...common } };
    }
    const chunk = (parts, rest = {}) => ({
      candidates: [{ ...(parts.length > 0 && { content: { role: "model", parts } }), index: 0, ...rest }],
      usageMetadata: rest.finishReason ? usageMetadata : { promptTokenCount: 10, totalTokenCount: 10 + (thoughts.thoughtsTokenCount ?? 0), ...thoughts },
      ...common,
    });
    // Calls and STOP may come in separate chunks.
    const chunks = [...parts, ...texts].map((part) => chunk([part]));
    if (calls.length > 0) chunks.push(chunk(calls));
    chunks.push(chunk(finishReason === "STOP" ? [{ text: "" }] : [], { finishReason }));
    const sent = blocked ? [{ ...blocked, usageMetadata, ...common }] : chunks;
    return { stream: true, array: !sse, events: sent.map((one) => ({ data: JSON.stringify(one) })) };
  },

  failure: (message) => ({ data: JSON.stringify(gemini.error(503, message)) }),
};

const list = {
  answer: ({ models }) => ({ models: models.map((id) => ({ name: `models/${id}`, displayName: id, inputTokenLimit: 1048576, outputTokenLimit: 65536, supportedGenerationMethods: ["generateContent", "countTokens"] })) }),
};

export const gemini = {
  eol: "\r\n",

  models: ["gemini-3-pro-preview", "gemini-2.5-flash"],

  route(method, url) {
    if (method === "GET" && /^\/v1(?:beta)?\/models$/.test(pathOf(url))) return list;
    const [, model, action] = /^\/v1(?:beta)?\/models\/([^/:?]+):(generateContent|streamGenerateContent)$/.exec(pathOf(url)) ?? [];
    return method === "POST" && model && { ...generate, model, streamed: action === "streamGenerateContent", sse: /[?&]alt=sse\b/.test(url) };
  },

  // A wrong key is 400 here, not 401.
  unauthorized(headers, url, key) {
    const sent = headers["x-goog-api-key"] ?? new URL(url, "http://x").searchParams.get("key");
    if (sent === key) return undefined;
    return sent ? [400, "API key not valid. Please pass a valid API key.", "API_KEY_INVALID"] : [403, "Method doesn't allow unregistered callers."];
  },

  error(status, message, reason) {
    const names = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE" };
    const details = reason && [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" }];
    return { error: { code: status, message, status: names[status] ?? "UNKNOWN", ...(details && { details }) } };
  },
};
