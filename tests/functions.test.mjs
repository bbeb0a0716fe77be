// Functions in TypeScript that misbehave: each fails its own call, and no other one. What packages do when they are imported is in packages.test.mjs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start } from "./support/functions.mjs";

const CRASHED = { crashed: true };
const LATE = { error: { message: "The tool did not respond in time" } };
const ENDS = /process\.\w+\(.*\) was called: a tool cannot end the Worker/;

/** Each function, its report, and what the log of a developer says. Those with a limit never end by themselves. */
const CASES = {
  exit: ["export default () => process.exit(1);", CRASHED, ENDS],
  exit_0: ["export default async () => { process.exit(0); };", CRASHED, ENDS],
  exit_later: ["export default async () => { await 0; process.exit(1); };", CRASHED, ENDS],
  exit_by_name: ['import { exit } from "node:process";\nexport default () => exit(1);', CRASHED, ENDS],
  exit_by_default: ['import it from "process";\nexport default () => it.exit(1);', CRASHED, ENDS],
  exit_required: ['export default () => require("process").exit(1);', CRASHED, ENDS],
  exit_when_read: ["export default () => ({ toJSON: () => process.exit(1) });", CRASHED, ENDS],
  exit_when_awaited: ["export default () => ({ get then() { process.exit(1); } });", CRASHED, ENDS],
  exit_in_timer: ["export default async () => { setTimeout(() => process.exit(1)); await new Promise((resolve) => setTimeout(resolve, 5)); return 1; };", { value: 1 }],
  exit_in_timer_awaited: ["export default () => new Promise((resolve) => setTimeout(() => resolve(process.exit(1))));", LATE, /"tool_timeout"/, 200],
  exit_at_start: ["process.exit(1);\nexport default () => 1;", CRASHED, ENDS],
  abort: ["export default () => (process as any).abort();", CRASHED, ENDS],
  text: ['export default () => { throw "a text"; };', CRASHED, /a value of type string was thrown: \\"a text\\"/],
  object: ['export default () => { throw { code: 23, message: "no row", size: 1n }; };', CRASHED, /of type object was thrown: .*\\"code\\":23,\\"message\\":\\"no row\\",\\"size\\":\\"1n/],
  nothing: ["export default () => { throw undefined; };", CRASHED, /of type undefined was thrown/],
  members: ['export default () => { throw Object.assign(new Error("no host"), { code: "ENOTFOUND" }); };', CRASHED, /no host[^]*ENOTFOUND/],
  cause: ['export default () => { throw new Error("outer", { cause: new RangeError("inner") }); };', CRASHED, /Error: outer.*\[cause\] RangeError: inner/],
  several: ['export default () => { throw new AggregateError([new Error("one"), "two"], "all"); };', CRASHED, /all.*\[error\] Error: one.*\[error\] a value of type string was thrown: \\"two\\"/],
  endless_cause: ['export default () => { const error = new Error("mine"); error.cause = error; throw error; };', CRASHED, /Error: mine/],
  unreadable: ['export default () => { throw new Proxy(new Error(), { get() { throw 1; } }); };', CRASHED, /cannot be read/],
  recursion: ["export default function again(): unknown { return [again()]; }", CRASHED, /RangeError: Maximum call stack/],
  place: ['\nexport default () => {\n  throw new Error("here");\n};', CRASHED, /Error: here\\n {4}at .*tools\/odd\/place\.ts:3:9\)"/],
  place_later: ['export default async () => {\n  await 0;\n  throw new Error("here");\n};', CRASHED, /Error: here\\n {4}at .*tools\/odd\/place_later\.ts:3:9\)"/],
  start: ['const config = JSON.parse(process.env.ABSENT ?? "");\nexport default () => config;', CRASHED, /SyntaxError: Unexpected end of JSON input\\n.*tools\/odd\/start\.ts:1:21/],
  no_function: ["export default 7;", CRASHED, /the default export is not a function/],
  console: ['console.error = console.warn = () => { throw new Error("mine"); };\nexport default () => { throw new Error("logged"); };', CRASHED, /Error: logged/],
  globals: ["Object.assign(globalThis, { Response: undefined, Headers: undefined });\nexport default () => 1;", { value: 1 }],
  never: ["export default () => new Promise(() => {});", LATE, /"tool_timeout","tool":"odd\/never","problem":"no value within 20 ms"/, 20],
  never_thenable: ["export default () => ({ then() {} });", LATE, /"tool_timeout"/, 20],
  never_starts: ["await new Promise(() => {});\nexport default () => 1;", LATE, /"tool_timeout"/, 20],
};

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
let worker;
before(async () => {
  const texts = Object.entries(CASES).map(([name, [text]]) => [`tools/odd/${name}.ts`, text]);
  worker = await start(scratch, { ...Object.fromEntries(texts), "tools/odd/fine.ts": "export default (input: unknown) => input;" });
});
after(async () => {
  await worker.close();
  rmSync(scratch, { recursive: true });
});

test("what fails while the Worker starts is logged with its place, and no other function", () => {
  const failed = worker.log().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(failed.map(({ event, module }) => [event, module]), [["module_failed", "odd/exit_at_start"], ["module_failed", "odd/start"]]);
  assert.match(failed[1].problem, /tools\/odd\/start\.ts:1:21/);
});

for (const [name, [, report, logged, limit]] of Object.entries(CASES)) {
  test(`${name} fails its own call only`, async () => {
    assert.deepEqual(await worker.call(`odd/${name}`, {}, limit && { limit }), report);
    const log = worker.log();
    if (logged) assert.match(log, logged);
    assert.doesNotMatch(log, /toolbooth-worker/, "the frames of the server say nothing about the tool");
    assert.deepEqual(await worker.call("odd/fine", { a: 1 }), { value: { a: 1 } });
  });
}

test("deployed, the log has names and places, but no text of the tool", async (t) => {
  const names = ["text", "object", "members", "cause", "several", "place"];
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const other = await start(folder, Object.fromEntries(names.map((name) => [`tools/odd/${name}.ts`, CASES[name][0]])), {});
  t.after(() => other.close());
  for (const name of names) assert.deepEqual(await other.call(`odd/${name}`), CRASHED);
  const log = other.log();
  assert.doesNotMatch(log, /a text|no row|ENOTFOUND|no host|outer|inner|one|two|here/);
  assert.match(log, /"Error\\n.*\[cause\] RangeError\\n/);
  assert.match(log, /tools\/odd\/place\.ts:3:9/);
});
