// One tool over OXP in JavaScript, with the same checks in the same order and the same responses as ours.
// It does less in two ways: JSON.parse accepts repeated keys and any depth, which ours rejects, and there
// is only one tool to look up.
import { id, name, run as implementation, version } from "tool";
import * as validators from "validators";

const TOOL = { ...validators, name, run: implementation };
const TOOLS = new Map([[id, { versions: new Map([[version, TOOL]]), latest: TOOL }]]);
const TOOL_ID = /^(\w+\.\w+)(?:@(\d+)(?:\.(\d+)\.(\d+))?)?$/;
const FIELDS = new Set(["tool_id", "call_id", "trace_id", "input", "context"]);

export const HEADERS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "oxp-version": "1.0",
};

export function rejection(status, message, developer_message) {
  return { status, body: { message, developer_message } };
}

const malformed = (detail) => rejection(400, "The request is malformed", detail);

/** Runs a call. Returns the status and the body before serialization. */
export function call(contentType, version, text) {
  if (!/^\s*(application\/json|[^;]*\+json)\s*(;|$)/i.test(contentType ?? "")) {
    return rejection(
      415,
      "The request body must be JSON",
      "send the header Content-Type: application/json",
    );
  }
  let body;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return rejection(400, "The request body is not valid JSON", error.message);
  }
  if (!["", "1", "1.0", "1.0.0"].includes((version ?? "").trim())) {
    return rejection(
      400,
      "This protocol version is not supported",
      "OXP-Version must be 1.0 or absent",
    );
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return malformed("the body must be an object with tool_id and input");
  }
  const { tool_id, call_id, trace_id, input = {} } = body;
  if (typeof tool_id !== "string") return malformed("tool_id is missing; it must be a string");
  if (!["string", "undefined"].includes(typeof call_id))
    return malformed("call_id must be a string");
  if (!["string", "undefined"].includes(typeof trace_id)) {
    return malformed("trace_id must be a string");
  }
  for (const field in body) {
    if (!FIELDS.has(field)) return malformed(`"${field}" is not a field of a call`);
  }
  const { tool, rejected } = find(tool_id);
  return rejected ?? run(tool, call_id ?? crypto.randomUUID(), input);
}

function find(tool_id) {
  const parts = TOOL_ID.exec(tool_id);
  if (parts === null) {
    return { rejected: rejection(400, "The tool id is invalid", "write Toolkit.Tool@1.0.0") };
  }
  const [, id, major, minor = "0", patch = "0"] = parts;
  const tool = TOOLS.get(id);
  if (tool === undefined) {
    const message = `Tool '${id.replace(".", "_")}' was not found`;
    return { rejected: rejection(400, message, `${id} is not a tool of this server`) };
  }
  if (major === undefined) return { tool: tool.latest };
  const version = `${Number(major)}.${Number(minor)}.${Number(patch)}`;
  const found = tool.versions.get(version);
  if (found !== undefined) return { tool: found };
  const message = `Tool '${tool.latest.name}' was not found`;
  return { rejected: rejection(400, message, `${id} version ${version} is not available`) };
}

function run(tool, call_id, input) {
  if (!tool.input(input)) {
    const faults = tool.input.errors.map(fault).sort(([a], [b]) => (a < b ? -1 : 1));
    const parameter_errors = Object.fromEntries(faults);
    return {
      status: 422,
      body: { message: "Some input parameters are invalid", parameter_errors },
    };
  }
  const started = Date.now();
  const value = tool.run(input);
  const duration = Date.now() - started;
  if (!tool.output(value)) {
    const error = { message: "The tool failed" };
    return { status: 200, body: { call_id, duration, success: false, error } };
  }
  return { status: 200, body: { call_id, duration, success: true, value } };
}

function fault({ keyword, instancePath, params }) {
  const path = instancePath.slice(1).replace(/\/(\d+)(?=\/|$)/g, "[$1]").replaceAll("/", ".");
  const below = (name) => (path === "" ? name : `${path}.${name}`);
  switch (keyword) {
    case "required":
      return [below(params.missingProperty), "Is required"];
    case "additionalProperties":
      return [below(params.additionalProperty), "Is not a known parameter"];
    case "type":
      return [path || "input", `Must be ${TYPES[params.type]}`];
    case "enum":
      return [path, `Must be one of: ${params.allowedValues.map((value) => JSON.stringify(value)).join(", ")}`];
    case "minimum":
      return [path, `Must be at least ${params.limit}`];
    case "maximum":
      return [path, `Must be at most ${params.limit}`];
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
      return [path, `Must have ${keyword.startsWith("min") ? "at least" : "at most"} ${count(params.limit, NOUNS[keyword.slice(3)])}`];
    default:
      return [path || "input", "Must match the schema"];
  }
}

const TYPES = {
  array: "an array",
  boolean: "true or false",
  integer: "an integer",
  number: "a number",
  object: "an object",
  string: "a string",
};
const NOUNS = { Length: "character", Items: "item" };

const count = (limit, noun) => `${limit} ${noun}${limit === 1 ? "" : "s"}`;
