// The base addresses of a document, as variables of the operator.
import { isIP } from "node:net";
import { child, items, own } from "./nodes.js";
import { variableOf } from "./names.js";
import * as swagger from "./swagger.js";
import { spellingOf } from "./yaml.js";

/** The variables with the base addresses of a toolkit. */
export class Servers {
  /** Name to `{ kind, default }`. */
  variables = new Map();
  #names = new Map();

  constructor(documents, toolkit, notes) {
    this.documents = documents;
    this.toolkit = toolkit;
    this.notes = notes;
    // That of the document has the plain name, whichever operation comes first.
    this.#main = documents.isSwagger ? swagger.serverOf(documents.root) : (this.#listed(documents.root) ?? "/");
  }

  #main;

  /** The variable with the base address of an operation. */
  of({ node, pathNode }) {
    const own_ = this.documents.isSwagger ? undefined : (this.#listed(node) ?? this.#listed(this.documents.follow(pathNode)));
    return this.#name(own_ ?? this.#main, node);
  }

  /** The first server of a node, with the defaults of its variables; undefined if it lists none. */
  #listed(node) {
    const [first] = items(child(node, "servers"));
    const url = own(first?.value, "url");
    if (typeof url !== "string") return undefined;
    const variables = own(first.value, "variables");
    return url.replace(/\{([^{}]+)\}/g, (whole, name) => {
      const variable = own(variables, name);
      const value = own(variable, "default");
      // YAML reads `default: 8443` as a number.
      return ["string", "number"].includes(typeof value) && value !== "" ? (spellingOf(variable, "default") ?? String(value)) : whole;
    });
  }

  /** An address next to the base address, or a complete one, if an import may name it: `https`, and a public host. */
  endpoint(url) {
    if (typeof url !== "string" || /[{}]/.test(url)) return undefined;
    const [base] = this.#address(this.#main);
    if (!URL.canParse(url, base && `${base}/`)) return undefined;
    const { protocol, username, password, hostname, href } = new URL(url, base && `${base}/`);
    return protocol === "https:" && !username && !password && !isPrivate(hostname) ? href.split("#")[0] : undefined;
  }

  #name(url, node) {
    const known = this.#names.get(url);
    if (known) return known;
    const [address, reason] = this.#address(url);
    const name = url === this.#main ? variableOf(this.toolkit, "URL") : this.#otherName(url);
    if (reason) this.notes.add(this.documents.place(url === this.#main ? this.documents.root : node), `the base address ${JSON.stringify(url.slice(0, 200))} ${reason}: ${name} must be set`);
    this.#names.set(url, name);
    this.variables.set(name, { kind: "base", ...(address && { default: address }) });
    return name;
  }

  #otherName(url) {
    const label = (URL.canParse(url) ? new URL(url).hostname.split(".")[0] : "other").replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "").toUpperCase() || "OTHER";
    let name = variableOf(this.toolkit, `${label}_URL`);
    for (let next = 2; this.variables.has(name); next += 1) name = variableOf(this.toolkit, `${label}_${next}_URL`);
    return name;
  }

  /** The address to use as a default, or the reason why there is none. */
  #address(url) {
    if (/[{}]/.test(url)) return [undefined, "has a variable without a default"];
    const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(url) && !url.startsWith("//");
    if (isRelative && !this.documents.address.startsWith("http")) return [undefined, "is relative"];
    if (!URL.canParse(url, this.documents.address)) return [undefined, "is not an address"];
    const parsed = new URL(url, this.documents.address);
    if (parsed.protocol !== "https:") return [undefined, "does not use https"];
    if (parsed.username || parsed.password || parsed.search || parsed.hash) return [undefined, "has more than a host and a path"];
    if (isPrivate(parsed.hostname)) return [undefined, "is this machine or a private address"];
    return [parsed.href.replace(/\/+$/, ""), undefined];
  }
}

/** Whether a host may be this machine or one of a private network. A host of a public service has a name with a dot. */
function isPrivate(host) {
  if (isIP(host.replace(/^\[|\]$/g, "")) !== 0) return true;
  return !host.includes(".") || /\.(?:localhost|local|internal|lan|home|corp|test|invalid)\.?$/i.test(host);
}
