// What a gateway adds to the requests of coding agents: 100 KB of tools and history, several at once, with streamed answers.
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { median, quantile } from "../statistics.mjs";
import { bytesOf, load, open } from "./client.mjs";
import { cpu, memory } from "./processes.mjs";
import { CALLED, chat, claudeCode, codex } from "./sessions.mjs";
import { DIRECT } from "./subjects.mjs";

/** How many requests are under way at once. */
export const AT_ONCE = [1, 4, 16];
/** The rounds, and the most requests and seconds of a subject in one of them. The first round only warms up. */
export const FULL = { rounds: 5, requests: { 1: 30, 4: 60, 16: 200 }, seconds: 1.2 };
export const SMOKE = { rounds: 1, requests: { 1: 4, 4: 8, 16: 32 }, seconds: 0.3 };

const SESSIONS = { chat, messages: claudeCode, responses: codex };
/** Which agent's requests go to which provider. */
export const ROUTES = [
  { front: FRONTS.messages, provider: "anthropic", title: "Claude Code to Anthropic", short: "Claude Code → Anthropic" },
  { front: FRONTS.messages, provider: "openai", title: "Claude Code to OpenAI", short: "Claude Code → OpenAI" },
  { front: FRONTS.responses, provider: "openai", title: "Codex to OpenAI", short: "Codex → OpenAI" },
  { front: FRONTS.responses, provider: "anthropic", title: "Codex to Anthropic", short: "Codex → Anthropic" },
  { front: FRONTS.chat, provider: "openai", title: "An agent with Chat Completions to OpenAI", short: "chat → OpenAI" },
  { front: FRONTS.chat, provider: "anthropic", title: "An agent with Chat Completions to Anthropic", short: "chat → Anthropic" },
];
const BODIES = Object.fromEntries(Object.entries(SESSIONS).map(([front, build]) => [front, build()]));

/** Whether what reached the provider is the whole session: nothing in it may be left out, but a format may be shorter. */
const WHOLE = 0.8;

/** What LiteLLM says of an answer that comes from its Rust core. */
const RUST = /\r\nx-litellm-rust: true/i;

/** Sends a request as the agent does. Returns `{ problem, isRust }`: why it cannot be measured, if it cannot, and whether LiteLLM's Rust core has answered. */
async function tried(request, provider) {
  const [connection] = open(request.url, 1);
  try {
    await connection.ready();
    const { status, head, body } = await connection.send(bytesOf(request));
    if (status !== 200) return { problem: `${status}: ${body.toString().replaceAll(/\s+/g, " ").slice(0, 300)}` };
    if (!isWhole({ status, body })) return { problem: `not the provider's answer: ${body.toString().slice(-300)}` };
    const arrived = Number(await (await fetch(`${provider.base}/last`)).text());
    if (arrived < request.body.length * WHOLE) return { problem: `${arrived} of ${request.body.length} bytes reached the provider` };
    return { isRust: RUST.test(head) };
  } catch (error) {
    return { problem: error.message };
  } finally {
    connection.close();
  }
}

/** Whether an answer has the last word and the call. */
const isWhole = ({ status, body }) => status === 200 && body.includes("word59") && body.includes(CALLED);

function accept(answer) {
  if (!isWhole(answer)) throw new Error(`answered ${answer.status} ${answer.body.toString().slice(-500)}`);
}

/**
 * Measures all subjects. Returns a row for each subject on each route: `{ route, name, problem, isRust, memory, rounds }`, where `rounds[n]` are
 * the results with n requests at once: `[{ p50, p99, first50, first99, rate, cpu }]`.
 */
export async function agents(provider, subjects, plan, log) {
  const rows = [];
  for (const route of ROUTES) {
    const own = subjects.filter(({ offers }) => offers(route));
    for (const { name, pid, ask } of own) {
      const request = ask(route, (front) => BODIES[front.name]);
      const { problem, isRust } = await tried(request, provider);
      if (problem) log(`${name}, ${route.title}: ${problem}`);
      rows.push({ route, name, pid, request: { url: request.url, bytes: bytesOf(request) }, problem, isRust, rounds: Object.fromEntries(AT_ONCE.map((count) => [count, []])) });
    }
  }
  const measured = rows.filter(({ problem }) => !problem);
  for (let round = 0; round <= plan.rounds; round += 1) {
    log(`sessions, round ${round} of ${plan.rounds}`);
    for (const route of ROUTES) {
      for (const count of AT_ONCE) {
        const inRound = measured.filter((row) => row.route === route);
        // Alternately forwards and backwards, so that no subject always follows the same one.
        for (const row of round % 2 === 0 ? inRound : inRound.toReversed()) {
          const result = await measure(row, count, { requests: plan.requests[count], seconds: plan.seconds });
          if (round > 0) row.rounds[count].push(result);
        }
      }
    }
  }
  for (const row of measured) row.memory = memory(row.pid);
  return rows;
}

async function measure({ pid, request: { url, bytes } }, count, most) {
  const connections = open(url, count);
  try {
    await load(connections, bytes, { requests: count, seconds: 0 }, accept);
    const before = cpu(pid);
    const { requests, seconds, first, whole } = await load(connections, bytes, most, accept);
    const used = (cpu(pid) - before) / requests;
    return { p50: median(whole), p99: quantile(whole, 0.99), first50: median(first), first99: quantile(first, 0.99), rate: requests / seconds, cpu: used };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The results of a subject with so many requests at once: the median of each figure over the rounds, and what it adds to the direct ones. */
export function summary(rows, { route, name }, count) {
  const of = (subject) => rows.find((row) => row.route === route && row.name === subject).rounds[count];
  const rounds = of(name);
  const middle = (value) => median(rounds.map(value));
  const added = (figure) => middle((result, at) => result[figure] - of(DIRECT)[at][figure]);
  const figures = ["p50", "p99", "first50", "first99", "rate", "cpu"];
  return { ...Object.fromEntries(figures.map((figure) => [figure, middle((result) => result[figure])])), added50: added("p50"), added99: added("p99") };
}
