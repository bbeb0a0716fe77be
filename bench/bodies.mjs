// Measures the CPU time of requests with the most expensive bodies of maximum size, on the deployed Worker.
//   node bench/bodies.mjs [--cold] [bundle folder]...    prints a table that compares the bundles
// With --cold, each request is the second of a new workerd, which has not optimized the code yet.
// Run it on an idle machine: the result is the minimum of all rounds.
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { pick } from "./counter.mjs";
import { Connection, post } from "./load.mjs";
import { ROOT, SCRATCH } from "./paths.mjs";
import { configure, serve } from "./workerd.mjs";
import { ours } from "./workers.mjs";

const LIMIT = 256 * 1024;
const COLD = process.argv.includes("--cold");
const ROUNDS = COLD ? 3 : 9;
const BATCH = COLD ? 1 : 4;

const PATH = "/tools/call";

const around = (before, after) => (inside) => `${before}${inside}${after}`;
const INPUT = around('{"tool_id":"Calculator.Add","input":', "}");
const VALUE = around('{"tool_id":"Calculator.Add","input":{"a":', ',"b":1}}');
const RPC = around('{"jsonrpc":"2.0","id":"1","method":"Calculator_Add","params":{"a":', ',"b":1}}');
const OPENAI = (text) =>
  JSON.stringify([{ id: "1", type: "function", function: { name: "Calculator_Add", arguments: text } }]);

const space = (body) => LIMIT - Buffer.byteLength(body(""));
/** As many items as fit in the body, in brackets. */
function filled(body, item, [open, close] = ["[", "]"]) {
  const items = [];
  let left = space(body) - 2;
  for (let at = 0; ; at += 1) {
    const next = typeof item === "function" ? item(at) : item;
    left -= Buffer.byteLength(next) + 1;
    if (left < 0) return body(`${open}${items.join(",")}${close}`);
    items.push(next);
  }
}
const nested = (open, inside, close, depth) => open.repeat(depth) + inside + close.repeat(depth);
const members = ["{", "}"];

/** Bodies by content. All responses are errors: no body reaches a tool. */
export const BODIES = [
  ["one string", VALUE(`"${"a".repeat(space(VALUE) - 2)}"`)],
  ["one string of escapes", VALUE(`"${"\\u0041".repeat(Math.floor((space(VALUE) - 2) / 6))}"`)],
  ["one string of characters of four bytes", VALUE(`"${"\u{1f600}".repeat(Math.floor((space(VALUE) - 2) / 4))}"`)],
  ["white space", VALUE(`${" ".repeat(space(VALUE) - 1)}1`)],
  ["digits of one number", VALUE("1".repeat(space(VALUE)))],
  ["digits after a decimal point", VALUE(`0.${"7".repeat(space(VALUE) - 2)}`)],
  ["digits of an exponent", VALUE(`1e-${"9".repeat(space(VALUE) - 3)}`)],
  ["zeros of an exponent", VALUE(`1e${"0".repeat(space(VALUE) - 2)}`)],
  ["numbers of one digit", filled(VALUE, "0")],
  ["numbers of three digits", filled(VALUE, "123")],
  ["numbers of 17 digits", filled(VALUE, "0.12345678901234567")],
  ["numbers that are hard to round", filled(VALUE, "2.2250738585072011e-308")],
  ["numbers of large exponents", filled(VALUE, "1e308")],
  ["numbers of 700 digits", filled(VALUE, `0.${"1234567".repeat(100)}`)],
  ["null values", filled(VALUE, "null")],
  ["empty strings", filled(VALUE, '""')],
  ["strings of one escape", filled(VALUE, '"\\n"')],
  ["empty arrays", filled(VALUE, "[]")],
  ["arrays of one item", filled(VALUE, "[0]")],
  ["arrays 55 deep", filled(VALUE, nested("[", "", "]", 55))],
  ["numbers 55 deep", filled((inside) => VALUE(nested("[", inside, "]", 55)), "0")],
  ["numbers on each of 55 levels", nestedNumbers()],
  ["objects 55 deep", filled(VALUE, nested('{"":', "0", "}", 55))],
  ["empty objects", filled(VALUE, "{}")],
  ["objects of one member", filled(VALUE, '{"":0}')],
  ["members in order", filled(INPUT, (at) => `"${String(at).padStart(6, "0")}":0`, members)],
  ["members in reverse order", filled(INPUT, (at) => `"${String(999_999 - at)}":0`, members)],
  ["members in any order", filled(INPUT, (at) => `"${String((at * 7919) % 1_000_003).padStart(7, "0")}":0`, members)],
  ["members whose long names share a prefix", filled(INPUT, (at) => `"${"a".repeat(200)}${(at * 7919) % 100_003}":0`, members)],
  ["a key that is repeated at the end", `${filled(INPUT, (at) => `"${999_999 - at}":0`, members).slice(0, -12)}"999999":0}}`.padEnd(LIMIT)],
  ["a key that is repeated 55 deep", VALUE(nested("[", `{"a":${"[0]".padEnd(space(VALUE) - 130)},"a":0}`, "]", 55))],
  ["unknown members, as JSON-RPC", filled(around('{"jsonrpc":"2.0","id":"1","method":"Calculator_Add","params":', "}"), (at) => `"${(at * 7919) % 100_003}":[]`, members), "/jsonrpc"],
  ["arrays 50 deep, as JSON-RPC", filled(RPC, nested("[", "", "]", 50)), "/jsonrpc"],
  ["arguments as a string, of numbers", OPENAI(`[${"0,".repeat(32_000)}0]`), "/providers/openai/call"],
  ["arguments as a string, of arrays 50 deep", OPENAI(`[${`${nested("[", "", "]", 50)},`.repeat(640)}0]`), "/providers/openai/call"],
  ["20 calls with such arguments", twenty(), "/providers/openai/call"],
];

