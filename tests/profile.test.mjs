// The profile: a module that counts does what it did before, and its counts are right.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { COPY, ENTER, LEAVE, instrument } from "../bench/profile/instrument.mjs";

const WASM_AS = join(import.meta.dirname, "../node_modules/.bin/wasm-as");

const MODULE = `(module
  (import "js" "double" (func $double (param i32) (result i32)))
  (memory 1)
  (global $round (mut i32) (i32.const 0))
  (func $sum (export "sum") (param $to i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (local.get $to)))
      (local.set $to (i32.sub (local.get $to) (i32.const 1)))
      (br_if $again (local.get $to)))
    (local.get $sum))
  (func $either (export "either") (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (call $double (i32.const 4)))
      (else (return (f32.eq (f32.const 1.5) (f32.const 2))))))
  (func $pick (export "pick") (param i32) (result i32)
    (block $b (block $a (br_table $a $b (local.get 0))) (return (i32.const 7)))
    (call $sum (i32.const 1)))
  (func $copied (export "copied") (param $size i32) (result i64)
    (memory.fill (i32.const 0) (i32.const 1) (local.get $size))
    (memory.copy (i32.const 8) (i32.const 0) (local.get $size))
    (i64.load offset=8 (i32.const 0)))
)`;

let folder;
let exports;
let names;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "profile-"));
  await writeFile(join(folder, "module.wat"), MODULE);
  const assembled = join(folder, "module.wasm");
  execFileSync(WASM_AS, [join(folder, "module.wat"), "-g", "--all-features", "-o", assembled]);
  const made = instrument(await readFile(assembled), (name) => (name === "sum" ? 0 : undefined));
  names = made.names;
  assert.equal(made.imported, 1);
  const js = { double: (value) => value * 2 };
  ({ exports } = await WebAssembly.instantiate(made.bytes, { js }).then(({ instance }) => instance));
});
after(() => rm(folder, { recursive: true }));

/** What a call notes: `name+` for entering with a value, `name-` for leaving, `copy`, and the counts. */
function notes() {
  const raw = new Int32Array(exports.notes.buffer, 0, exports.cursor.value / 4);
  const told = [];
  for (let at = 0; at < raw.length; at += 3) {
    const [code, count, value] = raw.subarray(at, at + 3);
    const name = names.get(code >> 2);
    const what = { [ENTER]: `${name}+${value}`, [LEAVE]: `${name}-`, [COPY]: `copy ${value}` }[code & 3];
    told.push(`${what} at ${count}`);
  }
  return told;
}

for (const [title, name, argument, result, expected] of [
  // Ten instructions a round, and one to give the sum.
  ["a loop", "sum", 3, 6, ["sum+3 at 0", "sum- at 31"]],
  ["a branch that calls JS", "either", 1, 8, ["either+0 at 0", "either- at 4"]],
  ["the other branch", "either", 0, 0, ["either+0 at 0", "either- at 6"]],
  ["a table of branches", "pick", 0, 7, ["pick+0 at 0", "pick- at 4"]],
  ["a call", "pick", 9, 1, ["pick+0 at 0", "sum+1 at 4", "sum- at 15", "pick- at 15"]],
  ["copies", "copied", 4, 0x01010101n, ["copied+0 at 0", "copy 4 at 10", "copy 4 at 10", "copied- at 10"]],
]) {
  test(`counts ${title}`, () => {
    exports.cursor.value = 0;
    exports.count.value = 0;
    assert.equal(exports[name](argument), result);
    assert.deepEqual(notes(), expected);
  });
}

test("a module without names is refused", async () => {
  const bare = join(folder, "bare.wasm");
  execFileSync(WASM_AS, [join(folder, "module.wat"), "--all-features", "-o", bare]);
  const bytes = await readFile(bare);
  assert.throws(() => instrument(bytes, () => undefined), /the module has no names/);
});
