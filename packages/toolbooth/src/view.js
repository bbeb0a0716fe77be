// What views import: `import { connect } from "toolbooth/view"`. Its types are in view.d.ts, and docs/TOOLS.md describes it.
//
// The protocol is MCP Apps (2026-01-26): JSON-RPC between this page and the host that shows it. The SDK of MCP Apps has the same
// in 664 KB, because it contains a library that checks what arrives.

const VERSION = "2026-01-26";

/** Connects this page to the host. */
export const connect = (options) => new View(options);

/** Why a call failed: the error of the tool, or the host's. */
export class ViewError extends Error {
  name = "ViewError";
}

class View {
  input;
  result;
  error;
  host = {};
  #id = 0;
  #waiting = new Map();
  #listeners = new Set();
  #ready;

  constructor({ name = document.title || "view", version = "1.0.0" } = {}) {
    addEventListener("message", (event) => {
      if (event.source === parent && event.data?.jsonrpc === "2.0") this.#receive(event.data);
    });
    const params = { appInfo: { name, version }, appCapabilities: {}, protocolVersion: VERSION };
    this.#ready = this.#request("ui/initialize", params).then(({ hostContext }) => {
      this.#update(hostContext);
      this.#notify("ui/notifications/initialized");
      this.#followSize();
    });
    // A host that rejects the page shows nothing of it. Each call says why.
    this.#ready.catch(() => {});
  }

  onChange(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async callTool(name, input = {}) {
    const result = await this.#ask("tools/call", { name, arguments: input });
    if (result.isError) throw new ViewError(errorOf(result));
    return valueOf(result);
  }

  async openLink(url) {
    const { isError } = await this.#ask("ui/open-link", { url });
    if (isError) throw new ViewError("The link was not opened");
  }

  async sendMessage(text) {
    const { isError } = await this.#ask("ui/message", { role: "user", content: [{ type: "text", text }] });
    if (isError) throw new ViewError("The message was not sent");
  }

  async tellModel(text) {
    await this.#ask("ui/update-model-context", { content: [{ type: "text", text }] });
  }

  /** Sends a request once the host has accepted this page. */
  async #ask(method, params) {
    await this.#ready;
    return this.#request(method, params);
  }

  #request(method, params) {
    const id = (this.#id += 1);
    // A page in a sandbox does not know the origin of its host.
    parent.postMessage({ jsonrpc: "2.0", id, method, params }, "*");
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #notify(method, params = {}) {
    parent.postMessage({ jsonrpc: "2.0", method, params }, "*");
  }

  #receive({ id, method, params: sent, result, error }) {
    const params = sent ?? {};
    if (method === undefined) {
      const request = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) request?.reject(new ViewError(error.message));
      else request?.resolve(result ?? {});
    } else if (id !== undefined) {
      const isKnown = method === "ping" || method === "ui/resource-teardown";
      const answer = isKnown ? { result: {} } : { error: { code: -32601, message: `Unknown method: ${method}` } };
      parent.postMessage({ jsonrpc: "2.0", id, ...answer }, "*");
    } else if (method === "ui/notifications/tool-input") {
      // A host that shows the page again may repeat its messages, but without what was in them.
      if (!isEmpty(this.input) && isEmpty(params.arguments)) return;
      this.input = params.arguments ?? {};
      this.#changed();
    } else if (method === "ui/notifications/tool-result") {
      const isShown = this.result !== undefined || this.error !== undefined;
      if (isShown && hasNothing(params)) return;
      [this.result, this.error] = params.isError ? [undefined, errorOf(params)] : [valueOf(params), undefined];
      this.#changed();
    } else if (method === "ui/notifications/tool-cancelled") {
      this.error = params.reason ?? "The call was cancelled";
      this.#changed();
    } else if (method === "ui/notifications/host-context-changed") {
      this.#update(params);
    }
  }

  #changed() {
    for (const listener of this.#listeners) listener(this);
  }

  /** Looks like the host: its theme, colors and fonts. */
  #update(context = {}) {
    this.host = { ...this.host, ...context };
    const { theme, locale, styles } = context;
    const root = document.documentElement;
    if (theme !== undefined) {
      root.dataset.theme = theme;
      root.style.colorScheme = theme;
    }
    if (locale !== undefined) root.lang = locale;
    for (const [name, value] of Object.entries(styles?.variables ?? {})) {
      if (name.startsWith("--") && value !== undefined) root.style.setProperty(name, value);
    }
    if (styles?.css?.fonts !== undefined) document.head.append(Object.assign(document.createElement("style"), { textContent: styles.css.fonts }));
    this.#changed();
  }

  /**
   * Tells the host how large this page is, now and whenever that changes. Browsers do not render a frame that is out of view, and then a
   * ResizeObserver waits: the page would stay as small as it was before its result until someone scrolls to it. Changes of the
   * document are observed without rendering.
   */
  #followSize() {
    let known = "";
    let timer;
    const root = document.documentElement;
    const changes = new MutationObserver(() => later());
    const tell = () => {
      timer = undefined;
      // Otherwise, a page that has become shorter would be as high as its frame.
      root.style.height = "max-content";
      const height = Math.ceil(root.getBoundingClientRect().height);
      root.style.height = "";
      // What this function has changed is no change of the page.
      changes.takeRecords();
      const size = `${innerWidth} ${height}`;
      if (size === known) return;
      known = size;
      this.#notify("ui/notifications/size-changed", { width: innerWidth, height });
    };
    // Once for all changes of a task.
    const later = () => (timer ??= setTimeout(tell));
    changes.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
    // Images and styles have their size later, and the value of a field is in no attribute.
    for (const name of ["load", "error", "input"]) addEventListener(name, later, true);
    document.fonts?.ready.then(later);
    const observer = new ResizeObserver(tell);
    for (const element of [root, document.body]) observer.observe(element);
    tell();
  }
}

const isEmpty = (value) => (typeof value === "object" ? Object.keys(value ?? {}).length === 0 : value === undefined || value === "");

const textsOf = ({ content }) => (Array.isArray(content) ? content.flatMap((block) => (block?.type === "text" ? [block.text] : [])) : []);
const textOf = (result) => textsOf(result).join("\n");
const errorOf = (result) => textOf(result) || "The tool failed";

/** Whether a result has no data: neither a value nor a block with something in it. */
function hasNothing(result) {
  const { content, structuredContent } = result;
  const blocks = Array.isArray(content) ? content : [];
  return isEmpty(structuredContent) && blocks.every((block) => block?.type === "text" && !block.text);
}

/** The value of a tool: MCP wraps those that are no objects, and some hosts pass on only the text. */
function valueOf(result) {
  let value = result.structuredContent ?? undefined;
  if (value === undefined) {
    const text = textOf(result);
    try {
      value = JSON.parse(text);
    } catch {
      return text;
    }
  }
  return Object.keys(value ?? {}).join() === "result" ? value.result : value;
}
