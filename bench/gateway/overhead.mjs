// What a gateway adds to a request: time, time to the first chunk, and CPU, side by side in one run. Every gateway is in front
// of the same provider, which answers at once.
//   node bench/gateway/overhead.mjs [--own] [--chunks]
// With --own, other gateways are left out, and need not be installed; --chunks measures only the CPU of long streams.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { readFile, mkdir } from "node:fs/promises";
import http from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
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
/** Which client's format goes to which provider. The last two pass through as they are. */
const ROUTES = [
  { front: FRONTS.chat, provider: "openai", title: "Chat Completions to OpenAI", short: "chat → OpenAI" },
  { front: FRONTS.chat, provider: "anthropic", title: "Chat Completions to Anthropic", short: "chat → Anthropic" },
  { front: FRONTS.messages, provider: "anthropic", title: "Messages to Anthropic", short: "Messages → Anthropic" },
  { front: FRONTS.responses, provider: "openai", title: "Responses to OpenAI", short: "Responses → OpenAI" },
];
/** The provider's own path and credentials, for requests without a gateway. */
const OWN = {
  openai: (front) => [front === FRONTS.responses ? "/v1/responses" : "/v1/chat/completions", { authorization: `Bearer ${KEYS.openai}` }],
  anthropic: () => ["/v1/messages", { "x-api-key": KEYS.anthropic, "anthropic-version": "2023-06-01" }],
};
const PIPES = "a Worker that only pipes";
const READS = "a Worker that reads and writes each chunk";

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

/** The milliseconds of CPU that a process and those that it started have used. */
function cpu(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const threads = [`${pid}`, ...children].flatMap((one) => readdirSync(`/proc/${one}/task`).map((thread) => `/proc/${one}/task/${thread}`));
  const nanoseconds = threads.map((thread) => Number(readFileSync(`${thread}/schedstat`, "utf8").split(" ")[0]));
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}
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

/** How each subject is asked: `(route, kind) => { url, headers, body }`. */
const asked = (front, kind) => front.request({ max_tokens: 100, messages: question(kind), ...(kind !== "unary" && { stream: true }) });
const direct = (base) => ({ front, provider }, kind) => {
  const [path, headers] = OWN[provider](front);
  const body = { ...asked(provider === "anthropic" ? FRONTS.messages : front, kind), model: MODELS[provider] };
  return { url: `${base}${path}`, headers, body: JSON.stringify(body) };
};
const through = (request) => ({ front, provider }, kind) => request(provider, asked(front, kind), front);

/** Measures all subjects, or without other gateways, or only the CPU of long streams. */
export async function overhead({ log = () => {}, own = false, chunks = false } = {}) {
  const { child, base, upstream } = await provider();
  const rivals = own ? [] : [await litellm(upstream), await portkey(upstream)];
  await mkdir(SCRATCH, { recursive: true });
  const plain = async (name) => ({ name, modules: [{ name: `${name}.js`, type: "esModule", bytes: await readFile(join(import.meta.dirname, `${name}.worker.mjs`)) }], variables: { UPSTREAM: base } });
  const worker = { ...(await ours("gateway", "Toolbooth", join(ROOT, "target/samples"))), variables: variables(upstream) };
  try {
    return await serve(await configure([worker, await plain("pipe"), await plain("read")]), async ({ pid, ports }) => {
      const model = (provider) => `${provider}/${MODELS[provider]}`;
      const toolbooth = (provider, body, front) => ({
        url: `http://127.0.0.1:${ports.gateway}${front.path}`,
        headers: { authorization: `Bearer ${KEY}`, ...front.headers },
        body: JSON.stringify({ ...body, model: model(provider) }),
      });
      const subjects = [
        { name: "direct", request: direct(base), pid: child.pid },
        { name: PIPES, request: direct(`http://127.0.0.1:${ports.pipe}`), pid },
        { name: READS, request: direct(`http://127.0.0.1:${ports.read}`), pid },
        { name: "Toolbooth", request: through(toolbooth), pid },
        ...rivals.map(({ name, fronts, request, pid }) => ({ name, fronts, request: through(request), pid })),
      ];
      return await measure(subjects, { log, chunks });
    }, { output: "ignore" });
  } finally {
    for (const rival of rivals) await rival.close();
    child.kill("SIGKILL");
  }
}

