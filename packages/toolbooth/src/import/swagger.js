// Reads the parts of an operation of Swagger 2 as those of OpenAPI 3. A library that upgrades whole documents fails at one invalid
// parameter, and its places are not those of the document.
import { child, items, own } from "./nodes.js";

/** The keywords of a parameter that belong to its schema in OpenAPI 3. */
const OF_SCHEMA = [
  ...["type", "format", "items", "default", "enum", "pattern", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"],
  ...["maxLength", "minLength", "maxItems", "minItems", "uniqueItems", "x-nullable", "x-example"],
];
const STYLES = { ssv: ["spaceDelimited", false], pipes: ["pipeDelimited", false], multi: ["form", true], tsv: ["tabDelimited", false] };

/** A parameter with a schema, a style and `explode`. */
export function parameter(node) {
  const { value } = node;
  const schema = Object.fromEntries(OF_SCHEMA.filter((name) => own(value, name) !== undefined).map((name) => [name, value[name]]));
  const [style, explode] = STYLES[value.collectionFormat] ?? [value.in === "query" || value.in === "formData" ? "form" : "simple", false];
  return { ...node, value: { ...value, schema, ...(value.type === "array" && { style, explode }) } };
}

/**
 * The request body in a list of parameters: `{ required, contents: [{ type, schema, encoding }] }`, or undefined. `consumes`: the
 * media types that the operation accepts.
 */
export function requestBody(parameters, consumes) {
  const whole = parameters.find((node) => own(node.value, "in") === "body");
  if (whole) {
    const types = consumes.length > 0 ? consumes : ["application/json"];
    const given = child(whole, "schema");
    const schema = given.value === undefined ? { ...given, value: {} } : given;
    return { node: whole, required: whole.value.required === true, contents: types.map((type) => ({ type, schema, encoding: {} })) };
  }
  const fields = parameters.filter((node) => own(node.value, "in") === "formData" && typeof own(node.value, "name") === "string").map(parameter);
  if (fields.length === 0) return undefined;
  const hasFile = fields.some(({ value }) => value.type === "file" || own(value.items, "type") === "file" || (value.format === "binary" && consumes.includes("multipart/form-data")));
  const isForm = !hasFile && (!consumes.includes("multipart/form-data") || consumes.includes("application/x-www-form-urlencoded"));
  const property = ({ value }) => ({ ...value.schema, ...(value.type === "file" && { type: "string", format: "binary" }), description: value.description });
  const required = fields.filter(({ value }) => value.required === true).map(({ value }) => value.name);
  const properties = Object.fromEntries(fields.map((node) => [node.value.name, property(node)]));
  const encoding = Object.fromEntries(fields.filter(({ value }) => value.style !== undefined).map(({ value }) => [value.name, { style: value.style, explode: value.explode }]));
  const schema = { ...fields[0], value: { type: "object", properties, required } };
  const type = isForm ? "application/x-www-form-urlencoded" : "multipart/form-data";
  return { node: fields[0], required: required.length > 0, contents: [{ type, schema, encoding }] };
}

/** The base address of a document, as the url of a server in OpenAPI 3. */
export function serverOf(root) {
  const { host, basePath, schemes } = root.value;
  const path = typeof basePath === "string" && basePath.startsWith("/") ? basePath : "/";
  if (typeof host !== "string") return path;
  // A document without a scheme has that of its own address, which is https for every public one.
  const scheme = Array.isArray(schemes) && schemes.length > 0 && !schemes.includes("https") ? schemes[0] : "https";
  return `${scheme}://${host}${path}`;
}

/** The texts of a list such as `consumes`. */
export const texts = (node, name) => items(child(node, name)).map(({ value }) => value).filter((value) => typeof value === "string");

/** A security scheme as OpenAPI 3 has it. */
export function securityScheme(value) {
  if (own(value, "type") === "basic") return { ...value, type: "http", scheme: "basic" };
  if (own(value, "type") !== "oauth2") return value;
  const { flow, authorizationUrl, tokenUrl, scopes } = value;
  const name = { accessCode: "authorizationCode", application: "clientCredentials" }[flow] ?? flow;
  return { ...value, flows: Object.fromEntries([[String(name), { authorizationUrl, tokenUrl, scopes }]]) };
}
