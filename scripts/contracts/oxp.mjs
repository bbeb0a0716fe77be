// OXP with flat bodies, and its two forms with envelopes: OXP as published, and OTC.
import {
  about,
  anyObject,
  array,
  boolean,
  constant,
  document,
  nonEmpty,
  number,
  object,
  open,
  orNull,
  path,
  pattern,
  requestBody,
  response,
  schema,
  string,
  text,
} from "./openapi.mjs";
import * as shared from "./shared.mjs";
import { POST, READ, cached, ifNoneMatch, security } from "./shared.mjs";

// `$schema` names the version in all bodies of the forms with envelopes, `list` is the member with the tools.
const FLAT = {
  title: "Toolbooth",
  speaks: "OXP 1.0 with flat bodies",
  servers: [
    { url: "/", description: "The root." },
    { url: "/oxp", description: "The same paths again." },
  ],
  list: "items",
};
const PUBLISHED = {
  title: "Toolbooth: OXP as published",
  speaks: "OXP 1.0 as it was published, with envelopes",
  servers: [{ url: "/oxp/1.0" }],
  $schema: "urn:oxp:1.0",
  list: "items",
};
const OTC = {
  title: "Toolbooth: OTC",
  speaks: "OTC 1.0",
  servers: [{ url: "/otc" }],
  $schema: "otc://1.0",
  list: "tools",
};

function describe(form) {
  const { title, speaks, servers, $schema } = form;
  const flat = $schema === undefined;
  const parameters = flat ? ["OxpVersion"] : [];
  const badVersion = flat ? { 400: "Rejected" } : {};
  return document({
    title,
    description: `${speaks}. The tests check every response against this document. Where the specification contradicts itself, this document describes what the server does.`,
    servers,
    everywhere: flat ? { "OXP-Version": "OxpVersion" } : {},
    implied: shared.implied,
    paths: {
      "/health": path({
        get: {
          operationId: "health-check",
          summary: "Whether the server can run calls",
          description: "Needs no credentials.",
          parameters,
          responses: { 200: "Healthy", ...badVersion, 403: "OriginNotAllowed", 503: "Unhealthy" },
        },
      }),
      "/tools": path({
        get: {
          operationId: "list-tools",
          summary: "All versions of all tools that the caller may run",
          security,
          parameters: [...parameters, shared.search, ifNoneMatch],
          responses: { 200: "List", ...shared.listErrors, 400: "Rejected" },
        },
      }),
      "/tools/call": path({
        post: call(
          "call-tool",
          "Runs a tool",
          "200: the tool ran, whether it succeeded or not. 422: its input schema rejects the input. 400: it did not run for another reason.",
          parameters,
        ),
      }),
      "/call": path({
        post: call(
          "call-tool-alias",
          "The same as /tools/call",
          "The specification names /tools/call in its text and /call in its examples.",
          parameters,
        ),
      }),
    },
    securitySchemes: shared.securitySchemes,
    parameters: {
      OxpVersion: shared.oxpVersion,
    },
    headers: shared.headers(READ, POST),
    requestBodies: {
      Call: requestBody(`${shared.jsonBody} Other types are rejected with 415.`, flat ? "CallToolRequest" : "CallEnvelope"),
    },
    responses: {
      ...shared.errors("ServerErrorResponse"),
      Healthy: response("The server can run calls.", "Health"),
      Unhealthy: response(
        "The operator must fix something. The log contains the problems, and so does the body if the credentials are valid.",
        "HealthProblems",
      ),
      List: response("The tools.", "ListToolsResponse", cached),
      Ran: response("The tool ran and returned a value or an error.", flat ? "CallToolResponse" : "ResultEnvelope"),
      Rejected: response(
        "The tool did not run: the request is malformed or names a version that is not served, there is no such tool or version, a requirement is missing, or the server is temporarily unavailable.",
        "ServerErrorResponse",
      ),
      InvalidInput: response("The tool did not run: its input schema rejects the input.", "ValidationErrorResponse"),
    },
    schemas: schemas(form, flat ? {} : { $schema: schema("Marker") }),
  });
}

export const call = (operationId, summary, description, parameters) => ({
  operationId,
  summary,
  description,
  security,
  parameters,
  requestBody: "Call",
  responses: {
    200: "Ran",
    ...shared.callErrors,
    403: "Forbidden",
    415: "UnsupportedMediaType",
    422: "InvalidInput",
    500: "Failed",
  },
});

