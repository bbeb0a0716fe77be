// The Worker as a gateway in front of the stand-ins.
import { startGateway } from "../../tests/support/gateway/worker.mjs";

export async function toolbooth(upstream) {
  const { worker, send } = await startGateway({ upstream });
  return { name: "Toolbooth", send, close: () => worker.close() };
}
