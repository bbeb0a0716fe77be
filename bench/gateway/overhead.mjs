// What a gateway adds to a request: time, time to the first chunk, and CPU, side by side in one run. Every gateway is in front
// of the same provider, which answers at once.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, mkdir } from "node:fs/promises";
import http from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { KEY, variables } from "../../tests/support/gateway/worker.mjs";
import { MODELS } from "../../tests/support/gateway/cases.mjs";
import { KEYS } from "../../tests/support/providers/stand-in.mjs";
import { ROOT, SCRATCH } from "../paths.mjs";
import { median, quantile } from "../statistics.mjs";
import { configure, serve } from "../workerd.mjs";
import { ours } from "../workers.mjs";
import { litellm, portkey } from "./rivals.mjs";

const ROUNDS = 12;
/** The requests of a subject in a round, one after the other. */
const BATCH = 40;
const STREAMS = 20;
const LONG_STREAMS = 5;
const CHUNKS = 1000;
const PROVIDERS = ["openai", "anthropic"];

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** Sends a request and returns the milliseconds until the first bytes and until the end. */
function timed({ url, headers, body }) {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    let first;
    const request = http.request(url, { method: "POST", agent, headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => {
        first ??= performance.now() - begun;
        text += part;
      });
      response.on("error", reject).on("end", () => {
        if (response.statusCode !== 200 || !/word0|"content"/.test(text)) return reject(new Error(`${url}: ${response.statusCode} ${text.slice(0, 300)}`));
        resolve({ first, whole: performance.now() - begun });
      });
    });
    request.on("error", reject).end(body);
  });
}

/** The CPU seconds that a process and those that it started have used. */
function cpu(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const used = [pid, ...children].map((one) => {
    const stat = readFileSync(`/proc/${one}/stat`, "utf8");
    const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).map(Number);
    return (user + system) / TICKS;
  });
  return used.reduce((sum, one) => sum + one, 0);
}
const TICKS = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const rss = async (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))[1]) / 1000;

