// Places in documents: a value with where it is, and what a reference leads to.
import { Failure } from "../process.js";

/** The most references that may follow each other. */
const MAX_HOPS = 32;

/** Something that cannot be imported: the place, and the reason. */
export class Unsupported extends Error {
  constructor(place, reason) {
    super(reason);
    this.place = place;
  }
}

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The own member of a value from a document: `constructor` and `__proto__` are names like any other. */
export const own = (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined);

/** The documents of an import. */
export class Documents {
  #self;

  constructor({ address, documents }) {
    this.address = address;
    this.documents = documents;
    const { value } = this.root;
    this.isSwagger = String(own(value, "swagger") ?? "").startsWith("2");
    const version = String(own(value, "openapi") ?? "");
    // YAML reads `openapi: 3.0` as the number 3.
    if (!this.isSwagger && !/^3(?:\.[0-2](?:\.|$)|$)/.test(version)) {
      throw new Failure(`This is not a document of OpenAPI 3.0 to 3.2 or Swagger 2: expected a member openapi or swagger with such a version${version ? `, not ${version.slice(0, 20)}` : ""}`);
    }
    const self = own(value, "$self");
    this.#self = typeof self === "string" && URL.canParse(self, address) ? new URL(self, address).href : undefined;
    /** Since 3.1, schemas are JSON Schema 2020-12. */
    this.isModern = !this.isSwagger && !/^3(?:\.0|$)/.test(version);
  }

  /** The schemas that operations refer to by name. */
  get schemas() {
    return this.isSwagger ? child(this.root, "definitions") : child(child(this.root, "components"), "schemas");
  }

  /** The schemas with a name of all documents, as nodes. */
  *everySchema() {
    for (const [url, { value }] of this.documents) {
      const root = { value, url, pointer: "" };
      for (const [, schema] of [...members(child(root, "definitions")), ...members(child(child(root, "components"), "schemas"))]) yield schema;
    }
  }

  /** The root of the document that is imported. */
  get root() {
    return { value: this.documents.get(this.address).value, url: this.address, pointer: "" };
  }

  /** Where a node is, for messages: `#/paths/~1pets/get`, with the name of the file if that is a different one. */
  place({ url, pointer }) {
    const file = url === this.address ? "" : url.split("/").at(-1);
    return `${file}#${pointer}`;
  }

  unsupported(node, reason) {
    return new Unsupported(this.place(node), reason);
  }

  /** The node that a node refers to, or the node itself. */
  follow(node) {
    let current = node;
    for (let hops = 0; typeof own(current.value, "$ref") === "string"; hops += 1) {
      if (hops >= MAX_HOPS) throw this.unsupported(node, `refers to ${node.value.$ref}, which leads to no end`);
      current = this.target(current);
    }
    return current;
  }

  /** As `follow`, with a value of undefined if the references lead nowhere. */
  reach(node) {
    try {
      return this.follow(node);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      return { ...node, value: undefined };
    }
  }

  /** The node that the reference in a node leads to. */
  target(node) {
    const reference = node.value.$ref;
    const cannot = (reason) => this.unsupported(node, `refers to ${reference}, which ${reason}`);
    if (!URL.canParse(reference, node.url)) throw cannot("is not an address");
    const url = new URL(reference, node.url);
    const fragment = url.hash.slice(1);
    url.hash = "";
    // Since OpenAPI 3.2, a document may say its own address.
    if (url.href === this.#self) url.href = this.address;
    const document = this.documents.get(url.href);
    if (!document) throw cannot("is not read");
    if (document.problem !== undefined) throw cannot(document.problem);
    let pointer;
    try {
      pointer = decodeURIComponent(fragment);
    } catch {
      throw cannot("is not a JSON pointer");
    }
    if (pointer !== "" && !pointer.startsWith("/")) throw cannot("is not a JSON pointer");
    let found = { value: document.value, url: url.href, pointer: "" };
    for (const part of pointer.split("/").slice(1)) {
      found = child(found, part.replaceAll("~1", "/").replaceAll("~0", "~"));
      if (found.value === undefined) throw cannot("does not exist");
    }
    return found;
  }
}

/** A member of a node's value. Its value is undefined if there is none. */
export function child({ value, url, pointer }, name) {
  const inner = Array.isArray(value) ? value[/^\d+$/.test(name) ? Number(name) : -1] : own(value, name);
  return { value: inner, url, pointer: `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}` };
}

/**
 * `ask(node)` for the value of a node, once for each value: schemas may refer to each other in exponentially many ways. It is `false` for a value
 * that is being asked about.
 */
export function once(ask) {
  const known = new WeakMap();
  return (documents, node) => {
    const target = documents.reach(node);
    if (!isObject(target.value)) return false;
    if (!known.has(target.value)) {
      known.set(target.value, false);
      known.set(target.value, ask(documents, target));
    }
    return known.get(target.value);
  };
}

/** The properties of a schema, with those of the schemas that it consists of by these keywords. */
export function propertiesOf(documents, schema, keywords, seen = new Set()) {
  const target = documents.reach(schema);
  if (seen.has(target.value)) return [];
  seen.add(target.value);
  const parts = keywords.flatMap((keyword) => items(child(target, keyword)));
  return [...members(child(target, "properties")), ...parts.flatMap((part) => propertiesOf(documents, part, keywords, seen))];
}

/** The members of an object, each with its name and node; none for any other value. */
export const members = (node) => (isObject(node.value) ? Object.keys(node.value).map((name) => [name, child(node, name)]) : []);

/** The items of a list, each as a node; none for any other value. */
export const items = (node) => (Array.isArray(node.value) ? node.value.map((_, at) => child(node, at)) : []);

/** What was simplified or left out: reasons, each with its places, without repetition. */
export class Notes {
  #reasons = new Map();

  add(place, reason) {
    if (!this.#reasons.has(reason)) this.#reasons.set(reason, new Set());
    this.#reasons.get(reason).add(place);
  }

  /** Pairs of a reason and its places. */
  list() {
    return [...this.#reasons].map(([reason, places]) => [reason, [...places]]);
  }
}
