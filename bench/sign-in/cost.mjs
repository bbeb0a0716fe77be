// What a request costs at each server: CPU of its workerd, and operations on KV, side by side in one run.
import { readFile, readdir } from "node:fs/promises";
import http from "node:http";
import { median } from "../statistics.mjs";
import { sizes } from "../workers.mjs";
import { agree, begin, connect, toolCall } from "./client.mjs";

const ROUNDS = 20;
/** Rounds that are not measured: the engine still compiles. */
const WARM_UP = 3;
const BATCH = { metadata: 60, call: 60, exchange: 20, refresh: 20 };
const TITLES = { metadata: "metadata, as a baseline", call: "a call with a token", exchange: "the exchange of a code", refresh: "a refresh" };

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** Sends a request: the text of its response. */
function send(url, { method = "GET", headers, body } = {}) {
  return new Promise((resolve, reject) => {
    const sent = { ...headers, ...(body && { "content-length": Buffer.byteLength(body) }) };
    const request = http.request(url, { method, agent, headers: sent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("error", reject).on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(`${url}: ${response.statusCode} ${text}`))));
    });
    request.on("error", reject).end(body);
  });
}

const form = (fields) => ({ method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: String(new URLSearchParams(fields)) });
const tokens = (one, fields) => send(one.as.token_endpoint, form({ client_id: one.client.client_id, resource: `${one.server.base}/mcp`, ...fields }));

/** Prepares `count` requests of a kind; returns a function that sends them one after the other. */
const PREPARE = {
  async metadata(server, count) {
    return () => repeat(count, () => send(`${server.base}/.well-known/oauth-authorization-server`));
  },
  async call(server, count) {
    const request = toolCall((await connect(server)).tokens.access_token);
    return () => repeat(count, () => send(`${server.base}/mcp`, request));
  },
  async exchange(server, count) {
    const codes = [];
    await repeat(count, async () => {
      const one = await begin(server);
      codes.push({ one, code: (await agree(one)).get("code") });
    });
    return async () => {
      for (const { one, code } of codes) {
        await tokens(one, { grant_type: "authorization_code", code, redirect_uri: one.redirect, code_verifier: one.verifier });
      }
    };
  },
  async refresh(server, count) {
    const one = await connect(server);
    let { refresh_token } = one.tokens;
    return () =>
      repeat(count, async () => {
        ({ refresh_token } = JSON.parse(await tokens(one, { grant_type: "refresh_token", refresh_token })));
      });
  },
};

async function repeat(count, run) {
  for (let at = 0; at < count; at++) await run();
}

/** The nanoseconds of CPU that each thread of a process has used. */
async function threads(pid) {
  const ids = await readdir(`/proc/${pid}/task`);
  const read = async (id) => [id, Number((await readFile(`/proc/${pid}/task/${id}/schedstat`, "utf8")).split(" ")[0])];
  return Object.fromEntries(await Promise.all(ids.map(read)));
}

/** Runs a batch: milliseconds of CPU, and reads and writes of KV, per request. */
async function measured(server, kind) {
  const count = BATCH[kind];
  const run = await PREPARE[kind](server, count);
  await send(`${server.base}/counts`);
  const before = await threads(server.pid);
  await run();
  const after = await threads(server.pid);
  const used = Object.entries(after).reduce((sum, [id, ns]) => sum + ns - (before[id] ?? 0), 0);
  const { reads, writes } = JSON.parse(await send(`${server.base}/counts`));
  return { cpu: used / 1e6 / count, reads: reads / count, writes: writes / count };
}

/** Measures all kinds in alternating batches: for each, the rounds of the servers in their order. */
export async function measure(servers, log = () => {}) {
  const rounds = Object.fromEntries(Object.keys(BATCH).map((kind) => [kind, servers.map(() => [])]));
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    log(`round ${round + 1} of ${ROUNDS}`);
    for (const kind of Object.keys(BATCH)) {
      // Who is first changes with each round.
      for (const at of round % 2 ? [0, 1] : [1, 0]) {
        const result = await measured(servers[at], kind);
        if (round >= 0) rounds[kind][at].push(result);
      }
    }
  }
  return rounds;
}

const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

/**
 * The medians as a table. A ratio is the median of the ratios in the same round, ours to the other's. `memory` are the rounds with
 * a store in memory, `namespace` those with Miniflare's KV.
 */
export function report({ memory, namespace }, servers) {
  const rows = Object.keys(TITLES).map((kind) => {
    const cpu = ([own, other]) => {
      const ratio = median(own.map((round, at) => round.cpu / other[at].cpu));
      return [...[own, other].map((rounds) => median(rounds.map((round) => round.cpu))), ratio].map((value) => value.toFixed(2));
    };
    const operations = (rounds) => ["reads", "writes"].map((key) => Math.round(median(rounds.map((round) => round[key])))).join(" + ");
    return `| ${[TITLES[kind], ...cpu(memory[kind]), ...cpu(namespace[kind]), ...memory[kind].map(operations)].join(" | ")} |`;
  });
  const [own, other] = servers.map(({ modules }) => kb(sizes({ modules }).gzip));
  return [
    "| | CPU in ms, KV in memory: Toolbooth | the other | ratio | CPU in ms, Miniflare's KV: Toolbooth | the other | ratio | KV reads + writes: Toolbooth | the other |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ...rows,
    "",
    `Size of the Worker (\`gzip -9\`): ${own} with all tools and features; ${other} with workers-oauth-provider and one tool.`,
  ].join("\n");
}
