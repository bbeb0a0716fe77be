// What a gateway adds to a short request: time, time to the first chunk, and the CPU of long streams. One request at a time.
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { median, quantile } from "../statistics.mjs";
import { bytesOf, load, open } from "./client.mjs";
import { cpu, memory } from "./processes.mjs";
import { DIRECT } from "./subjects.mjs";

/** The rounds, and the requests of a subject in one of them: whole answers, streams of 20 chunks, and streams of 1,000. */
export const FULL = { rounds: 8, unary: 40, short: 20, long: 5 };
export const SMOKE = { rounds: 1, unary: 3, short: 2, long: 1 };
/** The most seconds that the requests of one kind may take in a round. */
const SECONDS = 5;
const CHUNKS = 1000;

/** Which client's format goes to which provider. The last two pass through as they are. */
export const ROUTES = [
  { front: FRONTS.chat, provider: "openai", title: "Chat Completions to OpenAI", short: "chat → OpenAI" },
  { front: FRONTS.chat, provider: "anthropic", title: "Chat Completions to Anthropic", short: "chat → Anthropic" },
  { front: FRONTS.messages, provider: "anthropic", title: "Messages to Anthropic", short: "Messages → Anthropic" },
  { front: FRONTS.responses, provider: "openai", title: "Responses to OpenAI", short: "Responses → OpenAI" },
];

/** The request of a kind in the format of a front. */
const body = (kind) => (front) =>
  front.request({ max_tokens: 100, messages: [{ role: "user", content: kind === "long" ? "A long answer." : "A short answer." }], ...(kind !== "unary" && { stream: true }) });

function accept({ status, body }) {
  if (status !== 200 || !body.includes("word0")) throw new Error(`answered ${status} ${body.toString().slice(0, 300)}`);
}

/** Measures all subjects. Returns a row for each subject on each route: `{ route, name, rounds, whole, first, memory }`. */
export async function overhead(subjects, plan, log) {
  const rows = ROUTES.flatMap((route) =>
    subjects.filter(({ offers }) => offers(route)).map(({ name, pid, ask }) => {
      const requests = Object.fromEntries(["unary", "short", "long"].map((kind) => [kind, ask(route, body(kind))]));
      return { route, name, pid, requests, rounds: [], whole: [], first: [] };
    }),
  );
  for (let round = 0; round <= plan.rounds; round += 1) {
    log(`short requests, round ${round} of ${plan.rounds}`);
    // Alternately forwards and backwards, so that no subject always follows the same one. The first round only warms up.
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      const { whole, first, cpu } = await measure(row, plan);
      if (round === 0) continue;
      row.whole.push(...whole);
      row.first.push(...first);
      row.rounds.push({ p50: median(whole), first50: median(first), cpu });
    }
  }
  for (const row of rows) row.memory = memory(row.pid);
  return rows;
}

async function measure({ pid, requests: { unary, short, long } }, plan) {
  const connections = open(unary.url, 1);
  const send = (request, requests) => load(connections, bytesOf(request), { requests, seconds: SECONDS }, accept);
  try {
    const { whole } = await send(unary, plan.unary);
    const { first } = await send(short, plan.short);
    const before = cpu(pid);
    const { requests } = await send(long, plan.long);
    return { whole, first, cpu: (cpu(pid) - before) / requests / (CHUNKS / 1000) };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The figures of a subject on a route, and what it adds to the direct request. */
export function summary(rows, { route, name }) {
  const of = (subject) => rows.find((row) => row.route === route && row.name === subject);
  const [own, direct] = [of(name), of(DIRECT)];
  // The least: what else the machine does can only add to it.
  const least = Math.min(...own.rounds.map(({ cpu }) => cpu));
  const of99 = (values) => quantile(values, 0.99);
  return {
    p50: median(own.whole),
    p99: of99(own.whole),
    added50: median(own.whole) - median(direct.whole),
    added99: of99(own.whole) - of99(direct.whole),
    first50: median(own.first),
    first99: of99(own.first),
    cpu: least,
    memory: own.memory,
  };
}
