// What works where the store does not have the latest writes, and where it fails.
import { agree, begin, call, connect, discover, exchange, outcome, refresh, register, revoke, visit } from "../client.mjs";

/** Lets the place `behind` have what is stored now, or nothing. */
async function behind(server, isEmpty = false) {
  const body = isEmpty ? "[]" : await (await server.fetch.main(`${server.base}/stored`)).text();
  await server.fetch.behind(`${server.base}/store`, { method: "POST", body });
}

const at = (place) => ({
  metadata: (server) => outcome(discover(server, place)),
  registration: (server) => outcome(register(server, {}, place)),
  authorization: async (server) => visit(await begin(server), place),
  async exchange(server) {
    const one = await begin(server);
    return outcome(exchange(one, await agree(one), { place }));
  },
  call: async (server) => call(server, (await connect(server)).tokens.access_token, place),
  async refresh(server) {
    const one = await connect(server);
    return outcome(refresh(one, one.tokens.refresh_token, { place }));
  },
  async revocation(server) {
    const one = await connect(server);
    return outcome(revoke(one, one.tokens.refresh_token, place));
  },
});

const SEALED = "The content of codes, tokens and registrations is sealed into them";
const UNKNOWN = "Whether it was used or revoked is unknown, so the response asks the client to try again";
const cases = (what, place, whys) => Object.entries(at(place)).map(([name, run]) => ({ title: `${what}: ${name}`, why: whys[name], run: (server) => behind(server, true).then(() => run(server)) }));

export const STORE = [
  ...cases("KV has nothing of the last minute", "behind", { authorization: SEALED, exchange: SEALED, call: SEALED, refresh: SEALED, revocation: SEALED }),
  {
    title: "KV does not have an exchange yet: the code again",
    async run(server) {
      const one = await begin(server);
      const callback = await agree(one);
      await behind(server);
      await exchange(one, callback);
      return outcome(exchange(one, callback, { place: "behind" }));
    },
  },
  {
    title: "KV does not have a revocation yet: refresh",
    async run(server) {
      const one = await connect(server);
      await behind(server);
      await revoke(one, one.tokens.refresh_token);
      return outcome(refresh(one, one.tokens.refresh_token, { place: "behind" }));
    },
  },
  ...cases("KV fails", "failing", {
    registration: SEALED,
    authorization: SEALED,
    exchange: UNKNOWN,
    call: "A call does not depend on KV: until it can be read, tokens end when they expire",
    refresh: UNKNOWN,
    revocation: "The grant could not be marked, so the response asks the client to try again",
  }),
];
