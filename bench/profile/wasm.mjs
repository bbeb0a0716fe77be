// The binary format of WebAssembly, as far as counting needs it (WebAssembly Core Specification, 5).

/** Reads numbers and runs of bytes, one after another. */
export class Reader {
  #bytes;
  #at = 0;

  constructor(bytes) {
    this.#bytes = bytes;
  }

  get at() {
    return this.#at;
  }

  done() {
    return this.#at >= this.#bytes.length;
  }

  byte() {
    if (this.done()) throw new Error("the module ends too early");
    return this.#bytes[this.#at++];
  }

  take(length) {
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    if (bytes.length < length) throw new Error("the module ends too early");
    this.#at += length;
    return bytes;
  }

  rest() {
    return this.take(this.#bytes.length - this.#at);
  }

  /** An unsigned LEB128 number of at most 32 bits. Of a signed one it only passes over the bytes. */
  unsigned() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  vector(read) {
    return Array.from({ length: this.unsigned() }, () => read(this));
  }
}

/** A number as unsigned LEB128. */
export function unsigned(value) {
  const bytes = [];
  do {
    bytes.push((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value >>>= 7;
  } while (value > 0);
  return bytes;
}

/** A number as signed LEB128. */
export function signed(value) {
  const bytes = [];
  for (;;) {
    const low = value & 0x7f;
    value >>= 7;
    const last = (value === 0 && !(low & 0x40)) || (value === -1 && low & 0x40);
    bytes.push(last ? low : low | 0x80);
    if (last) return bytes;
  }
}

/** Items as a vector: their number, then they. */
export function vector(items) {
  return Buffer.concat([Buffer.from(unsigned(items.length)), ...items.map((item) => Buffer.from(item))]);
}

/** `{ id, name, content }` of every section; only custom ones (id 0) have a name. */
export function sections(bytes) {
  const reader = new Reader(bytes);
  reader.take(8);
  const found = [];
  while (!reader.done()) {
    const id = reader.byte();
    let content = reader.take(reader.unsigned());
    let name;
    if (id === 0) {
      const custom = new Reader(content);
      name = Buffer.from(custom.take(custom.unsigned())).toString();
      content = custom.rest();
    }
    found.push({ id, name, content });
  }
  return found;
}

/**
 * The declaration of locals and the instructions of a function's body: `{ opcode, sub, bytes, runs,
 * ends }`. Marks of structure do not run; after what ends a stretch, something else may run next.
 */
export function instructions(body) {
  const reader = new Reader(body);
  reader.vector(() => [reader.unsigned(), reader.byte()]);
  const locals = body.subarray(0, reader.at);
  const code = [];
  while (!reader.done()) {
    const start = reader.at;
    const opcode = reader.byte();
    const sub = immediates(opcode, reader);
    const bytes = body.subarray(start, reader.at);
    code.push({ opcode, sub, bytes, runs: !MARKS.has(opcode), ends: JUMPS.has(opcode) });
  }
  return { locals, code };
}

const MARKS = new Set([0x02, 0x03, 0x05, 0x06, 0x07, 0x0b, 0x18, 0x19, 0x1f]);
// Loops, branches and their targets, and calls: what is called notes the counter.
const JUMPS = new Set([
  0x00, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12,
  0x13, 0x18, 0x19, 0x1f,
]);

/** How many numbers stand behind an opcode, where it is not one or none for a whole range. */
const NUMBERS = new Map([
  [0x02, 1], [0x03, 1], [0x04, 1], [0x06, 1], [0x07, 1], [0x08, 1], [0x09, 1], [0x0c, 1], [0x0d, 1],
  [0x10, 1], [0x11, 2], [0x12, 1], [0x13, 2], [0x18, 1], [0x3f, 1], [0x40, 1], [0x41, 1], [0x42, 1],
  [0xd0, 1], [0xd2, 1],
]);
/** The same behind 0xfc. */
const BULK = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/** Passes over what stands behind an opcode; gives the number that the prefix 0xfc needs. */
function immediates(opcode, reader) {
  const skip = (count) => {
    for (; count > 0; count--) reader.unsigned();
  };
  if (NUMBERS.has(opcode)) skip(NUMBERS.get(opcode));
  else if (opcode === 0x0e) skip(reader.unsigned() + 1);
  else if (opcode === 0x1c) reader.vector(() => reader.byte());
  else if (opcode === 0x1f) {
    reader.unsigned();
    reader.vector(() => skip(reader.byte() < 2 ? 2 : 1));
  } else if (opcode >= 0x20 && opcode <= 0x26) skip(1);
  else if (opcode >= 0x28 && opcode <= 0x3e) skip(reader.unsigned() & 0x40 ? 2 : 1);
  else if (opcode === 0x43) reader.take(4);
  else if (opcode === 0x44) reader.take(8);
  else if (opcode === 0xfc) {
    const sub = reader.unsigned();
    if (BULK[sub] === undefined) throw new Error(`unknown instruction fc ${sub}`);
    skip(BULK[sub]);
    return sub;
  } else if (opcode > 0xd2 || (opcode > 0xc4 && opcode < 0xd0)) {
    throw new Error(`unknown instruction ${opcode.toString(16)}`);
  }
}
