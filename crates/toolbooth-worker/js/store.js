// The values that the tools of a toolkit keep in the KV namespace, for functions in JavaScript.
import { ToolError } from "toolbooth";
import { list } from "./kv.js";

/** The shortest lifetime of a value, in seconds. */
const SHORTEST_LIFE = 60;

/** The store of a toolkit. Its keys are those of `ToolStore` in Rust. */
export class Store {
  #namespace;
  #prefix;
  #failed;

  /** `tool` is the id of a tool; `warn` writes into the operator's log. */
  constructor(namespace, tool, warn) {
    this.#namespace = namespace;
    this.#prefix = `tool:${tool.split(".", 1)[0]}:`;
    this.#failed = (problem) => {
      warn("store", { tool, problem });
      return new ToolError("The tool's storage failed", { retryable: true });
    };
  }

  async get(key) {
    const text = await this.#run((namespace) => namespace.get(this.#prefix + key));
    if (text === null) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw this.#failed("the value has another type");
    }
  }

  async put(key, value, { expirationTtl } = {}) {
    const text = JSON.stringify(value);
    if (text === undefined) throw this.#failed("the value is not JSON");
    const options = expirationTtl === undefined ? {} : { expirationTtl: Math.max(SHORTEST_LIFE, Math.floor(expirationTtl)) };
    await this.#run((namespace) => namespace.put(this.#prefix + key, text, options));
  }

  async delete(key) {
    await this.#run((namespace) => namespace.delete(this.#prefix + key));
  }

  async list(prefix = "", cursor) {
    const [next, ...keys] = await this.#run((namespace) => list(namespace, this.#prefix + prefix, cursor));
    return { keys: keys.map((key) => key.slice(this.#prefix.length)), ...(next !== undefined && { cursor: next }) };
  }

  async #run(operation) {
    if (this.#namespace === undefined) throw this.#failed("the KV binding KV is missing");
    try {
      return await operation(this.#namespace);
    } catch (error) {
      throw this.#failed(error.message);
    }
  }
}
