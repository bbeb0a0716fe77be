// The Worker as a gateway in front of the stand-ins.
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { compatible } from "../../tests/support/gateway/reports/recorder.mjs";
import { startGateway, STATE_KEY, targeted } from "../../tests/support/gateway/worker.mjs";

export async function toolbooth(upstream) {
  const { worker, send } = await startGateway({ upstream, vars: { STATE_KEY, ...(upstream.compat && compatible(upstream)) } });
  const asked = (provider, body, signal, front, target) => targeted(send, target)(provider, body, signal, front);
  return { name: "Toolbooth", fronts: Object.keys(FRONTS), offers: () => true, send: asked, close: () => worker.close() };
}
