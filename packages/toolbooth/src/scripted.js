// Creates a tool whose function is in TypeScript: its definition, its function, the variables in toolkit.json, and a fake of its
// service for the tests. No Rust changes.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addDatabase, databaseBinding } from "./database.js";
import { definitionOf, summary } from "./definition.js";
import { Failure } from "./process.js";
import { jsonOf, textOf } from "./texts.js";
import { addConfiguration } from "./types.js";

/** Writes the tool. `folder` is that of the catalogue, `file` the definition. The other members are those of `tool` in tool.js. */
export function writeScript({ folder, file, toolkit, tool, description, isReadOnly, scopes, isHttp, isD1, secret, folderName, handler: raw, variable, service }) {
  const handler = raw.replace("r#", "");
  const code = join(folder, folderName, `${handler}.ts`);
  if (existsSync(code)) throw new Failure(`${code} already exists`, 2);
  const variables = isHttp ? withVariables(join(folder, folderName, "toolkit.json"), { variable, service, secret }) : undefined;
  mkdirSync(join(folder, folderName), { recursive: true });
  const binding = isD1 ? databaseBinding() : undefined;
  const table = `${folderName}_items`;
  writeFileSync(file, definitionOf({ toolkit, tool, description, isReadOnly, scopes, isHttp, binding, secret, variable }));
  const stub = { handler, description, isReadOnly, binding, table, variable, secret };
  writeFileSync(code, (isHttp ? remote : isD1 ? stored : local)(stub));
  if (variables) writeFileSync(variables.path, variables.text);
  const notes = [];
  if (isHttp) {
    notes.push(...addFake(join(folder, "services.mjs"), { service, secret }));
    const lines = [`${variable}=https://…`, ...(secret ? [`${secret}=…`] : [])];
    notes.push("Add to .dev.vars, which the development server reads when you save it:", ...lines.map((line) => `  ${line}`));
    notes.push(`For a deployed Worker, set ${variable} in wrangler.toml${secret ? `, and run npx wrangler secret put ${secret}` : ""}.`);
  }
  if (isD1) {
    notes.push(...addDatabase(table));
    notes.push("The tests create the tables in migrations/. For the development server, create them with:", `  npx wrangler d1 migrations apply ${binding} --local`);
    notes.push("For a deployed Worker, do the same with --remote after the first deployment.");
  }
  addConfiguration(folder);
  console.log(`Wrote ${file} and ${code}.`);
  for (const note of notes) console.log(note);
  console.log("Edit both, then run the tests: they include the examples of the definition.");
}

/** The toolkit's variables with those of the tool: the file, and its text. */
function withVariables(path, { variable, service, secret }) {
  const { variables = {}, ...others } = existsSync(path) ? jsonOf(path) : {};
  const added = [[variable, { kind: "base", default: service }], ...(secret ? [[secret, { kind: "secret" }]] : [])];
  for (const [name, declaration] of added) {
    variables[name] ??= declaration;
    if (variables[name].kind !== declaration.kind) throw new Failure(`${path} has ${name} as "${variables[name].kind}": choose a different name`, 2);
  }
  return { path, text: `${JSON.stringify({ ...others, variables }, null, 2)}\n` };
}

/** Lets the examples run against a fake of the service. Returns what to do by hand. */
function addFake(path, { service, secret }) {
  const item = `Response.json({ name: "Ada" })`;
  const answer = secret ? `request.headers.get("authorization") === "Bearer example-${secret}" ? ${item} : new Response("", { status: 401 })` : item;
  const route = `  if (request.url.startsWith("${service}/")) return ${answer};\n`;
  const services = /^export default \(request\) => \{\n/m;
  const text = existsSync(path) ? textOf(path) : `// Fakes of the services that the tools call, for their examples.\nexport default (request) => {\n};\n`;
  if (!services.test(text)) return [`Let ${path} answer its requests.`];
  if (!text.includes(route)) writeFileSync(path, text.replace(services, (start) => `${start}${route}`));
  return [];
}

const start = ({ handler, description }, imports) => `import { ${imports} } from "toolbooth";
import type { Input, Output } from "./${handler}.types.js";

/** ${summary(description).replaceAll("*/", "* /")} */
`;

const local = (stub) => `${start(stub, "tool")}export default tool<Input, Output>(({ text }) => {
  // Replace this line.
  return text;
});
`;

const stored = (stub) => `${start(stub, "tool, ToolError")}export default tool<Input, Output>(async ({ text }, { env }) => {
  const statement = env.${stub.binding}.prepare("${stub.isReadOnly ? `SELECT id FROM ${stub.table} WHERE text = ?1` : `INSERT OR IGNORE INTO ${stub.table} (text) VALUES (?1) RETURNING id`}");
  const item = await statement.bind(text).first<{ id: number }>();
  if (!item) throw new ToolError("${stub.isReadOnly ? "There is no such item" : "This item is already stored"}");
  return item.id;
});
`;

const remote = (stub) => `${start(stub, "pathSegment, tool, ToolError")}export default tool<Input, Output>(async ({ id }, context) => {
  const url = \`\${context.variable("${stub.variable}")}/items/\${pathSegment(id)}\`;
${stub.secret ? `  const headers = { authorization: \`Bearer \${context.secret("${stub.secret}")}\` };
  const response = await context.fetch(url, { headers });` : "  const response = await context.fetch(url);"}
  if (response.status === 404) throw new ToolError("There is no such item");
  if (response.status === 429 || response.status >= 500) throw new ToolError("The service is not available", { retryable: true });
  if (!response.ok) throw new ToolError("The service rejected the request", { detail: \`It returned \${response.status}.\` });
  return (await response.json()) as Output;
});
`;
