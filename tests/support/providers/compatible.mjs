// Providers in the format of OpenAI that are not OpenAI. Each rejects other things of what OpenAI takes.
import { completions } from "./chat.mjs";
import { models } from "./openai.mjs";
import { pathOf } from "./stand-in.mjs";
import { errorOf, TABLES } from "./rules.mjs";

/** A provider with these models, whose rejections are those of the table of this name. */
const provider = (name, ids, options) => {
  const endpoints = { "POST /v1/chat/completions": completions(name, options), "GET /v1/models": models };
  return {
    models: ids,
    route: (method, url) => endpoints[`${method} ${pathOf(url)}`],
    unauthorized: ({ authorization }, _, key) => (authorization === `Bearer ${key}` ? undefined : [401, "Authentication Fails"]),
    error: (status, message) => errorOf(TABLES[name], message, { code: status }),
  };
};

export const compatible = {
  deepseek: provider("deepseek", ["deepseek-v4-pro"], { reasoning: "content" }),
  qwen: provider("qwen", ["qwen3.8-27b"], { reasoning: "content" }),
  mistral: provider("mistral", ["magistral-medium"], { reasoning: "parts", id: (id) => id.replaceAll(/[^a-zA-Z0-9]/g, "").padStart(9, "0").slice(-9) }),
  compatible: provider("compatible", ["any-model"], { reasoning: "content" }),
};
