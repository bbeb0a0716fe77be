// The Worker's bundle in Node, without workerd: `fetch` as it is deployed, and plain objects in the
// place of what the runtime has of HTTP. What these cost in workerd is not seen here.
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

class Headers {
  #values;

  constructor(pairs) {
    this.#values = new Map(pairs);
  }

  get(name) {
    return this.#values.get(name) ?? null;
  }
}

class Response {
  constructor(body, { status, headers }) {
    Object.assign(this, { body, status, headers });
  }
}

const BUILT_IN = new Map([
  ["cloudflare:workers", "export class WorkerEntrypoint {}"],
  ["toolbooth:wasm", "export default globalThis.__loading.module"],
]);
registerHooks({
  resolve(specifier, context, next) {
    const name = specifier === "./index_bg.wasm" ? "toolbooth:wasm" : specifier;
    if (!BUILT_IN.has(name)) return next(specifier, context);
    // Each Worker has a module of its own.
    const { search } = new URL(context.parentURL);
    return { url: name + search, format: "module", shortCircuit: true };
  },
  load(url, context, next) {
    const source = BUILT_IN.get(url.split("?")[0]);
    return source === undefined ? next(url, context) : { source, format: "module", shortCircuit: true };
  },
});

const { Instance, Module } = WebAssembly;
let started = 0;

/**
 * Starts the bundle of `folder` with the WebAssembly `module` and the variables `env`. Each function
 * that the module imports is replaced by `wrapImport(function, place)`, each that it exports by
 * `wrapExport(function)`.
 *
 * Gives `exports`, as they were, and `fetch`, which takes what `requestOf` gives.
 */
export async function start(folder, module, env, { wrapImport = same, wrapExport = same } = {}) {
  let exports;
  Object.assign(globalThis, { Headers, Response, addEventListener() {}, __loading: { module } });
  WebAssembly.Instance = function (module, given) {
    // What a module of JS exports cannot be replaced in place.
    const imports = Object.fromEntries(Object.entries(given).map(([from, all]) => [from, { ...all }]));
    const functions = Module.imports(module).filter(({ kind }) => kind === "function");
    for (const [place, { module: from, name }] of functions.entries()) {
      imports[from][name] = wrapImport(imports[from][name], place);
    }
    exports = new Instance(module, imports).exports;
    const wrapped = ([name, value]) => [name, typeof value === "function" ? wrapExport(value) : value];
    return { exports: Object.fromEntries(Object.entries(exports).map(wrapped)) };
  };
  const url = pathToFileURL(join(folder, "worker.js"));
  url.search = `${started++}`;
  const { default: worker } = await import(url);
  WebAssembly.Instance = Instance;

  return { exports, fetch: (request) => worker.fetch(request, env, {}) };
}

/** A request, which can be sent again and again. */
export function requestOf({ path, headers, body }) {
  const bytes = new TextEncoder().encode(body);
  const all = [["content-type", "application/json"], ["content-length", `${bytes.length}`], ...headers];
  return {
    method: "POST",
    url: `http://localhost:8787${path}`,
    headers: new Headers(all),
    body: {},
    text: async () => body,
  };
}

const same = (value) => value;
