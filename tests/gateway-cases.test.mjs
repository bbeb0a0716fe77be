// The gateway in the cases in which gateways are known to go wrong, for each format of clients. bench/gateway/compare.mjs runs the
// same checks against other gateways.
import { after, before, test } from "node:test";
import { Gateway } from "./support/gateway/ask.mjs";
import { CASES, checksOf } from "./support/gateway/cases.mjs";
import { FRONTS } from "./support/gateway/fronts/index.mjs";
import { startGateway, STATE_KEY } from "./support/gateway/worker.mjs";

let served;
before(async () => (served = await startGateway({ vars: { STATE_KEY } })));
after(() => served.close());

for (const front of Object.values(FRONTS)) {
  for (const { number, title, checks } of CASES) {
    const own = checksOf(front, checks);
    if (own.length === 0) continue;
    test(`${front.name} ${number}: ${title}`, async (t) => {
      for (const { title, provider, run } of own) {
        await t.test(`${provider}: ${title}`, () => run(new Gateway(served.upstream, served.send, front)));
      }
    });
  }
}
