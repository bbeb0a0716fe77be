// The gateway with inputs like those of bugs that were reported about gateways, for each format of clients. bench/gateway/compare.mjs runs the
// same checks against other gateways.
import { after, before, test } from "node:test";
import { Gateway } from "./support/gateway/ask.mjs";
import { checksOf } from "./support/gateway/cases.mjs";
import { FRONTS } from "./support/gateway/fronts/index.mjs";
import { REPORTS } from "./support/gateway/reports.mjs";
import { compatible, recorders } from "./support/gateway/reports/recorder.mjs";
import { startGateway, STATE_KEY, targeted } from "./support/gateway/worker.mjs";

let upstream, served;
before(async () => {
  upstream = await recorders();
  served = await startGateway({ upstream, vars: { STATE_KEY, ...compatible(upstream) } });
});
after(() => served.close());

for (const front of Object.values(FRONTS)) {
  for (const { number, title, checks } of REPORTS) {
    const own = checksOf(front, checks);
    if (own.length === 0) continue;
    test(`${front.name} ${number}: ${title}`, async (t) => {
      for (const { title, provider, target, run } of own) {
        await t.test(`${provider}: ${title}`, () => run(new Gateway(upstream, targeted(served.send, target), front)));
      }
    });
  }
}
