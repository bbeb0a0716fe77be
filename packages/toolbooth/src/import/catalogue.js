// The definitions of a document's operations.
import { Credentials } from "./credentials.js";
import { define } from "./definition.js";
import { Documents, Notes, own, Unsupported } from "./nodes.js";
import { isIncluded, MAX_OPERATIONS, operations } from "./operations.js";
import { keptProperties, keyOf, sameTools } from "./same.js";
import { Servers } from "./servers.js";
import { Kinds } from "./kinds.js";
import { namesOf, toolOf } from "./names.js";

/**
 * Reads the operations of documents. `include`: what to import, or everything if it is empty. `auth`: what `--auth` says.
 * `previous`: the tools of the last import by name, each `{ operation, definition }`. `isSlim`: what `--slim` says. `progress` is called with the number of operations that
 * are read, and of all.
 *
 * Returns `tools`, a map from names to `{ operation, operationId, definition }`, `left`, a list of `{ operation, place, reason }`, and what the
 * definitions need.
 */
export function readCatalogue({ read, toolkit, include = [], auth, previous = {}, isSlim = false, progress = () => {} }) {
  const documents = new Documents(read);
  const notes = new Notes();
  const servers = new Servers(documents, toolkit, notes);
  const credentials = new Credentials({ documents, notes, servers }, toolkit, auth);
  const context = { documents, notes, servers, credentials, kinds: new Kinds(documents), isSlim };
  const { operations: all, isCut } = operations(documents);
  if (isCut) notes.add("#/paths", `has more than ${MAX_OPERATIONS} operations: the rest is left out`);
  const unknown = include.filter((item) => !all.some((operation) => isIncluded(operation, item)));
  const chosen = include.length === 0 ? all : all.filter((operation) => include.some((item) => isIncluded(operation, item)));
  const left = [];
  const tools = new Map();
  const named = names(toolkit, all, previous);
  for (const [at, operation] of chosen.entries()) {
    const key = keyOf(operation);
    try {
      if (operation.problem) throw operation.problem;
      const tool = named.get(operation);
      const kept = keptProperties(own(previous, tool)?.definition, operation.requestPath);
      const definition = define(context, toolkit, tool, operation, kept);
      tools.set(tool, { operation: key, ...(operation.operationId !== undefined && { operationId: operation.operationId }), definition });
    } catch (error) {
      if (!(error instanceof Unsupported) && !(error instanceof RangeError)) throw error;
      const isDeep = error instanceof RangeError;
      left.push({ operation: key, place: isDeep ? documents.place(operation.node) : error.place, reason: isDeep ? "is nested too deeply" : error.message });
    }
    progress(at + 1, chosen.length);
  }
  return { tools, left, unknown, notes, servers, credentials, found: chosen.length, all: new Set(all.map(keyOf)), names: new Set(named.values()), isSlim, version: own(own(documents.root.value, "info"), "version") };
}

/** The tool of each operation. Names of the last import come first, so that a new operation never takes one. */
function names(toolkit, all, previous) {
  const taken = new Map();
  const isTaken = (key) => (name) => (taken.get(name.toLowerCase()) ?? key) !== key;
  const named = new Map();
  const same = sameTools(toolkit, all, previous);
  for (const [tool, { operation }] of Object.entries(previous)) taken.set(tool.toLowerCase(), operation);
  for (const [key, tool] of same) taken.set(tool.toLowerCase(), key);
  const usable = all.filter(({ problem }) => !problem);
  const candidates = new Map();
  for (const operation of usable) for (const name of namesOf(toolkit, operation)) candidates.set(name.toLowerCase(), (candidates.get(name.toLowerCase()) ?? 0) + 1);
  const isShared = (name) => candidates.get(name.toLowerCase()) > 1;
  for (const operation of usable) {
    const key = keyOf(operation);
    // Names that differ only in case would be the same file on some machines.
    const tool = same.get(key) ?? toolOf(toolkit, operation, isTaken(key), isShared);
    taken.set(tool.toLowerCase(), key);
    named.set(operation, tool);
  }
  return named;
}
