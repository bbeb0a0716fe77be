// How to write a call in every protocol, and where its responses have the value or the error.

const call = (name, input, context) => ({ call_id: "c0", tool_id: name.replace("_", "."), input, context });
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const describe = ({ message, developer_message }) => `${message}: ${developer_message}`;

/** The envelope of this version. */
const envelope = ($schema) => ({
  mark: { $schema },
  // 403 is HTTP's own status for a missing scope.
  scope: 403,
  body: (name, input, context) => ({ $schema, request: call(name, input, context) }),
  rejection: describe,
  value: ({ result }) => result.value,
  failure: describe,
  takesContext: true,
});

const rpc = {
  mark: { jsonrpc: "2.0", id: null },
  scope: 200,
  body: (name, params) => ({ jsonrpc: "2.0", method: name, params, id: "7" }),
  many: (count, name, params) => times(count, (at) => ({ jsonrpc: "2.0", method: name, params, id: `${at}` })),
  rejection: ({ error }) => error.message,
  failure: ({ error }) => `${error.message} ${error.data?.developer_message ?? ""}`,
};

/** A model provider: `turn` writes the turn of its model; `value` and `failure` read the first result. */
const provider = (title, path, turn, value, failure = value) => ({
  title,
  path,
  mark: {},
  scope: 200,
  body: (name, input) => turn([{ id: "c0", name, input }]),
  many: (count, name, input) => turn(times(count, (at) => ({ id: `c${at}`, name, input }))),
  rejection: ({ error }) => error.message,
  value,
  failure,
  // Providers do not accept some schemas of the fixtures.
  query: "?skip_incompatible=true",
});

/**
 * By the protocol's name in the index. `path` accepts the calls of `title`. `scope` is the status of a missing scope,
 * `unmet` that of a missing requirement if it is not the usual one.
 */
export const FORMS = {
  root: { mark: {}, scope: 403, body: call, rejection: describe, failure: describe, takesContext: true },
  oxp: {
    title: "OXP, flat",
    path: "/oxp/tools/call",
    mark: {},
    scope: 403,
    body: call,
    rejection: describe,
    value: ({ value }) => value,
    failure: describe,
    takesContext: true,
  },
  "oxp-envelope": { title: "OXP, envelope", path: "/oxp/1.0/tools/call", ...envelope("urn:oxp:1.0") },
  otc: { title: "OTC", path: "/otc/tools/call", ...envelope("otc://1.0") },
  opentool: { title: "OpenTool", path: "/opentool/call", ...rpc, value: ({ result }) => result.result },
  jsonrpc: { title: "JSON-RPC", path: "/jsonrpc", ...rpc, value: ({ result }) => result },
  xaibo: {
    title: "Xaibo",
    path: "/xaibo/execute",
    mark: { success: false, result: null },
    scope: 200,
    body: (tool_name, parameters, context) => ({ tool_name, parameters, context }),
    rejection: ({ error }) => error,
    value: ({ result }) => result,
    failure: ({ error }) => error,
    takesContext: true,
  },
  openai: provider(
    "OpenAI Chat Completions",
    "/providers/openai/call",
    (calls) => ({
      role: "assistant",
      content: null,
      tool_calls: calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } })),
    }),
    ({ messages }) => messages[0].content,
  ),
  "openai-responses": provider(
    "OpenAI Responses",
    "/providers/openai-responses/call",
    (calls) => calls.map(({ id, name, input }) => ({ type: "function_call", id: `f${id}`, call_id: id, name, arguments: JSON.stringify(input) })),
    ({ input }) => input[0].output,
  ),
  anthropic: provider(
    "Anthropic Messages",
    "/providers/anthropic/call",
    (calls) => ({ role: "assistant", content: calls.map((one) => ({ type: "tool_use", ...one })) }),
    ({ messages }) => messages[0].content[0].content,
  ),
  gemini: provider(
    "Gemini generateContent",
    "/providers/gemini/call",
    (calls) => ({ role: "model", parts: calls.map(({ id, name, input: args }) => ({ functionCall: { id, name, args } })) }),
    ({ contents }) => contents[0].parts[0].functionResponse.response.output,
    ({ contents }) => contents[0].parts[0].functionResponse.response.error,
  ),
  mcp: {
    title: "MCP 2026-07-28",
    path: "/mcp",
    // There is no id if the message was not read.
    mark: { jsonrpc: "2.0", id: undefined },
    scope: 403,
    // A result, because a model can ask its user to do something about it.
    unmet: 200,
    body: (name, input, context) => ({
      jsonrpc: "2.0",
      id: "7",
      method: "tools/call",
      params: { name, arguments: input, _meta: { "toolbooth/context": context } },
    }),
    rejection: ({ error }) => error.message,
    value: ({ result }) => result.structuredContent.result,
    failure: ({ error, result }) => error?.message ?? result.content.map(({ text }) => text).join(" "),
    takesContext: true,
  },
  // Lists only.
  providers: { mark: {}, rejection: ({ error }) => error.message },
};

/** The JSON of a reply: its body, or the last event of a stream. */
export function payload(reply) {
  if (reply.headers["content-type"] !== "text/event-stream") return reply.json;
  return JSON.parse(/event:error\ndata:(.*)\n\n$/.exec(reply.text)[1]);
}

/** The endpoints in the index of `worker`: `{ protocol, method, path, form }`. */
export async function addresses(worker) {
  const { protocols } = (await worker.get("/")).json;
  return protocols.flatMap(({ name: protocol, endpoints }) => {
    const form = FORMS[protocol];
    if (form === undefined) throw new Error(`the protocol ${protocol} has no form in support/protocols.mjs`);
    const query = (method) => (method === "GET" && form.query) || "";
    return endpoints.map(({ method, path }) => ({ protocol, method, path: `${path}${query(method)}`, form }));
  });
}
