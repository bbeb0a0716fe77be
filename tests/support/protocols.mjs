// How to write a call in every protocol, and where its responses have the value or the error. The data is that of the
// playground, which `UPDATE_SAMPLES=1 cargo test -p server-tests sample` writes from crates/toolbooth/src/protocol/sample.rs.
import SAMPLES from "../../site/src/protocols.json" with { type: "json" };

/** `template` with `values` instead of `{name}`. A text that is `"{input}"` in JSON becomes the JSON of the input. */
function fill(template, values) {
  if (Array.isArray(template)) {
    return template[0] === "{call}" ? values.calls : template.map((item) => fill(item, values));
  }
  if (typeof template === "string") {
    if (template === "{call}") return values.calls[0];
    if (template === '"{input}"') return JSON.stringify(values.input);
    const name = /^\{(\w+)\}$/.exec(template)?.[1];
    return name === undefined ? template.replace("{id}", values.id) : values[name];
  }
  if (template === null || typeof template !== "object") return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fill(value, values)]));
}

/** The value at a JSON pointer; undefined if there is none. */
const at = (json, pointer) => pointer.split("/").slice(1).reduce((value, key) => value?.[key], json);

/** The texts at some JSON pointers. */
const texts = (json, pointers) => pointers.map((pointer) => at(json, pointer)).filter((text) => typeof text === "string").join(": ");

function form(sample) {
  const call = (id, name, input, context) => fill(sample.call, { id, name, tool_id: name.replace("_", "."), input, context });
  const value = (reply) => at(reply, sample.value);
  return {
    title: sample.title,
    path: sample.paths[0],
    mark: sample.rejection_members,
    scope: sample.missing_scope_status,
    unmet: sample.missing_requirements_status,
    body: (name, input, context) => fill(sample.body, { calls: [call("c0", name, input, context)] }),
    many:
      sample.batch === null
        ? undefined
        : (count, name, input) => fill(sample.batch, { calls: Array.from({ length: count }, (_, index) => call(`c${index}`, name, input)) }),
    value: sample.value_in_object ? (reply) => value(reply).result : value,
    failure: (reply) => texts(reply, sample.error),
    rejection: (reply) => texts(reply, sample.rejection),
    takesContext: sample.carries_context,
    query: sample.list_query,
  };
}

/**
 * By the name of the protocol in the index. `path` accepts calls; it may have `{name}` for the tool, which `pathOf` replaces.
 * `body` writes one call and `many` several, if a request can have more than one. `value` and `failure` read the outcome of a
 * call, `rejection` the error of a rejected request, which also has the members of `mark`. `scope` and `unmet` are the statuses
 * of a call without a scope or a requirement.
 */
export const FORMS = {};
// The first sample of a protocol is its own format. The root accepts those of others too.
for (const sample of SAMPLES) FORMS[sample.protocol] ??= form(sample);

/** The JSON of a reply: its body, or the last event of a stream. */
export function payload(reply) {
  if (reply.headers["content-type"] !== "text/event-stream") return reply.json;
  return JSON.parse(/event:error\ndata:(.*)\n\n$/.exec(reply.text)[1]);
}

// They accept no calls of tools, and list none. They have their own tests.
const WITHOUT_TOOLS = ["gateway", "messages", "responses", "2api", "tasks", "usage"];

/** The path of a call of the tool `name`. */
export const pathOf = (path, name) => path.replace("{name}", name);

/**
 * The endpoints in the index of `worker`: `{ protocol, method, path, form, allow }`; `allow` are the methods of the path. Without
 * calls by GET, which rest.test.mjs tests.
 */
export async function addresses(worker) {
  const { protocols } = (await worker.get("/")).json;
  const serving = protocols.filter(({ name }) => !WITHOUT_TOOLS.includes(name));
  return serving.flatMap(({ name: protocol, endpoints }) => {
    // Documents take no calls. Their errors are those of the root.
    const form = FORMS[protocol] ?? (endpoints.every(({ method }) => method === "GET") ? FORMS.root : undefined);
    if (form === undefined) throw new Error(`the protocol ${protocol} has no sample in the table of protocols`);
    const query = (method) => (method === "GET" ? form.query : "");
    const methods = (path) => endpoints.filter((one) => one.path === path).flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    const listed = endpoints.filter(({ method, path }) => method === "POST" || !path.includes("{"));
    return listed.map(({ method, path }) => ({
      protocol,
      method,
      path: `${path}${query(method)}`,
      form,
      allow: [...methods(path), "OPTIONS"].join(", "),
    }));
  });
}