async function measure(subjects, { log, chunks }) {
  const values = new Map();
  const of = (route, name, what) => values.get(`${route.title} ${name} ${what}`) ?? [];
  const own = (route) => subjects.filter(({ fronts }) => fronts === undefined || fronts.includes(route.front.name));
  // The rounds interleave the subjects, so that interference hits all of them. The first round only warms up.
  const rounds = async (use) => {
    for (let round = 0; round <= ROUNDS; round++) {
      log(`round ${round} of ${ROUNDS}`);
      for (const route of ROUTES) {
        for (const { name, request, pid } of own(route)) {
          const record = (what, value) => round > 0 && values.set(`${route.title} ${name} ${what}`, [...of(route, name, what), value]);
          await use((kind) => timed(request(route, kind)), record, pid);
        }
      }
    }
  };
  const short = async (ask, record) => {
    for (let at = 0; at < BATCH; at++) record("whole", (await ask("unary")).whole);
    for (let at = 0; at < STREAMS; at++) record("first", (await ask("short")).first);
  };
  if (!chunks) await rounds(short);
  await rounds(async (ask, record, pid) => {
    const before = cpu(pid);
    for (let at = 0; at < LONG_STREAMS; at++) await ask("long");
    record("cpu", (cpu(pid) - before) / LONG_STREAMS / (CHUNKS / 1000));
  });
  return Promise.all(
    ROUTES.flatMap((route) =>
      own(route).map(async ({ name, pid }) => {
        const [whole, first] = [of(route, name, "whole"), of(route, name, "first")];
        // The least: what else the machine does can only add to it.
        const least = Math.min(...of(route, name, "cpu"));
        return { route, name, p50: median(whole), p99: quantile(whole, 0.99), first50: median(first), first99: quantile(first, 0.99), cpu: least, rss: await rss(pid) };
      }),
    ),
  );
}

const ms = (value) => (Number.isNaN(value) ? "" : value.toFixed(value < 10 ? 2 : 1));
const signed = (value) => (value < 0 || Number.isNaN(value) ? ms(value) : `+${ms(value)}`);

/** The rows as tables, and whether the targets are met. */
export function report(rows) {
  const own = (route) => rows.filter((row) => row.route === route);
  const parts = [];
  for (const route of ROUTES) {
    const [base, pipe] = own(route);
    parts.push(`**${route.title}**\n`);
    parts.push("| | Added p50, ms | p99, ms | First chunk p50, ms | p99, ms | × pipe | CPU per 1,000 chunks, ms | Memory, MB |\n|---|---:|---:|---:|---:|---:|---:|---:|");
    for (const row of own(route)) {
      const added = row === base ? [`(${ms(row.p50)})`, `(${ms(row.p99)})`] : [signed(row.p50 - base.p50), signed(row.p99 - base.p99)];
      const ratio = row === base ? "" : (row.first50 / pipe.first50).toFixed(2);
      const usage = row === base ? ["", ""] : [ms(row.cpu), row.rss.toFixed(0)];
      parts.push(`| ${[row.name, ...added, ms(row.first50), ms(row.first99), ratio, ...usage].join(" | ")} |`);
    }
    parts.push("");
  }
  const find = (route, name) => own(route).find((row) => row.name === name);
  const added = (route, name) => find(route, name).p50 - find(route, "direct").p50;
  // Not every gateway has every format.
  const times = (name) => (route) => (find(route, name) ? added(route, "Toolbooth") / added(route, name) : undefined);
  // A format that passes through costs what the chats with the same provider cost.
  const chat = (route) => ROUTES.find(({ front, provider }) => front === FRONTS.chat && provider === route.provider);
  const besides = (route) => (route.front === FRONTS.chat ? undefined : find(route, "Toolbooth").cpu / find(chat(route), "Toolbooth").cpu);
  const has = (name) => rows.some((row) => row.name === name);
  const targets = [
    ["overhead, × Portkey's", 0.45, times("Portkey"), has("Portkey")],
    ["overhead, × LiteLLM's", 0.1, times("LiteLLM"), has("LiteLLM")],
    ["first chunk, × that of a Worker that only pipes", 1.8, (route) => find(route, "Toolbooth").first50 / find(route, PIPES).first50, true],
    ["CPU per 1,000 chunks, × that of a Worker that reads and writes each", 1.15, (route) => find(route, "Toolbooth").cpu / find(route, READS).cpu, true],
    ["CPU per 1,000 chunks, × that of chats", 1.05, besides, true],
  ];
  parts.push(`| Target | ${ROUTES.map(({ short }) => short).join(" | ")} | at most |\n|---|${ROUTES.map(() => "---:|").join("")}---:|`);
  for (const [what, most, value, isMeasured] of targets) {
    if (isMeasured) parts.push(`| ${[what, ...ROUTES.map((route) => value(route)?.toFixed(2) ?? ""), most].join(" | ")} |`);
  }
  return parts.join("\n");
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { own: { type: "boolean" }, chunks: { type: "boolean" } } });
  const rows = await overhead({ log: (line) => process.stderr.write(`${line}\r`), ...values });
  console.log(report(rows));
  process.exit(0);
}
