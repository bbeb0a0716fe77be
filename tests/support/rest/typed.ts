// Calls the Worker with its own typed client.
//   node typed.ts address
import { CallError, Client, SERVER } from "./client.ts";

const [, , address = ""] = process.argv;
const client = new Client({ key: async () => "not needed" });

const value: number = await client.call("Calculator_Add", { a: 2, b: 40 });
const { slug }: { slug: string } = await client.call("Text_Slugify", { text: "Crème brûlée", separator: "_" });
const reason = await client.call("Doorbell_Ring", { doorbell_id: "doorbell1" }).catch((error: unknown) => {
  if (error instanceof CallError) return { message: error.message, prompt: error.problem.prompt };
  throw error;
});
const nowhere = new Client({ address: `${address}/nowhere` });
const missing = await nowhere.call("Calculator_Add", { a: 1, b: 1 }).catch(({ problem }: CallError) => problem.status);

// Never called: the types reject them.
export const wrong = () => [
  // @ts-expect-error A number is missing.
  client.call("Calculator_Add", { a: 2 }),
  // @ts-expect-error There is no such unit.
  client.call("Weather_Current", { city: "Berlin", units: "rankine" }),
  // @ts-expect-error There is no such tool.
  client.call("Calculator_Divide", {}),
];

console.log(JSON.stringify({ server: SERVER, value, slug, reason, missing }));
