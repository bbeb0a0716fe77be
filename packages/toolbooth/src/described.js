// Creates a tool without a function: its definition describes the request, and toolkit.json has its variables.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./process.js";
import { jsonOf } from "./texts.js";
import { isOfWorker } from "./variables.js";

/**
 * Writes the definition `file` of a tool that reads an item of a service, with an example and its recorded response. Adds the
 * variable with the service's address, and `secret`, to the toolkit's variables.
 */
export function describeTool({ toolkit, tool, version, description, isReadOnly, scopes, secret, folder, file }) {
  const base = `${toolkit.toUpperCase()}_URL`;
  if (isOfWorker(base)) throw new Failure(`The Worker itself uses the name ${base} of the variable with the service's address: choose a different id`, 2);
  const shared = join(folder, "toolkit.json");
  const { variables = {}, ...others } = existsSync(shared) ? jsonOf(shared) : {};
  for (const [name, kind] of [[base, "base"], ...(secret ? [[secret, "secret"]] : [])]) {
    variables[name] ??= { kind };
    if (variables[name].kind !== kind) throw new Failure(`${shared} has ${name} as "${variables[name].kind}": choose a different name`, 2);
  }
  const address = variables[base].default ?? `https://${base.toLowerCase()}.example`;
  const [method, body] = isReadOnly ? ["GET", {}] : ["POST", { body: { type: "json", properties: { text: "text" }, required: true } }];
  const text = isReadOnly ? {} : { text: { type: "string", maxLength: 1000, description: "A text." } };
  const definition = {
    id: `${toolkit}.${tool}@${version}`,
    name: `${toolkit}_${tool}`,
    description,
    version,
    input_schema: {
      type: "object",
      properties: { id: { type: "string", minLength: 1, maxLength: 100, description: "The id of the item." }, ...text },
      required: ["id"],
      additionalProperties: false,
    },
    output_schema: {},
    ...(scopes.length > 0 && { scopes }),
    http: {
      method,
      base,
      path: "/items/{id}",
      parameters: [{ property: "id", in: "path", name: "id" }],
      ...body,
      ...(secret && { auth: { secret, in: "header", name: "Authorization", scheme: "Bearer" } }),
    },
    annotations: { read_only: isReadOnly, destructive: !isReadOnly, idempotent: isReadOnly, open_world: true },
    examples: [{ input: { id: "7" }, request: `${method} ${address}/items/7`, response: { status: 200, body: { name: "Ada" } }, value: { name: "Ada" } }],
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(definition, null, 2)}\n`);
  writeFileSync(shared, `${JSON.stringify({ ...others, variables }, null, 2)}\n`);
  console.log(`Wrote ${file}, and its variables in ${shared}.`);
  console.log("Add to .dev.vars, which the development server reads when you save it:");
  for (const name of [base, ...(secret ? [secret] : [])]) console.log(`  ${name}=${name === base ? "https://…" : "…"}`);
  console.log(`For a deployed Worker, set ${base} in wrangler.toml${secret ? `, and run npx wrangler secret put ${secret}` : ""}.`);
  console.log("Edit the definition, then run the tests: they include its examples.");
}
