// What one call does, as a tree of functions: read from the notes of a counting module.
import { COPY, ENTER, LEAVE, NOTE_BYTES, instrument } from "./instrument.mjs";
import { requestOf, start } from "./worker.mjs";

/** Where the allocator is asked for memory; it takes the size as its only parameter. */
const MALLOC = /Dlmalloc.*::malloc$/;

/** Compiles a module with names into a counting one. */
export function counting(bytes) {
  const { bytes: counted, names, imported } = instrument(bytes, (name, parameters) =>
    MALLOC.test(name) ? parameters - 1 : undefined,
  );
  return { module: new WebAssembly.Module(counted), names, imported };
}

/**
 * Starts a counting Worker. Gives a function that traces a call: `{ status, root }`, the answer's status
 * and the tree of functions, of which the root is JavaScript. Nodes are `{ name, imported, self, allocated, copied, children }`.
 */
export async function tracer(folder, { module, names, imported }, env) {
  let exports;
  const note = (id, kind) => {
    // While it starts, there is nothing to note in.
    if (exports === undefined) return;
    const { notes, cursor, count } = exports;
    new Int32Array(notes.buffer, cursor.value, 3).set([id * 4 + kind, count.value, 0]);
    cursor.value += NOTE_BYTES;
  };
  const wrapImport =
    (original, id) =>
    (...values) => {
      note(id, ENTER);
      const result = original(...values);
      note(id, LEAVE);
      return result;
    };
  const worker = await start(folder, module, env, { wrapImport });
  ({ exports } = worker);

  return async (call) => {
    exports.cursor.value = 0;
    exports.count.value = 0;
    const { status } = await worker.fetch(requestOf(call));
    const notes = new Int32Array(exports.notes.buffer, 0, exports.cursor.value / 4);
    return { status, root: tree(notes, names, imported) };
  };
}

function tree(notes, names, imported) {
  const root = node("JavaScript");
  const open = [root];
  let last = 0;
  for (let at = 0; at < notes.length; at += 3) {
    const [code, count, value] = notes.subarray(at, at + 3);
    const [id, kind] = [code >> 2, code & 3];
    const current = open.at(-1);
    current.self += count - last;
    last = count;
    if (kind === COPY) {
      current.copied += value;
    } else if (kind === LEAVE) {
      open.pop();
    } else {
      const child = node(names.get(id) ?? `function ${id}`);
      if (MALLOC.test(child.name)) child.allocated = value;
      child.imported = id < imported;
      current.children.push(child);
      open.push(child);
    }
  }
  if (open.length !== 1) throw new Error("a function was left by an exception");
  return root;
}

const node = (name) => ({
  name: plain(name),
  imported: false,
  self: 0,
  allocated: undefined,
  copied: 0,
  children: [],
});

/** A name without the hash that the compiler adds. */
const plain = (name) => name.replace(/::h[0-9a-f]{16}$/, "").replaceAll(/\[[0-9a-f]{16}\]/g, "");
