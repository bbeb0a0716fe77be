import { tool, ToolError, type Context } from "toolbooth";
import type { Input, Output } from "./probe.types.js";

/** The first half of a surrogate pair. */
const HALF = "😀".slice(0, 1);

const ACTIONS: Record<string, (any: any, context: Context) => unknown> = {
  return: async (any) => any,
  "return at once": (any) => any,
  nothing: () => undefined,
  number: async () => 10n,
  "half a pair": (_, context) => {
    context.log("info", `a${HALF}`);
    return { [HALF]: ["😀".slice(1), `${HALF}${HALF}b`, "\\ud83d", `\\${HALF}`, "😀"] };
  },
  "half a pair in an error": () => {
    throw new ToolError(`a${HALF}`, { prompt: HALF });
  },
  error: async (any) => {
    throw new ToolError("It does not work", any);
  },
  throw: async (any) => {
    throw new RangeError(`the input is ${any}`);
  },
  "throw at once": (any) => {
    throw `the input is ${any}`;
  },
  recurse: function recurse(any, context): unknown {
    return [recurse(any, context)];
  },
  exit: () => (globalThis as any).process.exit(1),
  "exit later": async () => {
    await 0;
    (globalThis as any).process.exit(1);
  },
  never: () => new Promise(() => {}),
  forget: async () => {
    void (async () => {
      await 0;
      throw new RangeError("nobody waits for this");
    })();
    return "forgotten";
  },
  fetch: async ({ url, ...init }, context) => {
    const response = await context.fetch(url, init);
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  },
  store: async ({ method, args }, { store }) => (store as any)[method](...args),
  env: async (name, { env }) => typeof (env as any)[name],
  user: (_, { user }) => user,
  secret: (name, context) => context.secret(name),
  "show context": (_, context) => JSON.stringify(context),
  "odd notes": (_, context) => {
    context.progress("1" as any, 0 / 0);
    context.progress(0 / 0);
    context.log(7 as any, 8 as any);
    return "done";
  },
  "circular state": (_, context) => {
    const state: any = {};
    state.state = state;
    throw context.ask({ name: { form: "Who is it?", schema: { type: "object" } } }, state);
  },
  notify: async (_, context) => {
    for (const done of [0 / 0, 1, 1, 2]) context.progress(done, 2, `step ${done}`);
    context.log("warning", "careful");
    context.warn("slow", { service: "orders" });
  },
  report: async (url, context) => {
    context.progress(1, 2, "begun");
    context.log("info", "begun");
    const answer = await (await context.fetch(url)).text();
    context.progress(2, 2, "done");
    context.log("info", "done");
    return answer;
  },
  ask: async (_, context) => {
    const given = context.answer<{ name: string }>("name");
    if (given) return { ...given, state: context.state, can: context.can("form") };
    throw context.ask({ name: { form: "Who is it?", schema: { type: "object", properties: { name: { type: "string" } } } } }, { round: 1 });
  },
};

export default tool<Input, Output>((input, context) => {
  const action = ACTIONS[input.do];
  if (!action) throw new ToolError("There is no such action");
  return action(input.any, context);
});
