// Makes large inputs smaller for models, by rule: what is deep and optional is described less, and then not at all.
import { WITH_LIST, WITH_SCHEMA } from "./keywords.js";
import { isObject } from "./nodes.js";
import { inner, loosened, mapped, withUsed } from "./size.js";
import { joined, shorten } from "./text.js";

/** The most characters of a tool that most clients can send with each request: about 4,000 tokens. */
export const LARGE = 16_000;
/**
 * The steps, until a tool is small enough. `described`: the depth from which descriptions are shortened to `characters`; `cut`: that from which
 * optional members lose their own. In the end, the largest optional members of the input do.
 */
const STEPS = [
  { described: 3, characters: 160 },
  { described: 2, characters: 120 },
  { described: 2, characters: 80 },
  ...[5, 4, 3, 2].map((cut) => ({ described: 2, characters: 80, cut })),
  { described: 3, characters: 0, cut: 2 },
  { described: 2, characters: 0, cut: 2 },
];
/** The characters to which the descriptions of the input's own members are shortened, if all else was not enough. */
const LAST = [200, 100, 50];
/** Keywords whose schemas are about a part of a value, which is one level deeper. */
const DEEPER = new Set([...WITH_SCHEMA.filter((keyword) => !["not", "if", "then", "else"].includes(keyword)), "prefixItems", "properties", "patternProperties"]);

/** The characters of a tool, as clients send it to a model. */
export const sizeOf = ({ name, description, input_schema }) => JSON.stringify({ name, description, input_schema }).length;

/** An input schema of at most `limit` characters, if that is possible. */
export function slim(schema, limit) {
  let smaller = schema;
  for (const step of STEPS) {
    if (JSON.stringify(smaller).length <= limit) break;
    smaller = new Slimming(schema, step).schema();
  }
  const definitions = new Map(Object.entries(smaller.$defs ?? {}));
  const size = (one) => (isObject(one) ? JSON.stringify(withUsed(one, definitions)).length : 0);
  const largest = Object.entries(smaller.properties ?? {}).sort(([, one], [, other]) => size(other) - size(one));
  const names = [];
  for (const [name] of largest) {
    if (JSON.stringify(smaller).length <= limit) break;
    names.push(name);
    smaller = new Slimming(schema, { ...STEPS.at(-1), names }).schema();
  }
  for (const characters of LAST) {
    if (JSON.stringify(smaller).length <= limit) break;
    smaller = new Slimming(schema, { ...STEPS.at(-1), names, own: characters }).schema();
  }
  return smaller;
}

class Slimming {
  #isCut = false;

  constructor({ $defs = {}, ...root }, step) {
    Object.assign(this, { root, definitions: $defs, step, depths: depthsOf(root, $defs) });
  }

  schema() {
    const root = this.#read(this.root, 0);
    const read = Object.entries(this.definitions).map(([name, one]) => [name, this.#read(one, this.depths.get(name) ?? 0)]);
    // What is cut accepts more, so more than one alternative may match.
    const loose = this.#isCut ? loosened : (one) => one;
    return withUsed(loose(root), new Map(read.map(([name, one]) => [name, loose(one)])));
  }

  #read(schema, depth) {
    if (!isObject(schema)) return schema;
    const { described, characters, own } = this.step;
    const { examples, description, ...rest } = schema;
    const isDeep = depth >= described;
    const most = isDeep ? characters : depth === 1 ? own : undefined;
    const short = description === undefined || most === undefined ? description : first(description, most);
    const said = short ? { description: short } : {};
    const texts = { ...said, ...(!isDeep && examples && { examples }) };
    const parts = mapped({ ...rest, ...texts }, (keyword, one) => this.#read(one, DEEPER.has(keyword) ? depth + 1 : depth));
    return parts.properties === undefined ? parts : { ...parts, properties: this.#optional(schema, parts.properties, depth + 1) };
  }

  /** The properties of an object, of which those that it does not require lose theirs below the depth of the step. */
  #optional({ required = [] }, properties, depth) {
    const isCut = (name) => depth >= (this.step.cut ?? Infinity) || (depth === 1 && this.step.names?.includes(name));
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, isCut(name) && !required.includes(name) ? this.#without(one) : one]));
  }

  #without(schema) {
    const hasParts = isObject(schema) && (schema.$ref !== undefined || [...inner(schema)].some(isObject));
    // The interpreter tells a file by its members, which a model must know.
    if (!hasParts || /"contentEncoding":"base64"/.test(JSON.stringify(schema))) return schema;
    this.#isCut = true;
    const type = this.#typeOf(schema);
    return { ...(type && { type }), description: joined(schema.description, "Its parts are not described.") };
  }

  #typeOf(schema, hops = 0) {
    if (schema.type !== undefined || schema.$ref === undefined || hops > 50) return schema.type;
    const target = this.definitions[schema.$ref.replace("#/$defs/", "")];
    // A union may be of any type.
    return isObject(target) && !WITH_LIST.some((keyword) => keyword in target) ? this.#typeOf(target, hops + 1) : undefined;
  }
}

/** How deep each definition is where it is used first. */
function depthsOf(root, definitions) {
  const depths = new Map();
  let waiting = [[root, 0]];
  while (waiting.length > 0) {
    const next = [];
    for (const [schema, depth] of waiting) {
      if (!isObject(schema)) continue;
      const name = schema.$ref?.replace("#/$defs/", "");
      if (name !== undefined && depth < (depths.get(name) ?? Infinity) && Object.hasOwn(definitions, name)) {
        depths.set(name, depth);
        next.push([definitions[name], depth]);
      }
      for (const keyword of Object.keys(schema)) for (const one of inner({ [keyword]: schema[keyword] })) next.push([one, DEEPER.has(keyword) ? depth + 1 : depth]);
    }
    waiting = next;
  }
  return depths;
}

/** The first sentence of a description. */
function first(text, characters) {
  const [sentence] = /^[\s\S]*?[.!?](?=\s|$)/.exec(text) ?? [text];
  return characters === 0 ? "" : shorten(sentence.replace(/\s+/g, " ").trim(), characters);
}
