// How to write a call in every protocol, and where its responses have errors.

const call = (name, input, context) => ({ tool_id: name.replace("_", "."), input, context });
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const describe = ({ message, developer_message }) => `${message}: ${developer_message}`;

/** The envelope of this version. */
const envelope = ($schema) => ({
  mark: { $schema },
  // 403 is HTTP's own status for a missing scope.
  scope: 403,
  body: (name, input, context) => ({ $schema, request: call(name, input, context) }),
  rejection: describe,
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

/** A model provider: `turn` writes the turn of its model, `result` reads the text of the first result. */
const provider = (turn, result) => ({
  mark: {},
  scope: 200,
  body: (name, input) => turn([{ id: "c0", name, input }]),
  many: (count, name, input) => turn(times(count, (at) => ({ id: `c${at}`, name, input }))),
  rejection: ({ error }) => error.message,
  failure: result,
  // Providers do not accept some schemas of the fixtures.
  query: "?skip_incompatible=true",
});

/**
 * By the protocol's name in the index. `scope` is the status of a missing scope, `unmet` that of a missing
 * requirement if it is not the usual one.
 */
export const FORMS = {
  root: { mark: {}, scope: 403, body: call, rejection: describe, failure: describe, takesContext: true },
  oxp: { mark: {}, scope: 403, body: call, rejection: describe, failure: describe, takesContext: true },
  "oxp-envelope": envelope("urn:oxp:1.0"),
  otc: envelope("otc://1.0"),
  opentool: rpc,
  jsonrpc: rpc,
  xaibo: {
    mark: { success: false, result: null },
    scope: 200,
    body: (tool_name, parameters, context) => ({ tool_name, parameters, context }),
    rejection: ({ error }) => error,
    failure: ({ error }) => error,
    takesContext: true,
  },
  openai: provider(
    (calls) => ({
      role: "assistant",
      content: null,
      tool_calls: calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } })),
    }),
    ({ messages }) => messages[0].content,
  ),
  "openai-responses": provider(
    (calls) => calls.map(({ id, name, input }) => ({ type: "function_call", id: `f${id}`, call_id: id, name, arguments: JSON.stringify(input) })),
    ({ input }) => input[0].output,
  ),
  anthropic: provider(
    (calls) => ({ role: "assistant", content: calls.map((one) => ({ type: "tool_use", ...one })) }),
    ({ messages }) => messages[0].content[0].content,
  ),
  gemini: provider(
    (calls) => ({ role: "model", parts: calls.map(({ id, name, input: args }) => ({ functionCall: { id, name, args } })) }),
    ({ contents }) => contents[0].parts[0].functionResponse.response.error,
  ),
  mcp: {
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
