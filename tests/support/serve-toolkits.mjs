// Serves a Worker with all shipped toolkits for clients in other languages, and a stand-in for the services, which responds with an
// empty object. Prints the URL, and stops when its standard input ends.
//   node tests/support/serve-toolkits.mjs
import { TOOLKITS, standIn, variables } from "./toolkits.mjs";
import { TOOLKITS as WORKER, start } from "./worker.mjs";

const service = await standIn();
service.example = { response: { status: 200, body: {} } };
const scopes = TOOLKITS.flatMap(({ definitions }) => definitions.flatMap(({ scopes = [] }) => scopes));
const worker = await start(WORKER, { vars: { ...variables(service.base), ANONYMOUS_SCOPES: [...new Set(scopes)].join(",") } });
console.log(worker.address);
process.stdin.resume().on("end", async () => {
  await worker.close();
  await service.close();
  process.exit(0);
});
