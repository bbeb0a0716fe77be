// Requests in one form, where a provider takes several.

/** Protocol Buffers' JSON takes both spellings of a name. */
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
// Their members are the client's own.
const STRUCTS = ["args", "response", "parameters", "parametersJsonSchema", "responseJsonSchema", "responseSchema"];

function camelCased(value, key) {
  if (STRUCTS.includes(key)) return value;
  if (Array.isArray(value)) return value.map((item) => camelCased(item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), camelCased(member, camel(name))]));
}

/** Texts as blocks. */
const blocks = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content);

export const NORMAL = {
  anthropic: (body) => ({
    ...body,
    ...(Array.isArray(body.messages) && { messages: body.messages.map((message) => ("content" in message ? { ...message, content: blocks(message.content) } : message)) }),
  }),
  gemini: (body) => camelCased(body),
};
