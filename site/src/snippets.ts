// The same call as curl, Python and TypeScript. The key is a variable in all of them.
import { ExactNumber, type Json, isObject, stringify } from "./json.ts";

export const LANGUAGES = ["curl", "Python", "TypeScript"] as const;
export type Language = (typeof LANGUAGES)[number];

/** JSON of more characters is written in several lines. */
const LONG = 48;

export interface Call {
  url: string;
  headers: Record<string, string>;
  body: Json;
  /** Whether callers need a key. */
  withKey: boolean;
}

export function snippet(language: Language, call: Call): string {
  switch (language) {
    case "curl":
      return curl(call);
    case "Python":
      return python(call);
    case "TypeScript":
      return typescript(call);
  }
}

function curl({ url, headers, body, withKey }: Call): string {
  const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const lines = [
    `curl ${url}`,
    ...(withKey ? [`-H "Authorization: Bearer $TOOLBOOTH_KEY"`] : []),
    ...Object.entries({ "content-type": "application/json", ...headers }).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
    `-d ${shell(stringify(body).length <= LONG ? stringify(body) : stringify(body, 2).replaceAll("\n", "\n  "))}`,
  ];
  return lines.join(" \\\n  ");
}

function python({ url, headers, body, withKey }: Call): string {
  const entries = Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  const key = withKey ? [`"authorization": f"Bearer {os.environ['TOOLBOOTH_KEY']}"`] : [];
  const all = [...key, ...entries];
  return [
    ...(withKey ? ["import os"] : []),
    "import requests",
    "",
    "response = requests.post(",
    `    ${JSON.stringify(url)},`,
    ...(all.length > 0 ? [`    headers={${all.join(", ")}},`] : []),
    `    json=${literal(body, "    ")},`,
    ")",
    "print(response.json())",
  ].join("\n");
}

/** A value as Python writes it. */
function literal(value: Json, indent: string): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" || value instanceof ExactNumber) return stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value) ? value.map((item) => literal(item, inner)) : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literal(item, inner)}`);
  const [open, close] = isObject(value) ? ["{", "}"] : ["[", "]"];
  const short = `${open}${items.join(", ")}${close}`;
  return short.length <= LONG && !short.includes("\n") ? short : `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}

/** Whether the value has a number that JavaScript would write in another way, or even round. */
function isExact(value: Json): boolean {
  if (value instanceof ExactNumber) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isExact);
}

function typescript({ url, headers, body, withKey }: Call): string {
  const all = [
    ...(withKey ? ["authorization: `Bearer ${process.env.TOOLBOOTH_KEY}`"] : []),
    ...Object.entries({ "content-type": "application/json", ...headers }).map(([name, value]) => `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: "POST",`,
    `  headers: {`,
    ...all.map((header) => `    ${header},`),
    `  },`,
    `  body: ${isExact(body) ? JSON.stringify(stringify(body)) : `JSON.stringify(${stringify(body, 2).replaceAll("\n", "\n  ")})`},`,
    `});`,
    `console.log(JSON.stringify(await response.json(), null, 2));`,
  ].join("\n");
}
