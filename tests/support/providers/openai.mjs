// OpenAI: its endpoints and its answers. crates/toolbooth-gateway/stand-ins has what it rejects.
import { completions } from "./chat.mjs";
import { responses } from "./responses.mjs";
import { pathOf } from "./stand-in.mjs";

const embeddings = {
  rules: "embeddings",
  answer({ body: { model, input, encoding_format } }) {
    const vector = new Float32Array([0.5, -0.25]);
    const embedding = encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
    const texts = typeof input === "string" || typeof input[0] === "number" ? [input] : input;
    return { object: "list", data: texts.map((_, index) => ({ object: "embedding", index, embedding })), model, usage: { prompt_tokens: 3, total_tokens: 3 } };
  },
};

export const models = {
  answer: ({ models }) => ({ object: "list", data: models.map((id) => ({ id, object: "model", created: 1700000000, owned_by: "openai" })) }),
};

const ENDPOINTS = { "POST /v1/chat/completions": completions("chat"), "POST /v1/responses": responses, "POST /v1/embeddings": embeddings, "GET /v1/models": models };

export const openai = {
  models: ["gpt-4.1", "gpt-5.5"],

  route: (method, url) => ENDPOINTS[`${method} ${pathOf(url)}`],

  unauthorized: ({ authorization }, _, key) =>
    authorization === `Bearer ${key}` ? undefined : [401, `Incorrect API key provided: ${authorization?.slice(7)}.`, "invalid_api_key"],

  error(status, message, code = null) {
    const type = status === 429 ? "requests" : status >= 500 ? "server_error" : "invalid_request_error";
    return { error: { message, type, param: null, code: status === 429 ? "rate_limit_exceeded" : code } };
  },
};
