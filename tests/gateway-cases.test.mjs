// The chat gateway in the 18 cases in which gateways are known to go wrong. bench/gateway/compare.mjs runs the same checks
// against other gateways.
import { after, before, test } from "node:test";
import { Gateway } from "./support/gateway/ask.mjs";
import { CASES } from "./support/gateway/cases.mjs";
import { startGateway } from "./support/gateway/worker.mjs";

let served;
before(async () => (served = await startGateway()));
after(() => served.close());

for (const { number, title, checks } of CASES) {
  test(`${number}: ${title}`, async (t) => {
    for (const { title, provider, run } of checks) {
      await t.test(`${provider}: ${title}`, () => run(new Gateway(served.upstream, served.send)));
    }
  });
}
