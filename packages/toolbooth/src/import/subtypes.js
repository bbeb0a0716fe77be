// Which schemas are kinds of a schema with a discriminator.
import { child, isObject, items, members, own } from "./nodes.js";

/** The most kinds of one schema. */
const MAX_KINDS = 100;

/** The kinds of the schemas of a document: those in `mapping`, or else those that have the schema in their `allOf`. */
export class Subtypes {
  #byBase;

  constructor(documents) {
    this.documents = documents;
  }

  /** References to the kinds of a node. */
  of(node) {
    const mapping = own(own(node.value, "discriminator"), "mapping");
    const listed = isObject(mapping) ? [...new Set(Object.values(mapping).filter((reference) => typeof reference === "string"))] : [];
    const prefix = this.documents.schemas.pointer;
    const references = listed.map((reference) => (/[#/]/.test(reference) ? reference : `#${prefix}/${reference}`));
    const found = references.length > 0 ? references : (this.#bases().get(this.documents.place(node)) ?? []);
    return found.slice(0, MAX_KINDS).map(($ref) => ({ ...node, value: { $ref } }));
  }

  #bases() {
    if (this.#byBase) return this.#byBase;
    this.#byBase = new Map();
    for (const [, schema] of members(this.documents.schemas)) {
      for (const part of items(child(schema, "allOf"))) {
        const reference = own(part.value, "$ref");
        if (typeof reference !== "string" || !reference.startsWith("#")) continue;
        const kinds = this.#byBase.get(reference) ?? [];
        this.#byBase.set(reference, [...kinds, `#${schema.pointer}`]);
      }
    }
    return this.#byBase;
  }
}
