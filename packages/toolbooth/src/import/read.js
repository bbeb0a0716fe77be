// Reads an OpenAPI document and the documents that it refers to. Nothing in a document chooses what else is read: a
// document in a folder reads that folder only, and a document at an address reads that origin only.
import { createReadStream, realpathSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isObject } from "./nodes.js";
import { parseYaml } from "./yaml.js";
import { Failure } from "../process.js";

/** The most bytes of all documents together: the largest public one has 40 MB. */
const MAX_BYTES = 64 << 20;
/** The most documents of one import. */
const MAX_DOCUMENTS = 200;
/** How long a server may take to send a document. */
const TIMEOUT_MS = 60_000;

/**
 * Reads the document at `source`, a path or an address, and those that it refers to. Returns its address, and a map from
 * addresses to `{ value }`, or `{ problem }` for one that cannot be read. Fails if `source` itself cannot be read.
 */
export async function readDocuments(source) {
  const isAddress = /^https?:/i.test(source);
  const address = isAddress ? addressOf(source) : pathToFileURL(existing(source)).href;
  const limits = { bytes: MAX_BYTES, scope: isAddress ? new URL(address).origin : dirname(fileURLToPath(address)) };
  const documents = new Map();
  const waiting = [address];
  for (const url of waiting) {
    const read = await document(url, limits).catch((error) => ({ problem: error.message }));
    documents.set(url, read);
    if (url === address && read.problem !== undefined) throw new Failure(`${source} ${read.problem}`);
    for (const reference of references(read.value)) {
      const next = URL.canParse(reference, url) ? withoutFragment(new URL(reference, url)) : reference;
      if (next === url || waiting.includes(next)) continue;
      if (waiting.length >= MAX_DOCUMENTS) documents.set(next, { problem: `is not read: an import reads at most ${MAX_DOCUMENTS} documents` });
      else waiting.push(next);
    }
  }
  return { address, documents };
}

function addressOf(source) {
  if (!URL.canParse(source)) throw new Failure(`${source} is not an address`, 2);
  const url = new URL(source);
  if (url.username || url.password) throw new Failure("An address may not have a password: download the document, and import the file", 2);
  return withoutFragment(url);
}

function existing(source) {
  try {
    return realpathSync(source);
  } catch {
    throw new Failure(`There is no file ${source}`, 2);
  }
}

function withoutFragment(url) {
  url.hash = "";
  return url.href;
}

async function document(url, limits) {
  const text = url.startsWith("file:") ? await file(url, limits) : await download(url, limits);
  return { value: parse(text) };
}

async function file(url, limits) {
  // An import of an address never reads files, and one of a file reads no addresses.
  if (limits.scope.includes("://")) throw new Error("is a file, which a document at an address may not refer to");
  let path;
  try {
    path = realpathSync(fileURLToPath(url));
  } catch {
    throw new Error("does not exist");
  }
  if (!path.startsWith(limits.scope.endsWith(sep) ? limits.scope : `${limits.scope}${sep}`)) throw new Error("is outside of the folder of the document");
  if (!statSync(path).isFile()) throw new Error("is not a file");
  return text(createReadStream(path), limits);
}

async function download(url, limits) {
  if (!URL.canParse(url)) throw new Error("is not an address");
  if (!/^https?:/.test(url) || new URL(url).origin !== limits.scope) throw new Error("has a different origin from the document, so it is not read");
  let response;
  try {
    response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS), headers: { accept: "application/json, application/yaml, */*;q=0.5" } });
  } catch (error) {
    throw new Error(`cannot be read: ${error.cause?.message ?? error.message}`);
  }
  if (response.status >= 300 && response.status < 400) throw new Error(`leads to ${response.headers.get("location") ?? "nothing"}: import that address instead`);
  if (!response.ok) throw new Error(`cannot be read: the server answers ${response.status}`);
  return text(response.body ?? [], limits);
}

/** The text of a stream, which counts against the limit of all documents. */
async function text(stream, limits) {
  const parts = [];
  for await (const part of stream) {
    limits.bytes -= part.length;
    if (limits.bytes < 0) throw new Error(`is too large: the limit is ${MAX_BYTES >> 20} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8").replace(/^\uFEFF/, "");
}

function parse(text) {
  // JSON is YAML too, but JSON.parse is much faster, and takes any depth.
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch (error) {
      // YAML may begin with a brace as well.
      if (!/^\s*\{\s*[^"\s}]/.test(text)) throw new Error(`is not JSON: ${error.message}`);
    }
  }
  try {
    return parseYaml(text);
  } catch (error) {
    const isDeep = error instanceof RangeError;
    throw new Error(isDeep ? "is nested too deeply for YAML" : `is neither JSON nor YAML: ${error.message.split("\n")[0]}`);
  }
}

/** Every reference to a different document, without recursion, because a document may have any depth. */
function* references(value) {
  const waiting = [value];
  const seen = new Set();
  while (waiting.length > 0) {
    const one = waiting.pop();
    if (typeof one !== "object" || one === null || seen.has(one)) continue;
    // An alias of YAML is the same object in several places.
    seen.add(one);
    for (const member of Object.values(one)) waiting.push(member);
    if (typeof one.$ref === "string" && !one.$ref.startsWith("#")) yield one.$ref;
    yield* filesOf(one.discriminator);
  }
}

/** The files that a discriminator names: a mapping has names of schemas as well. */
function filesOf(discriminator) {
  const targets = isObject(discriminator) ? [discriminator.defaultMapping, ...(isObject(discriminator.mapping) ? Object.values(discriminator.mapping) : [])] : [];
  return targets.filter((target) => typeof target === "string" && /^[^#]+(?:#|\.(?:json|ya?ml)$)/i.test(target));
}
