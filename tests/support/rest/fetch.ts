// Calls the Worker with openapi-fetch and the types that openapi-typescript generates from its document.
//   node fetch.ts address
import createClient from "openapi-fetch";
import type { paths } from "./openapi.d.ts";

const [, , baseUrl = ""] = process.argv;
const client = createClient<paths>({ baseUrl });

const sum = await client.POST("/rest/Calculator_Add", { body: { a: 2, b: 40 } });
const value: number | undefined = sum.data;
const ring = await client.POST("/rest/Doorbell_Ring", { body: { doorbell_id: "doorbell1" } });
const reason: string | undefined = ring.error?.detail;

// Never called: the types reject them.
export const wrong = () => [
  // @ts-expect-error A number is missing.
  client.POST("/rest/Calculator_Add", { body: { a: 2 } }),
  // @ts-expect-error There is no such unit.
  client.POST("/rest/Weather_Current", { body: { city: "Berlin", units: "rankine" } }),
  // @ts-expect-error There is no such tool.
  client.POST("/rest/Calculator_Divide", { body: {} }),
];

console.log(JSON.stringify({ value, reason, prompt: ring.error?.prompt }));
