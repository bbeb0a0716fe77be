// Load test and soak test with mixed traffic: measures latency and memory.
import { resident } from "./counter.mjs";
import { inspect } from "./inspector.mjs";
import { Connection, open, post } from "./load.mjs";
import { median, quantile, trend } from "./statistics.mjs";
import { send } from "./traffic.mjs";
import { CALL } from "./verify.mjs";
import { configure, serve } from "./workerd.mjs";

/** Sends mixed traffic to ours and to echo in alternating slices. Returns `{ requests, rate, p50, p99 }` for
 *  each, with ratios of neighbouring slices. Throws at the first wrong response. */
export async function underLoad(ours, echo, { slices, milliseconds, connections }) {
  return serve(await configure([ours, echo]), async ({ ports }) => {
    const sides = [];
    for (const [{ name, title }, right] of [[ours, answered], [echo, echoed]]) {
      const own = await open(ports[name], connections);
      sides.push({ title, right, connections: own, place: { next: 0 }, slices: [] });
    }
    const slice = async ({ right, connections, place }) => {
      const end = performance.now() + milliseconds;
      const goes = () => performance.now() < end;
      const { latencies, seconds } = await send(connections, place, goes, right);
      const [p50, p99] = [0.5, 0.99].map((part) => quantile(latencies, part));
      return { requests: latencies.length, seconds, p50, p99 };
    };
    // The first slice of each is the warm-up.
    for (let round = 0; round <= slices; round++) {
      for (const side of sides) {
        const measured = await slice(side);
        if (round > 0) side.slices.push(measured);
      }
    }
    for (const { connections } of sides) for (const each of connections) each.close();
    const sum = (list, measure) => list.reduce((all, one) => all + measure(one), 0);
    return sides.map(({ title, slices }) => ({
      title,
      requests: sum(slices, ({ requests }) => requests),
      rate: sum(slices, ({ requests }) => requests) / sum(slices, ({ seconds }) => seconds),
      ...Object.fromEntries(
        ["p50", "p99"].map((name) => {
          const ratios = slices.map((slice, at) => slice[name] / sides[1].slices[at][name]);
          return [name, { median: median(slices.map((slice) => slice[name])), ratio: median(ratios) }];
        }),
      ),
    }));
  });
}

/** Whether a response is correct for its request. */
const answered = (entry, answer) => entry.answered(answer);

function echoed({ request }, { status, body }) {
  return status === 200 && body === request.slice(request.indexOf("\r\n\r\n") + 4);
}

/** Sends mixed traffic for a long time. Returns `[{ calls, rss, wasm }]` after each step, in bytes. */
export async function soak(ours, { calls, step, connections }) {
  const use = async ({ pid, ports, inspector }) => {
    const own = await open(ports[ours.name], connections);
    const place = { next: 0 };
    const samples = [];
    const runtime = await inspect(inspector, ours.name);
    for (let done = 0; done < calls; done += step) {
      await send(own, place, (sent) => sent < step, answered);
      // This query triggers a garbage collection first.
      const wasm = await runtime.memory();
      samples.push({ calls: done + step, rss: await resident(pid), wasm });
    }
    runtime.close();
    for (const each of own) each.close();
    return samples;
  };
  return serve(await configure([ours]), use, { inspected: true });
}

/** Bytes per call: smaller growth may be late page allocation by the runtime. */
const NEGLIGIBLE = 0.1;

/** The growth of memory over the second half of a soak test, and whether it exceeds the noise. */
export function growth(samples) {
  const half = samples.slice(Math.floor(samples.length / 2));
  const { growth, error } = trend(half.map(({ calls, rss }) => [calls, rss]));
  const calls = half.at(-1).calls - half[0].calls;
  const wasm = half.at(-1).wasm - half[0].wasm;
  const grows = wasm > 0 || growth > Math.max(3 * error, NEGLIGIBLE * calls);
  return { calls, rss: growth, error, wasm, grows };
}

const LIMIT = 256 * 1024;
const before = '{"tool_id":"Calculator.Add","input":{"a":';
const after = ',"b":1}}';
const filled = (item, [open, close], between) => {
  const room = LIMIT - before.length - after.length - open.length - close.length;
  const count = Math.floor((room + between.length) / (item.length + between.length));
  return `${before}${open}${Array(count).fill(item).join(between)}${close}${after}`;
};

/** Bodies of 256 KB by content, with the expected status if they have too many values. */
const SHAPES = [
  ["one string", filled("a", ['"', '"'], "")],
  ["one string, all of it escaped", filled("\\u0041", ['"', '"'], "")],
  ["numbers of one digit", filled("0", ["[", "]"], ","), 400],
  ["numbers of three digits", filled("0.1", ["[", "]"], ",   ")],
  ["empty arrays", filled("[]", ["[", "]"], ","), 400],
  ["objects of one member", filled('{"a":0}', ["[", "]"], ",")],
];

/** The WebAssembly memory of a new Worker before and after one call with a body of 256 KB:
 *  `[{ title, before, peak }]` in bytes. The memory never shrinks, so its final size is the peak. */
export async function peaks(ours) {
  const config = await configure([ours]);
  const measured = [];
  for (const [title, body, expected = 422] of SHAPES) {
    const use = async ({ ports, inspector }) => {
      const connection = await Connection.open(ports[ours.name]);
      await connection.send(CALL);
      const runtime = await inspect(inspector, ours.name);
      const before = await runtime.memory();
      const { status } = await connection.send(post("/tools/call", body));
      if (status !== expected) throw new Error(`${title}: returned ${status}; expected ${expected}`);
      measured.push({ title, before, peak: await runtime.memory() });
      runtime.close();
      connection.close();
    };
    await serve(config, use, { inspected: true });
  }
  return measured;
}