/** `marked` are the members that every body of the form begins with. */
export const schemas = ({ $schema, list }, marked) => ({
  Marker: about("The version that the client named, otherwise that of this path.", {
    enum: [
      "otc://1.0",
      "urn:oxp:1.0",
      "https://github.com/OpenToolCalling/Specification/tree/main/spec/http/1.0/openapi.json",
      "https://github.com/OpenToolCalling/Specification/tree/main/specification/http/1.0/openapi.json",
      "https://github.com/ArcadeAI/OpenToolCalling/tree/main/specification/http/1.0/openapi.json",
    ],
  }),
  CallEnvelope: about(
    "Other fields are ignored, but tool_id next to request is rejected.",
    open({
      "$schema?": about(
        `The version that the client speaks; absent means ${$schema}. Any other string is rejected with 400.`,
        orNull(schema("Marker")),
      ),
      request: schema("CallToolRequest"),
      "tool_id?": false,
    }),
  ),
  ResultEnvelope: about("The result of the call, and the version of its form.", object({ ...marked, result: schema("CallToolResponse") })),
  ToolId: {
    ...pattern("^[A-Za-z0-9_]+\\.[A-Za-z0-9_]+(@([0-9]+|[0-9]+\\.[0-9]+\\.[0-9]+))?$"),
    description: "Toolkit.Tool for the highest version, Toolkit.Tool@1 for 1.0.0, Toolkit.Tool@1.2.3 for 1.2.3.",
    examples: ["Calculator.Add", "Calculator.Add@1", "Calculator.Add@1.0.0"],
  },
  ListToolsResponse: object({
    ...($schema && { $schema: { const: $schema } }),
    [list]: about("Empty if the server has no tools.", array(schema("ToolDefinition"))),
  }),
  ToolDefinition: object({
    id: about("Always with the full version; ids are unique.", pattern("^[A-Za-z0-9_]+\\.[A-Za-z0-9_]+@[0-9]+\\.[0-9]+\\.[0-9]+$")),
    name: about("For models, whose tool names have no dots. All versions of a tool share it.", shared.toolName),
    description: text,
    version: pattern("^[0-9]+\\.[0-9]+\\.[0-9]+$"),
    input_schema: list === "tools" ? object({ parameters: inputSchema }) : inputSchema,
    output_schema: about("A JSON Schema of the value; null if the tool returns none.", { type: ["object", "null"] }),
    "requirements?": schema("Requirements"),
  }),
  Requirements: about(
    "What a call must send in its context. Absent if the tool requires nothing.",
    open({
      "authorization?": array(open({ id: string, "oauth2?": open({ "scopes?": array(string) }) })),
      "secrets?": array(open({ id: string })),
      "user_id?": boolean,
    }),
  ),
  CallToolRequest: object({
    tool_id: schema("ToolId"),
    "call_id?": about("The response repeats it; if absent, the server makes one. Two calls with the same id run the tool twice.", orNull(string)),
    "trace_id?": orNull(string),
    "input?": about("The tool's input; absent means {}. Parts of the specification call it inputs, which is rejected.", anyObject),
    "context?": orNull(schema("Context")),
    ...(list === "tools" && { "user_id?": userId }),
  }),
  Context: shared.context,
  CallToolResponse: about(
    "The published schema closes this object and declares value and error only inside oneOf, where additionalProperties does not see them: no response with either is valid. Here both are declared next to the others, as in its examples.",
    object(
      {
        call_id: string,
        duration: about("Milliseconds. The runtime's clock only moves with I/O, so a tool that only computes takes 0.", {
          ...number,
          minimum: 0,
        }),
        success: boolean,
        "value?": about("As the tool's output_schema describes; null if the tool returns none."),
        "error?": schema("ToolError"),
      },
      {
        oneOf: [
          open({ "success?": constant(true), value: true, "error?": false }),
          open({ "success?": constant(false), "value?": false, error: true }),
        ],
      },
    ),
  ),
  ToolError: open({
    message: about("For the user and the model.", text),
    can_retry: shared.canRetry,
    ...shared.failureDetails,
  }),
  ServerErrorResponse: open({
    ...marked,
    message: about(
      list === "tools" ? "For the user. If the user must grant something first, it ends with the URL for that." : "For the user.",
      text,
    ),
    "developer_message?": about("For a log.", string),
    "missing_requirements?": about(
      list === "tools"
        ? "What the call lacks. OTC has no such field: only calls that name urn:oxp:1.0 get it."
        : "What the call lacks. secrets is an addition to OXP.",
      open({
        ...(list === "items" && { "authorization?": array(schema("AuthorizationChallenge")) }),
        "user_id?": { const: true },
        "secrets?": nonEmpty(string),
      }),
    ),
  }),
  ValidationErrorResponse: open({ ...marked, message: text, parameter_errors: shared.parameterErrors }),
  AuthorizationChallenge: shared.authorizationChallenge,
  Health: object({
    status: { const: "OK" },
    "warnings?": about("What the operator should know. Callers with the scope * get the details, others with valid credentials the names of the variables.", nonEmpty(text)),
  }),
  HealthProblems: object({
    status: { const: "unavailable" },
    "problems?": about("What the operator must fix. Callers with the scope * get the details, others with valid credentials the names of the variables.", nonEmpty(text)),
    "warnings?": about("What the operator should know, in the same way.", nonEmpty(text)),
  }),
});

/** An addition to OTC: PyPI `langchain-tool-client` sends it. */
export const userId = about("The same as in context. An addition to the specification.", orNull(string));

const inputSchema = about("A JSON Schema (draft 2020-12, without $ref) of the input.", anyObject);

export const oxp = describe(FLAT);
export const oxpPublished = describe(PUBLISHED);
export const otc = describe(OTC);
