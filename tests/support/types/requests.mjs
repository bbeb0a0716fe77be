// Checks what the gateway sends with the types of the providers' SDKs.
import { problems } from "./check.mjs";

// Members that the provider takes and the SDK's types lack: Anthropic's no longer have what its API takes in the version 2023-06-01
// (OpenAPI document of Anthropic, CreateMessageParams), OpenAI's have annotations in answers only, and clients send back what they got, with the status of a call of a custom tool.
const KNOWN = {
  "messages request": ["temperature", "top_p", "top_k"],
  "messages request of betas": ["temperature", "top_p", "top_k"],
  "chat request": ["annotations"],
  "responses request": ["client_metadata"],
};
// LangChain (langchain-openai 1.x, langchain_openai/chat_models/base.py) leaves out what OpenAI takes as absent, though its types require it:
// `strict` of a function, and the id and status of an earlier answer.
const EXPECTED = [
  /\.status: ResponseCustomToolCall has no such member$/,
  /\.tools\[\d+\]\.strict: missing in FunctionTool$/,
  /\.input\[\d+\]\.(id|status): missing in ResponseOutputMessage$/,
];

/**
 * The body without what OpenAI takes from Codex 0.169.0, whose requests reach it as they are, and its types lack: ids of messages that
 * are no model's, and a content of reasoning that is null.
 */
function withoutOfCodex(body) {
  if (!Array.isArray(body.input)) return body;
  const plain = (item) => {
    const { id, content, ...rest } = item;
    if (item.type === "message" && item.role !== "assistant") return { ...rest, content };
    return item.type === "reasoning" && content === null ? { ...rest, id } : item;
  };
  return { ...body, input: body.input.map(plain) };
}

/** The problems of a request to the endpoint with these rules; none for providers without an SDK of their own. */
export function requestProblems(rules, body, headers) {
  const root = {
    chat: "chat request",
    responses: "responses request",
    anthropic: headers["anthropic-beta"] ? "messages request of betas" : "messages request",
    gemini: "gemini request",
  }[rules];
  const found = root ? problems(root, rules === "responses" ? withoutOfCodex(body) : body, { isExact: true, known: KNOWN[root] }) : [];
  return found.filter((problem) => !EXPECTED.some((one) => one.test(problem)));
}
