// The documents of docs/contracts; support/contract.mjs checks every response of every test against them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { files, folder } from "../scripts/contracts.mjs";

test("docs/contracts contains what `make contracts` writes", () => {
  assert.deepEqual(readdirSync(folder).sort(), Object.keys(files).sort());
  for (const [name, text] of Object.entries(files)) {
    assert.ok(readFileSync(new URL(name, folder), "utf8") === text, `${name} differs: run \`make contracts\``);
  }
});
