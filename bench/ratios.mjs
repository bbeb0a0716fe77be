// Defines the ratios of the benchmark: which measurements of the same round are compared.
import { BUDGET } from "./budget.mjs";
import { compare } from "./statistics.mjs";

const cost = ({ cost }) => cost;

/**
 * All ratios: `{ id, title, kind, ratio, low, high, passes, limit }`. Lower is better; `limit` is the
 * target, if there is one.
 */
export function ratios({ rows, basic }) {
  const row = (id) => rows.find((row) => row.id === id)?.passes;
  const start = (name) => basic.find((worker) => worker.name === name)?.starts;
  const calls = (title, of, to, limit) =>
    row(of) && row(to) && { id: `${of} / ${to}`, title, kind: "cost", limit, ...compare(row(of), row(to), cost) };
  const starts = (title, of, limit) =>
    start(of) && {
      id: `start of ${of} / echo`,
      title,
      kind: "start",
      limit,
      ...compare(start(of), start("echo"), (milliseconds) => milliseconds),
    };
  const group = (name) => rows.filter((row) => row.group === name);
  const flat = group("protocol").find(({ title }) => title === "OXP, flat");
  return [
    calls("A call: ours to echo", "ours", "echo"),
    calls("A call: ours to JavaScript + AJV", "ours", "ajv", 1),
    calls("A call: ours to Hono + AJV", "ours", "hono", 1),
    calls("A call that is logged: ours to Hono + AJV", "ours-logged", "hono-logged", 1),
    calls("A call with an API key: ours to echo", "access-key", "echo"),
    calls("A call with an API key: ours to JavaScript + AJV", "access-key", "access-key-ajv", 1),
    calls("A call with a token, HS256: ours to echo", "access-hs256", "echo"),
    calls("A call with a token, ES256: ours to echo", "access-es256", "echo"),
    calls("A realistic call: ours to JavaScript + AJV", "order-ours", "order-ajv", 1),
    calls("A realistic call: ours to Hono + AJV", "order-ours", "order-hono"),
    calls("A realistic call: ours to echo", "order-ours", "order-echo"),
    calls("A realistic call: a function in TypeScript to one in Rust", "order-typescript", "order-ours", 1.1),
    calls("A call: a function in TypeScript to one in Rust", "sum-typescript", "sum-rust", 1.1),
    calls("A call: ours with 1,000 tools to ours with 1", "tools-1000", "tools-1", 1.03),
    ...group("protocol")
      .filter((row) => row !== flat)
      .map(({ id, title }) => calls(`A call: ${title} to OXP, flat`, id, flat.id, 1.2)),
    ...group("list")
      .filter(({ worker }) => worker === "ours")
      .map(({ id, title }) => calls(`List: ${title}: ours to a constant response`, id, `${id}-constant`, 1.05)),
    starts("First response after a start: ours to echo", "ours", BUDGET.start),
    starts("First response after a start: ours with 1 tool to echo", "tools-1"),
    starts("First response after a start: ours with 1,000 tools to echo", "tools-1000"),
  ].filter(Boolean);
}

/** The ratios of the MCP servers, if the JavaScript packages were measured. */
export function mcpRatios(servers) {
  const ours = (tools) => servers.find(({ title, count }) => title === "ours" && count === tools)?.passes.call;
  if (ours(100) === undefined) return [];
  const { revision } = servers.find(({ title }) => title === "ours");
  const others = servers.filter((server) => server.documented && server.count === 100 && server.revision === revision);
  return [
    ...others.map(({ title, passes }) => ({
      title: `MCP, a call with 100 tools: ours to \`${title}\``,
      limit: 0.1,
      ...compare(ours(100), passes.call, cost),
    })),
    {
      title: "MCP, a call: ours with 1,000 tools to ours with 1",
      limit: 1.1,
      ...compare(ours(1000), ours(1), cost),
    },
  ];
}
