// The ratios of the comparison: figures of the same round, so that what else the machine does affects both. Lower is better.
import { median } from "../statistics.mjs";
import { AT_ONCE, ROUTES as SESSIONS } from "./agents.mjs";
import { ROUTES } from "./overhead.mjs";
import { DIRECT, OURS, PIPES, READS } from "./subjects.mjs";

/** Below so many milliseconds, an addition is noise: it counts as so many. */
const LEAST = 0.02;
const added = (own, direct, figure) => Math.max(own[figure] - direct[figure], LEAST);

/**
 * All ratios: `{ id, title, group, what, route, kind, limit, ratio, passes }`. `passes` has that of each round, `ratio` is the median, and `limit` is the
 * target, if there is one. What was not measured is left out.
 */
export function ratios({ short, sessions }) {
  const all = { short: shortRatios(short ?? []), session: sessionRatios(sessions ?? []) };
  return Object.entries(all).flatMap(([group, list]) =>
    list.map((one) => ({ ...one, group, id: `${group}: ${one.route}: ${one.what}`, title: `${one.what}; ${one.route}`, ratio: median(one.passes) })),
  );
}

function shortRatios(rows) {
  const find = (route, name) => rows.find((row) => row.route === route && row.name === name)?.rounds;
  const chat = (route) => ROUTES.find(({ front, provider }) => front.name === "chat" && provider === route.provider);
  return ROUTES.flatMap((route) => {
    const [own, direct] = [find(route, OURS), find(route, DIRECT)];
    const to = (what, kind, limit, rounds, value) => (own && rounds ? [{ what, route: route.short, kind, limit, passes: own.map((round, at) => value(round, rounds[at], direct[at])) }] : []);
    const time = (round, other, base) => added(round, base, "p50") / added(other, base, "p50");
    return [
      ...to("overhead, × Portkey's", "time", 0.45, find(route, "Portkey"), time),
      ...to("overhead, × LiteLLM's", "time", 0.1, find(route, "LiteLLM"), time),
      ...to("first chunk, × that of a Worker that only pipes", "time", 1.8, find(route, PIPES), (round, other) => round.first50 / other.first50),
      ...to("CPU per 1,000 chunks, × that of a Worker that reads and writes each", "cpu", 1.15, find(route, READS), (round, other) => round.cpu / other.cpu),
      // A format that passes through costs what the chats with the same provider cost.
      ...to("CPU per 1,000 chunks, × that of chats", "cpu", 1.05, route === chat(route) ? undefined : find(chat(route), OURS), (round, other) => round.cpu / other.cpu),
    ];
  });
}

function sessionRatios(rows) {
  const find = (route, name, count) => rows.find((row) => row.route === route && row.name === name && !row.problem)?.rounds[count];
  return SESSIONS.flatMap((route) => {
    const to = (what, kind, limit, name, count, value) => {
      const [own, other, direct] = [OURS, name, DIRECT].map((subject) => find(route, subject, count));
      return own && other ? [{ what, route: route.short, kind, limit, passes: own.map((round, at) => value(round, other[at], direct[at])) }] : [];
    };
    const p99 = (round, other, base) => added(round, base, "p99") / added(other, base, "p99");
    return [
      ...to("p99 added with 16 at once, × that of a Worker that only pipes", "time", 1.5, PIPES, 16, p99),
      ...AT_ONCE.flatMap((count) => to(`p99 added with ${count} at once, × Portkey's`, "time", 1, "Portkey", count, p99)),
      ...to("CPU per request, × that of a Worker that reads and writes each chunk", "cpu", undefined, READS, 16, (round, other) => round.cpu / other.cpu),
    ];
  });
}
