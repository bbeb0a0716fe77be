// The Worker as a gateway in front of the stand-ins.
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { startGateway, STATE_KEY } from "../../tests/support/gateway/worker.mjs";

export async function toolbooth(upstream) {
  const { worker, send } = await startGateway({ upstream, vars: { STATE_KEY } });
  return { name: "Toolbooth", fronts: Object.keys(FRONTS), send, close: () => worker.close() };
}
