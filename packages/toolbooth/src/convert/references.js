// References within the schemas that are converted: what moves is found again.
import { isObject, own } from "../import/nodes.js";

/** Where a schema without an address is. */
const NOWHERE = "schema:///";

/** A step of a JSON pointer within a URI. */
export const token = (name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll("%24", "$");

/** The references of a schema. */
export class References {
  /** The pointers to converted schemas, by what they were. */
  #pointers = new Map();
  /** `{ schema, reference, base, place }` of each. */
  #found = [];
  /** The addresses of schemas, and their names within one. */
  #ids = new Map();
  #bases = new Map();
  #anchors = new Map();

  constructor(root, document) {
    this.root = root;
    this.document = document;
    this.#ids.set(NOWHERE, root);
    this.#collect(root);
  }

  /** Finds all addresses. Values such as those of `const` may have some that are none: nothing refers to them. */
  #collect(root) {
    const open = [[root, NOWHERE]];
    while (open.length > 0) {
      const [value, base] = open.pop();
      const here = isObject(value) ? this.#add(value, base) : base;
      for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) open.push([inner, here]);
    }
  }

  /** Adds the names of a schema, and returns its own base. */
  #add(value, base) {
    const id = [value.$id, value.id].find((it) => typeof it === "string");
    let here = base;
    if (id?.startsWith("#")) this.#anchors.set(`${base}${id}`, value);
    else if (id !== undefined && URL.canParse(id, base)) {
      here = withoutFragment(new URL(id, base));
      if (!this.#ids.has(here)) this.#ids.set(here, value);
    }
    this.#bases.set(value, here);
    for (const name of [value.$anchor, value.$dynamicAnchor]) if (typeof name === "string") this.#anchors.set(`${here}#${name}`, value);
    return here;
  }

  /** The schema `value` will be at `pointer`. */
  add(value, pointer) {
    this.#pointers.set(value, pointer);
  }

  /** The converted `schema` refers to something, as `value` does. */
  refer(schema, reference, value, place) {
    schema.$ref = reference;
    this.#found.push({ schema, reference, base: this.#bases.get(value) ?? NOWHERE, place });
  }

  /**
   * Sets all references. What they lead to outside of schemas is converted by `convert(name, value)`. Returns these by the names that they
   * have in `$defs` from now on.
   */
  finish(root, convert, note) {
    const added = new Map();
    const taken = new Set(Object.keys(own(root, "$defs") ?? {}));
    // Converting one may find others.
    for (let at = 0; at < this.#found.length; at += 1) {
      const { schema, reference, base, place } = this.#found[at];
      const { target, name, isKept } = this.#target(reference, base);
      if (isKept) continue;
      if (target === undefined) {
        note(place, `leads to nothing in the file: ${JSON.stringify(reference)?.slice(0, 200)}`);
        continue;
      }
      if (typeof target === "boolean") {
        delete schema.$ref;
        schema.allOf = [...(schema.allOf ?? []), target];
        note(place, `leads to ${target}, which is now in allOf`);
        continue;
      }
      if (!this.#pointers.has(target)) {
        let unique = name;
        for (let next = 2; taken.has(unique); next += 1) unique = `${name}_${next}`;
        taken.add(unique);
        this.#pointers.set(target, `#/$defs/${token(unique)}`);
        added.set(unique, convert(unique, target));
      }
      schema.$ref = this.#pointers.get(target);
      if (schema.$ref !== reference) note(place, `is now ${JSON.stringify(schema.$ref)}`);
    }
    return added;
  }

  #target(reference, base) {
    if (typeof reference !== "string" || !URL.canParse(reference, base)) return {};
    const url = new URL(reference, base);
    const root = this.#ids.get(withoutFragment(url));
    const steps = pointerOf(url.hash);
    if (steps === undefined) {
      const target = this.#anchors.get(`${withoutFragment(url)}${url.hash}`);
      // The name of a schema of the same document is still one.
      return { target, name: "schema", isKept: target !== undefined && root === this.root && this.#pointers.has(target) };
    }
    const name = (steps.at(-1) ?? "schema").replace(/[^A-Za-z0-9_.-]/g, "_") || "schema";
    const found = [root, this.document].filter((it) => it !== undefined).map((it) => steps.reduce(step, it));
    return { target: found.find((it) => isObject(it) || typeof it === "boolean"), name };
  }
}

/** The steps of a fragment, if it is a JSON pointer. */
function pointerOf(hash) {
  const fragment = hash.slice(1);
  try {
    const pointer = decodeURIComponent(fragment);
    if (pointer === "") return [];
    return pointer.startsWith("/") ? pointer.slice(1).split("/").map((it) => it.replaceAll("~1", "/").replaceAll("~0", "~")) : undefined;
  } catch {
    return undefined;
  }
}

const step = (value, name) => (Array.isArray(value) ? value[/^\d+$/.test(name) ? Number(name) : -1] : own(value, name));

function withoutFragment(url) {
  const copy = new URL(url);
  copy.hash = "";
  return copy.href;
}
