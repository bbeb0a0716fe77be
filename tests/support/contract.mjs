// Holds a response to docs/openapi.json: its status, its headers and its body.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";

const contract = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url)));
const ajv = new Ajv({ strict: true, strictTypes: true, allErrors: true });
// The file around the schemas is no schema; these are its own words.
ajv.addVocabulary(["openapi", "info", "servers", "paths", "components"]);
ajv.addSchema(contract, "contract");

// What is answered where the contract names no operation.
const OTHER_PATH = { 204: "Options", 403: "OriginRefused", 404: "NotFound" };
const OTHER_METHOD = { 405: "MethodNotAllowed" };

/** Throws when `reply` is not what the contract promises to the request. */
export function check(method, path, sent, reply) {
  const name = responseName(method, path.split("?")[0], reply.status);
  const where = `${method} ${path} answered ${reply.status} ${reply.text.slice(0, 500)}`;
  assert.ok(name, `${where}: the contract has no such answer`);
  const { content, headers } = contract.components.responses[name];
  for (const [header, { $ref }] of Object.entries(headers)) {
    const value = reply.headers[header.toLowerCase()];
    assert.ok(value !== undefined, `${where} without ${header}`);
    fits(`${$ref}/schema`, value, `${where}: ${header}`);
  }
  if (content === undefined || method === "HEAD") {
    assert.equal(reply.text, "", `${where}: a body where none is promised`);
    return;
  }
  assert.equal(reply.headers["content-type"], "application/json", where);
  fits(`#/components/responses/${name}/content/application~1json/schema`, reply.json, where);
  // The other direction: what ran must have been a request that the contract allows.
  if (name === "Ran") fits("#/components/schemas/CallToolRequest", JSON.parse(sent), where);
}

function responseName(method, path, status) {
  // Both of the contract's servers have all of its paths.
  const item = contract.paths[path.replace(/^\/oxp(?=\/)/, "")];
  if (item === undefined) return OTHER_PATH[status];
  const operation = item[method.toLowerCase()];
  if (operation === undefined) return OTHER_METHOD[status];
  return operation.responses[status]?.$ref.replace("#/components/responses/", "");
}

function fits(pointer, value, where) {
  const validate = ajv.getSchema(`contract${pointer}`);
  assert.ok(validate(value), `${where}: ${ajv.errorsText(validate.errors)}`);
}