/** Each level has an equal number of values before the next one begins. */
function nestedNumbers() {
  const depth = 55;
  const share = "0,".repeat(Math.floor((space(VALUE) - 2 * depth) / depth / 2) - 1);
  return VALUE(nested(`[${share}`, "0", "]", depth));
}

function twenty() {
  const text = `[${`${nested("[", "", "]", 50)},`.repeat(125)}0]`;
  const call = (at) => ({ id: `${at}`, type: "function", function: { name: "Calculator_Add", arguments: text } });
  return JSON.stringify(Array.from({ length: 18 }, (_, at) => call(at)));
}

/** The status of the last request of a batch, and the mean CPU time. */
async function measure(pid, connection, request, counter) {
  await connection.ready();
  const stop = await counter.start(pid);
  let status;
  for (let sent = 0; sent < BATCH; sent += 1) ({ status } = await connection.send(request));
  await sleep(10);
  return { status, cost: (await stop()) / BATCH };
}

/** Measures all bodies on one workerd. */
async function warm(workers, counter) {
  return serve(await configure(workers), async ({ pid, ports }) => {
    const connections = await Promise.all(workers.map(({ name }) => Connection.open(ports[name])));
    const rows = [];
    for (const [title, body, path] of BODIES) {
      const row = { title, body, measured: workers.map(() => []) };
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const [at, connection] of connections.entries()) {
          const one = await measure(pid, connection, post(path ?? PATH, body), counter);
          if (round > 0) row.measured[at].push(one);
        }
      }
      rows.push(row);
    }
    for (const connection of connections) connection.close();
    return rows;
  });
}

/** Measures each body with new workerds. */
async function cold(workers, counter) {
  const rows = BODIES.map(([title, body]) => ({ title, body, measured: workers.map(() => []) }));
  for (const [at, worker] of workers.entries()) {
    const config = await configure([worker]);
    for (const [index, [, body, path]] of BODIES.entries()) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const one = await serve(config, async ({ pid, ports }) => {
          const connection = await Connection.open(ports[worker.name]);
          await connection.send(post(PATH, VALUE("1")));
          await sleep(100);
          const one = await measure(pid, connection, post(path ?? PATH, body), counter);
          connection.close();
          return one;
        });
        rows[index].measured[at].push(one);
      }
    }
  }
  return rows;
}

async function main(folders) {
  await mkdir(SCRATCH, { recursive: true });
  const workers = await Promise.all(folders.map((folder, at) => ours(`bodies-${at}`, folder, folder)));
  const counter = await pick();
  const rows = await (COLD ? cold : warm)(workers, counter);
  const scale = counter.unit === "µs" ? 1000 : 1;
  console.log(`| Body | bytes |${folders.map(() => " status | ms |").join("")}`);
  console.log(`| --- | ---: |${folders.map(() => " ---: | ---: |").join("")}`);
  for (const { title, body, measured } of rows) {
    const cells = measured.map((all) => {
      const least = Math.min(...all.map(({ cost }) => cost)) / scale;
      return ` ${all[0].status} | ${least.toFixed(1)} |`;
    });
    console.log(`| ${title} | ${Buffer.byteLength(body)} |${cells.join("")}`);
  }
}

if (process.argv[1] === import.meta.filename) {
  const folders = process.argv.slice(2).filter((argument) => argument !== "--cold");
  await main(folders.length > 0 ? folders.map((folder) => resolve(folder)) : [`${ROOT}/build`]);
}
