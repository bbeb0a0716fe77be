// Makes a WebAssembly module count what it does. Nothing is moved: what is added stands behind what
// is there, so every index keeps its meaning.
//
// Each stretch of code without a jump adds its length to a counter. Each function is moved to a new
// place, and in its old one stands a function that notes the counter, calls it, and notes the counter
// again. The notes lie in a second memory.
import { Reader, instructions, sections, signed, unsigned, vector } from "./wasm.mjs";

/** What a note says; each is three 32-bit numbers: kind + 4 × function, the counter, a value. */
export const ENTER = 0;
export const LEAVE = 1;
/** The value is a number of bytes that one instruction copied or filled. */
export const COPY = 2;
export const NOTE_BYTES = 12;

const NOTES_PAGES = 1024;
const I32 = 0x7f;
const [TYPE, IMPORT, FUNCTION, MEMORY, GLOBAL, EXPORT, CODE] = [1, 2, 3, 5, 6, 7, 10];
const FUNCTION_KIND = 0;
const MEMORY_KIND = 2;
const GLOBAL_KIND = 3;

/**
 * Gives `{ bytes, names, imported }`: the counting module, the names of its functions and how many of
 * them are imported. It exports the memory `notes` and the globals `cursor` (where the next note
 * goes) and `count`. `sizeOf` says of a name which parameter to note as the value, if one.
 */
export function instrument(bytes, sizeOf) {
  const parts = sections(bytes);
  const part = (id) => parts.find((part) => part.id === id) ?? raise(`section ${id} is missing`);
  const names = functionNames(parts.find(({ id, name }) => id === 0 && name === "name"));
  const types = readTypes(part(TYPE).content);
  const { functions: imported, memories, globals: importedGlobals } = countImports(part(IMPORT).content);
  const declared = new Reader(part(FUNCTION).content).vector((reader) => reader.unsigned());
  const globals = importedGlobals + new Reader(part(GLOBAL).content).unsigned();
  const notes = memories + new Reader(part(MEMORY).content).unsigned();
  const [count, cursor] = [globals, globals + 1];
  // Behind the functions: each of them again, then the two helpers.
  const moved = imported + declared.length;
  const note = moved + declared.length;
  const [copy, fill] = [note + 1, note + 2];

  const bodies = new Reader(part(CODE).content).vector((reader) => reader.take(reader.unsigned()));
  const wrappers = declared.map((type, place) => {
    const id = imported + place;
    const { parameters } = types[type];
    const size = sizeOf(names.get(id) ?? "", parameters.length);
    return [
      0,
      ...noted(id, ENTER, size === undefined ? constant(0) : [0x20, ...unsigned(size)]),
      ...parameters.flatMap((_, at) => [0x20, ...unsigned(at)]),
      0x10, ...unsigned(moved + place),
      ...noted(id, LEAVE, constant(0)),
      0x0b,
    ];
  });
  function noted(id, kind, value) {
    return [...constant(id * 4 + kind), ...value, 0x10, ...unsigned(note)];
  }
  const counted = bodies.map((body) => countIn(body, count, copy, fill));

  // (code, value): stores both and the counter, and moves the cursor.
  const store = (offset) => [0x36, 0x42, ...unsigned(notes), ...unsigned(offset)];
  const noteBody = [
    0,
    0x23, ...unsigned(cursor), 0x20, 0, ...store(0),
    0x23, ...unsigned(cursor), 0x23, ...unsigned(count), ...store(4),
    0x23, ...unsigned(cursor), 0x20, 1, ...store(8),
    0x23, ...unsigned(cursor), ...constant(NOTE_BYTES), 0x6a, 0x24, ...unsigned(cursor),
    0x0b,
  ];
  const bulk = (...opcode) => [
    0,
    ...constant(COPY), 0x20, 2, 0x10, ...unsigned(note),
    0x20, 0, 0x20, 1, 0x20, 2, ...opcode,
    0x0b,
  ];
  const helpers = [noteBody, bulk(0xfc, 10, 0, 0), bulk(0xfc, 11, 0)];

  append(part(TYPE), [[0x60, 2, I32, I32, 0], [0x60, 3, I32, I32, I32, 0]]);
  append(part(FUNCTION), [...declared, types.length, types.length + 1, types.length + 1].map(unsigned));
  append(part(MEMORY), [[0, ...unsigned(NOTES_PAGES)]]);
  append(part(GLOBAL), [[I32, 1, ...constant(0), 0x0b], [I32, 1, ...constant(0), 0x0b]]);
  append(part(EXPORT), [
    [...text("notes"), MEMORY_KIND, ...unsigned(notes)],
    [...text("count"), GLOBAL_KIND, ...unsigned(count)],
    [...text("cursor"), GLOBAL_KIND, ...unsigned(cursor)],
  ]);
  part(CODE).content = vector(
    [...wrappers, ...counted, ...helpers].map((body) => [unsigned(body.length), body]).map(concat),
  );
  const head = bytes.subarray(0, 8);
  const whole = parts
    .filter(({ id }) => id !== 0)
    .map(({ id, content }) => concat([[id], unsigned(content.length), content]));
  return { bytes: concat([head, ...whole]), names, imported };
}

