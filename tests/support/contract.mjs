// Checks a response against docs/contracts: its status, its headers and its body.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";

const ajv = new Ajv({ strict: true, strictTuples: false, strictTypes: true, allErrors: true });
// The keywords of OpenAPI around the schemas.
ajv.addVocabulary(["openapi", "info", "servers", "tags", "paths", "components"]);

// Each document with the prefixes of its paths; the longest prefix of a path counts.
const folder = new URL("../../docs/contracts/", import.meta.url);
const mounts = readdirSync(folder).flatMap((file) => {
  const contract = JSON.parse(readFileSync(new URL(file, folder)));
  ajv.addSchema(contract, file);
  return contract.servers.map(({ url }) => ({ prefix: url.replace(/\/$/, ""), file, contract }));
});
mounts.sort((a, b) => b.prefix.length - a.prefix.length);

// The responses where the document lists no operation.
const OTHER_PATH = { 204: "Options", 403: "OriginNotAllowed", 404: "NotFound" };
const OTHER_METHOD = { 401: "Unauthenticated", 403: "OriginNotAllowed", 405: "MethodNotAllowed" };

/** Throws if `reply` is not a response that the document of its path allows. */
export function check(method, url, sent, reply) {
  const path = contractPath(url.split("?")[0], sent, reply);
  const where = `${method} ${url} returned ${reply.status} ${reply.text.slice(0, 500)}`;
  const { file, contract, prefix } = mount(path);
  const below = pathItem(contract, rest(path, prefix));
  const name = responseName(contract.paths[below], method, reply.status);
  assert.ok(name, `${where}: ${file} has no such response`);
  const fits = (pointer, value, what) => {
    const validate = ajv.getSchema(`${file}${pointer}`);
    assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
  };
  const { content, headers } = contract.components.responses[name];
  for (const [header, { $ref }] of Object.entries(headers)) {
    const value = reply.headers[header.toLowerCase()];
    if (value === undefined && !contract.components.headers[$ref.split("/").at(-1)].required) continue;
    assert.ok(value !== undefined, `${where} without ${header}`);
    fits(`${$ref}/schema`, value, `${where}: ${header}`);
  }
  if (content === undefined || method === "HEAD") {
    assert.equal(reply.text, "", `${where}: must have no body`);
    return;
  }
  const [type, charset] = reply.headers["content-type"]?.split("; ") ?? [];
  assert.ok(type in content, `${where} as ${type}`);
  const isText = ["text/html", "text/plain"].includes(type);
  assert.equal(charset, isText ? "charset=utf-8" : undefined, where);
  if (isText) return;
  const media = `#/components/responses/${name}/content/${type.replace("/", "~1")}`;
  if (type === "text/event-stream") {
    for (const [, event, data] of reply.text.matchAll(/^event: ?(.*)\ndata: ?(.*)$/gm)) fits(`${media}/schema`, { event, data }, where);
    fits(`${media}/x-stream`, reply.text, where);
    if ("x-events" in content[type]) fits(`${media}/x-events`, events(reply.text), where);
  } else {
    fits(`${media}/schema`, reply.json, where);
  }
  // What the server accepts must be valid too.
  if (isRejection(reply)) return;
  const operation = `#/paths/${below.replaceAll("/", "~1")}/${method.toLowerCase()}`;
  const { requestBody, parameters = [] } = contract.paths[below][method.toLowerCase()];
  if (requestBody) {
    const [type] = Object.keys(contract.components.requestBodies[requestBody.$ref.split("/").at(-1)].content);
    const value = type === "application/json" ? JSON.parse(sent) : Object.fromEntries(new URLSearchParams(sent));
    fits(`${requestBody.$ref}/content/${type.replace("/", "~1")}/schema`, value, where);
  }
  const query = new URLSearchParams(url.split("?")[1]);
  for (const [index, { $ref, ...inline }] of parameters.entries()) {
    const pointer = $ref ?? `${operation}/parameters/${index}`;
    const parameter = $ref ? contract.components.parameters[$ref.split("/").at(-1)] : inline;
    if (parameter.in !== "query") continue;
    assert.ok(query.has(parameter.name) || !parameter.required, `${where} without ${parameter.name}`);
    for (const value of query.getAll(parameter.name)) fits(`${pointer}/schema`, value, `${where}: ${parameter.name}`);
  }
}

/** Whether the reply is an error, which JSON-RPC reports with 200. */
const isRejection = (reply) =>
  reply.status >= 300 || (reply.text.startsWith("{") && reply.json.jsonrpc !== undefined && reply.json.error !== undefined);

/** The data of the events of a stream, each a line of JSON. */
export const events = (text) => [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => JSON.parse(data));

/**
 * The path whose document describes a reply. At the root, the result of a call has the form of its own protocol,
 * and the document of that protocol describes it. Rejections from before the body is read have the root's form.
 */
function contractPath(path, sent, { status, headers }) {
  // A 403 without a challenge rejects the origin, before the body is read.
  const read = [200, 422].includes(status) || (status === 403 && headers["www-authenticate"] !== undefined);
  if (!["/call", "/tools/call"].includes(path) || !read || !sent) return path;
  const call = JSON.parse(sent);
  if ((call[0] ?? call)?.jsonrpc !== undefined) return "/opentool/call";
  if (call.request === undefined) return path;
  return call.$schema?.startsWith("otc:") ? `/otc${path}` : `/oxp/1.0${path}`;
}
/** The path below a prefix; that of the prefix itself is "/". */
const rest = (path, prefix) => path.slice(prefix.length) || "/";

/** The document of a path: of those with the longest prefix the one that lists the path, if any does. */
function mount(path) {
  const below = ({ prefix }) => path === prefix || path.startsWith(`${prefix}/`);
  const fitting = mounts.filter(below);
  const longest = fitting.filter(({ prefix }) => prefix === fitting[0]?.prefix);
  const named = longest.find(({ prefix, contract }) => pathItem(contract, rest(path, prefix)));
  return named ?? longest.find(({ contract }) => contract.components.responses.NotFound) ?? mounts.at(-1);
}

/** The template of a path in a document: `/a/{b}` for `/a/x`, if it lists one. */
function pathItem(contract, path) {
  // The id of a model may have slashes.
  const fits = (item) => new RegExp(`^${item.replace("{model}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path);
  return Object.keys(contract.paths).find(fits);
}

function responseName(item, method, status) {
  if (item === undefined) return OTHER_PATH[status];
  const operation = item[method.toLowerCase()];
  if (operation === undefined) return OTHER_METHOD[status];
  return operation.responses[status]?.$ref.replace("#/components/responses/", "");
}
