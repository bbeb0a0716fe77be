// The measured Workers, and the rows of the tables: each is a request to one Worker.
import { join } from "node:path";

import { verifyAccess } from "./access.mjs";
import { constant, lists, verifyLists } from "./lists.mjs";
import { Connection, get } from "./load.mjs";
import { loggers, verifyLines } from "./logged.mjs";
import * as order from "./order.mjs";
import { ROOT } from "./paths.mjs";
import { CALLS, verifyProtocols } from "./protocols.mjs";
import { calculator, catalogue } from "./tools.mjs";
import { CALL, SCRIPTED_CALL, alike, verify } from "./verify.mjs";
import { configure, serve } from "./workerd.mjs";
import { ours, service, written, yardsticks } from "./workers.mjs";

const CALCULATOR = "tests/samples/calculator";

/** Our Worker with the sample tools. */
export const deployed = () => ours("ours", "ours", join(ROOT, "target/samples"));

/** Ours with this number of tools. */
export async function ofSize(count, log) {
  const title = `ours, ${count.toLocaleString("en")} ${count === 1 ? "tool" : "tools"}`;
  log(title);
  const name = `tools-${count}`;
  return ours(name, title, await catalogue(name, [CALCULATOR], { generated: count - 1 }));
}

/**
 * `{ basic, workers, rows, verify }`: `basic` are the Workers of the plain call, whose startup is also
 * measured; `verify(ports)` throws unless all responses are correct. A row is
 * `{ id, group, title, worker, request, status }`; its `group` is its table in the report.
 */
export async function subjects(catalogues, ways, log) {
  const own = await deployed();
  const [none, echo, ...services] = await yardsticks();
  const basic = [none, echo, ...services, own];
  for (const count of catalogues) basic.push(await ofSize(count, log));
  log("ours, the tool of the realistic call");
  const orders = [
    ...(await Promise.all(written("order-", "order", order.definition))),
    await ours("order-ours", "ours", await catalogue("order", [CALCULATOR, "bench/order"], { scripted: true })),
  ];
  const guarded = ways.map(({ name, title, variables }) => ({ name, title, variables, modules: own.modules }));
  const byHand = await handwritten(ways);
  const logging = await loggers(own.modules);
  const recorded = await answersOf(own, lists);
  const constants = recorded.map(constant);

  const row = (group, id, title, worker, request, status = 200) => ({ group, id, title, worker, request, status });
  const rows = [
    ...basic.map(({ name, title }) => row("call", name, title, name, CALL)),
    ...logging.map(({ name, title }) => row("log", name, title, name, CALL)),
    ...CALLS.map(({ title, request }) => row("protocol", title, title, "ours", request)),
    ...[...ways, byHand].map(({ name, title, request }) => row("access", name, title, name, request)),
    row("order", "order-echo", "echo Worker", "echo", order.CALL),
    ...orders.map(({ name, title }) => row("order", name, title, name, order.CALL)),
    row("order", "order-typescript", "ours, the function in TypeScript", "order-ours", order.SCRIPTED_CALL),
    // In one Worker, so that only the language differs.
    row("script", "sum-rust", "a sum, in Rust", "order-ours", CALL),
    row("script", "sum-typescript", "a sum, in TypeScript", "order-ours", SCRIPTED_CALL),
    row("list", "list-null", "null Worker", "null", get("/")),
    ...recorded.flatMap(({ name, title, request, answer: { status, body } }, at) => [
      { ...row("list", name, title, "ours", request, status), bytes: body.length },
      row("list", `${name}-constant`, title, constants[at].name, request, status),
    ]),
  ];
  return {
    basic,
    workers: [...basic, ...logging, ...orders, ...guarded, byHand, ...constants],
    rows,
    async verify(ports) {
      const answers = [];
      for (const { name } of basic) answers.push([name, await verify(name, ports[name])]);
      alike(answers);
      await verifyLines(logging);
      await verifyProtocols(ports.ours);
      await verifyAccess([...ways, byHand], ports);
      await order.verifyOrder(orders.map(({ name }) => name), ports);
      await order.verifyScripted(ports["order-ours"], SCRIPTED_CALL);
      await verifyLists(recorded, ports);
    },
  };
}

/** The service in JavaScript that accepts the same API key, as a further method of authentication. */
async function handwritten(ways) {
  const { variables, request } = ways.find(({ name }) => name === "access-key");
  const { modules } = await service("ajv-key", "", "add", await calculator());
  return { name: "access-key-ajv", title: "API key, JavaScript + AJV", variables, request, modules };
}

/** The responses of one Worker to the requests of `ask`. */
async function answersOf(worker, ask) {
  return serve(await configure([worker]), async ({ ports }) => {
    const connection = await Connection.open(ports[worker.name]);
    const answers = await ask(connection);
    connection.close();
    return answers;
  });
}