/** A function's body in which each stretch of code first adds its length to the counter. */
function countIn(body, count, copy, fill) {
  const out = [];
  let stretch = [];
  let length = 0;
  const flush = () => {
    if (length > 0) {
      out.push([0x23, ...unsigned(count), ...constant(length), 0x6a, 0x24, ...unsigned(count)]);
    }
    out.push(...stretch);
    [stretch, length] = [[], 0];
  };
  const { locals, code } = instructions(body);
  out.push(locals);
  for (const { opcode, sub, bytes, runs, ends } of code) {
    if (opcode === 0xfc && (sub === 10 || sub === 11)) {
      stretch.push([0x10, ...unsigned(sub === 10 ? copy : fill)]);
    } else {
      stretch.push(bytes);
    }
    if (runs) length += 1;
    if (ends) flush();
  }
  flush();
  return concat(out);
}

const constant = (value) => [0x41, ...signed(value)];
const text = (value) => [...unsigned(value.length), ...Buffer.from(value)];
const concat = (chunks) => Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));

function raise(message) {
  throw new Error(message);
}

/** Adds items to the vector that a section is. */
function append(part, items) {
  const reader = new Reader(part.content);
  const count = reader.unsigned();
  part.content = concat([unsigned(count + items.length), reader.rest(), ...items]);
}

function readTypes(content) {
  return new Reader(content).vector((reader) => {
    if (reader.byte() !== 0x60) raise("only plain function types are read");
    const list = () => reader.vector(() => reader.byte());
    return { parameters: list(), results: list() };
  });
}

function countImports(content) {
  const counts = { functions: 0, memories: 0, globals: 0 };
  new Reader(content).vector((reader) => {
    reader.take(reader.unsigned());
    reader.take(reader.unsigned());
    const kind = reader.byte();
    const limits = () => {
      const flags = reader.unsigned();
      reader.unsigned();
      if (flags & 1) reader.unsigned();
    };
    if (kind === FUNCTION_KIND) {
      counts.functions += 1;
      reader.unsigned();
    } else if (kind === MEMORY_KIND) {
      counts.memories += 1;
      limits();
    } else if (kind === GLOBAL_KIND) {
      counts.globals += 1;
      reader.take(2);
    } else if (kind === 1) {
      reader.byte();
      limits();
    } else {
      reader.byte();
      reader.unsigned();
    }
  });
  return counts;
}

function functionNames(section) {
  const names = new Map();
  if (section === undefined) raise("the module has no names: build it with wasm-opt's -g");
  const reader = new Reader(section.content);
  while (!reader.done()) {
    const id = reader.byte();
    const content = reader.take(reader.unsigned());
    if (id !== 1) continue;
    new Reader(content).vector((entry) => {
      names.set(entry.unsigned(), Buffer.from(entry.take(entry.unsigned())).toString());
    });
  }
  return names;
}
