// Runs a Worker on a KV namespace that counts its operations, or that fails. It is in memory, unless the Worker has a binding:
// Cloudflare runs namespaces elsewhere, so their CPU is not the Worker's.
import Worker from "./worker.js";

const values = new Map();
const counts = { reads: 0, writes: 0 };

const memory = {
  async get(key, options) {
    const value = values.get(key)?.value ?? null;
    return value !== null && (options?.type ?? options) === "json" ? JSON.parse(value) : value;
  },
  async getWithMetadata(key, options) {
    return { value: await memory.get(key, options), metadata: values.get(key)?.metadata ?? null };
  },
  async put(key, value, { metadata } = {}) {
    values.set(key, { value, metadata });
  },
  async delete(key) {
    values.delete(key);
  },
  async list({ prefix = "" } = {}) {
    const keys = [...values].filter(([name]) => name.startsWith(prefix)).map(([name, { metadata }]) => ({ name, metadata }));
    return { keys, list_complete: true };
  },
};

const fail = async () => {
  throw new Error("KV GET failed: 500 Internal Server Error");
};
const failing = { get: fail, getWithMetadata: fail, put: fail, delete: fail, list: fail };

const counted = (store) => {
  const as = (kind, name) => (...args) => {
    counts[kind] += 1;
    return store[name](...args);
  };
  return { get: as("reads", "get"), getWithMetadata: as("reads", "getWithMetadata"), list: as("reads", "list"), put: as("writes", "put"), delete: as("writes", "delete") };
};

const CONTROL = {
  /** The operations since the last time. */
  "/counts"() {
    const reply = Response.json(counts);
    Object.assign(counts, { reads: 0, writes: 0 });
    return reply;
  },
  /** What is stored in memory. */
  "/stored": () => Response.json([...values]),
  /** Replaces what is stored in memory. */
  async "/store"(request) {
    values.clear();
    for (const [key, value] of await request.json()) values.set(key, value);
    return new Response();
  },
};

let KV;
export default {
  fetch(request, env, context) {
    const control = CONTROL[new URL(request.url).pathname];
    if (control) return control(request);
    KV ??= env.STORE === "failing" ? failing : counted(env.NAMESPACE ?? memory);
    return Worker.fetch(request, { ...env, KV, OAUTH_KV: KV }, context);
  },
};