async function provider() {
  const child = spawn(process.execPath, [join(import.meta.dirname, "upstream.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const base = `http://127.0.0.1:${port}`;
  const stand = (name) => ({ base, key: KEYS[name], provider: name });
  return { child, base, upstream: { openai: stand("openai"), anthropic: stand("anthropic"), gemini: stand("gemini") } };
}

const question = (kind) => [{ role: "user", content: kind === "long" ? "A long answer." : "A short answer." }];

/** How each subject is asked: `(provider, kind) => { url, headers, body }`. */
const direct = (base) => (provider, kind) => {
  const body = { model: MODELS[provider], max_tokens: 100, messages: question(kind), ...(kind !== "unary" && { stream: true }) };
  const own = { openai: ["/v1/chat/completions", { authorization: `Bearer ${KEYS.openai}` }], anthropic: ["/v1/messages", { "x-api-key": KEYS.anthropic, "anthropic-version": "2023-06-01" }] };
  const [path, headers] = own[provider];
  return { url: `${base}${path}`, headers, body: JSON.stringify(body) };
};
const through = (request) => (provider, kind) => request(provider, { max_tokens: 100, messages: question(kind), ...(kind !== "unary" && { stream: true }) });

/** Measures all subjects: `{ rows, targets }`. */
export async function overhead({ log = () => {} } = {}) {
  const { child, base, upstream } = await provider();
  const rivals = [await litellm(upstream), await portkey(upstream)];
  await mkdir(SCRATCH, { recursive: true });
  const plain = async (name) => ({ name, modules: [{ name: `${name}.js`, type: "esModule", bytes: await readFile(join(import.meta.dirname, `${name}.worker.mjs`)) }], variables: { UPSTREAM: base } });
  const worker = { ...(await ours("gateway", "Toolbooth", join(ROOT, "target/samples"))), variables: variables(upstream) };
  try {
    return await serve(await configure([worker, await plain("pipe"), await plain("read")]), async ({ pid, ports }) => {
      const model = (provider) => `${provider}/${MODELS[provider]}`;
      const toolbooth = (provider, body) => ({
        url: `http://127.0.0.1:${ports.gateway}/v1/chat/completions`,
        headers: { authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ ...body, model: model(provider) }),
      });
      const subjects = [
        { name: "direct", request: direct(base), pid: child.pid },
        { name: "a Worker that only pipes", request: direct(`http://127.0.0.1:${ports.pipe}`), pid },
        { name: "a Worker that reads and writes each chunk", request: direct(`http://127.0.0.1:${ports.read}`), pid },
        { name: "Toolbooth", request: through(toolbooth), pid },
        ...rivals.map(({ name, request, pid }) => ({ name, request: through(request), pid })),
      ];
      return await measure(subjects, log);
    }, { quiet: true });
  } finally {
    for (const rival of rivals) await rival.close();
    child.kill("SIGKILL");
  }
}

async function measure(subjects, log) {
  const times = new Map();
  const record = (name, key, value) => {
    const values = times.get(`${name} ${key}`) ?? [];
    times.set(`${name} ${key}`, [...values, value]);
  };
  // The rounds interleave the subjects, so that interference hits all of them. The first round only warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    log(`round ${round} of ${ROUNDS}`);
    for (const provider of PROVIDERS) {
      for (const { name, request } of subjects) {
        for (let at = 0; at < BATCH; at++) {
          const { whole } = await timed(request(provider, "unary"));
          if (round > 0) record(name, `${provider} whole`, whole);
        }
        for (let at = 0; at < STREAMS; at++) {
          const { first } = await timed(request(provider, "short"));
          if (round > 0) record(name, `${provider} first`, first);
        }
      }
    }
  }
  const rows = [];
  for (const provider of PROVIDERS) {
    for (const { name, request, pid } of subjects) {
      const of = (key) => times.get(`${name} ${provider} ${key}`);
      const used = [];
      for (let at = 0; at < ROUNDS; at++) {
        const before = cpu(pid);
        for (let stream = 0; stream < LONG_STREAMS; stream++) await timed(request(provider, "long"));
        used.push(((cpu(pid) - before) / LONG_STREAMS) * 1000 * (1000 / CHUNKS));
      }
      const first = of("first");
      const whole = of("whole");
      rows.push({ provider, name, p50: median(whole), p99: quantile(whole, 0.99), first50: median(first), first99: quantile(first, 0.99), cpu: median(used), rss: await rss(pid) });
    }
  }
  return rows;
}

const ms = (value) => value.toFixed(value < 10 ? 2 : 1);
const TITLES = { openai: "OpenAI's format to OpenAI's format", anthropic: "OpenAI's format to Anthropic's" };

/** The rows as tables, and whether the targets are met. */
export function report(rows) {
  const parts = [];
  for (const provider of PROVIDERS) {
    const own = rows.filter((row) => row.provider === provider);
    const [base] = own;
    const pipe = own[1];
    parts.push(`**${TITLES[provider]}**\n`);
    parts.push("| | Added p50, ms | p99, ms | First chunk p50, ms | p99, ms | × pipe | CPU per 1,000 chunks, ms | Memory, MB |\n|---|---:|---:|---:|---:|---:|---:|---:|");
    for (const row of own) {
      const added = row === base ? [`(${ms(row.p50)})`, `(${ms(row.p99)})`] : [`+${ms(row.p50 - base.p50)}`, `+${ms(row.p99 - base.p99)}`];
      const ratio = row === base ? "" : (row.first50 / pipe.first50).toFixed(2);
      const usage = row === base ? ["", ""] : [ms(row.cpu), row.rss.toFixed(0)];
      parts.push(`| ${[row.name, ...added, ms(row.first50), ms(row.first99), ratio, ...usage].join(" | ")} |`);
    }
    parts.push("");
  }
  const added = (provider, name, key) => {
    const find = (one) => rows.find((row) => row.provider === provider && row.name === one)[key];
    return find(name) - find("direct");
  };
  const verdicts = PROVIDERS.flatMap((provider) => {
    const first = (name) => rows.find((row) => row.provider === provider && row.name === name).first50;
    const ratio = (name) => added(provider, "Toolbooth", "p50") / added(provider, name, "p50");
    return [
      ["overhead, × Portkey's", ratio("Portkey"), 0.5],
      ["overhead, × LiteLLM's", ratio("LiteLLM"), 0.1],
      ["first chunk, × that of a Worker that only pipes", first("Toolbooth") / first("a Worker that only pipes"), 1.2],
    ].map(([what, value, target]) => ({ provider, what, value, target }));
  });
  parts.push("| Target | to OpenAI | to Anthropic | at most |\n|---|---:|---:|---:|");
  for (const { what, target } of verdicts.slice(0, 3)) {
    const cells = PROVIDERS.map((provider) => verdicts.find((one) => one.provider === provider && one.what === what).value.toFixed(2));
    parts.push(`| ${[what, ...cells, target].join(" | ")} |`);
  }
  return parts.join("\n");
}

if (import.meta.filename === process.argv[1]) {
  const rows = await overhead({ log: (line) => process.stderr.write(`${line}\r`) });
  console.log(report(rows));
  process.exit(0);
}
