// Plain REST.
import {
  about,
  anyObject,
  array,
  boolean,
  choice,
  document,
  mapValues,
  natural,
  object,
  open,
  path,
  pattern,
  requestBody,
  response,
  schema,
  string,
  text,
} from "./openapi.mjs";
import * as shared from "./shared.mjs";
import { POST, security, uncached } from "./shared.mjs";

const ALL = "GET, HEAD, POST, OPTIONS";

/** A response whose body is a problem. */
export const problem = ({ content, ...rest }) => (content ? { ...rest, content: { "application/problem+json": content["application/json"] } } : rest);

/** The members of every problem. */
export const problemMembers = {
  type: about("The kind of problem.", pattern("^urn:toolbooth:[a-z_]+$")),
  title: about("The problem in a few words.", text),
  status: about("The status of the response.", { type: "integer", minimum: 400, maximum: 599 }),
  "detail?": about("What was wrong with this call.", text),
};

/** The problem of a call. */
export const callProblem = about(
  "A problem (RFC 9457).",
  object({
    ...problemMembers,
    "parameter_errors?": shared.parameterErrors,
    "prompt?": about("What helps a model to correct its input.", string),
    "can_retry?": about("Whether the same call, or one with better input, may succeed.", boolean),
    "retry_after_ms?": about("Milliseconds to wait before the next attempt.", natural),
    "developer_message?": about("For a log.", string),
    "authorization?": about("Where the user can grant what the call lacks.", array(schema("AuthorizationChallenge"))),
  }),
);

const time = pattern("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$");
/** A call that goes on without its client. */
export const task = object({
  id: pattern("^[0-9a-f]{32}$"),
  status: choice("working", "input_required", "completed", "failed", "cancelled"),
  "message?": about("What the tool said last about its progress.", text),
  created_at: time,
  updated_at: time,
  expires_at: about("When it is deleted.", time),
  "value?": about("The value of the tool, if the call is completed.", {}),
  "problem?": schema("Problem"),
});

const tool = {
  name: "name",
  in: "path",
  required: true,
  description: "The name of a tool, such as Text_Slugify; with a version, such as Text_Slugify__1_0_0; or its id, such as Text.Slugify@1.",
  schema: text,
};

const responses = {
  200: "Value",
  400: "Rejected",
  401: "Unauthenticated",
  403: "Forbidden",
  404: "NotFound",
  422: "Failure",
  429: "TooManyRequests",
  500: "Failed",
  503: "Unavailable",
};

export const rest = document({
  title: "Toolbooth: REST",
  description:
    "Plain REST. The body is the input of a tool, the response is its value, and errors are problems (RFC 9457). GET /openapi.json describes each tool as an operation; this document describes what they have in common.",
  servers: [{ url: "/rest" }],
  implied: shared.implied,
  paths: {
    "/{name}": path({
      post: {
        operationId: "call",
        summary: "Runs a tool",
        security,
        parameters: [tool],
        requestBody: "Input",
        responses: { ...responses, 202: "Accepted", 413: "TooLarge", 415: "UnsupportedMediaType" },
      },
      get: {
        operationId: "query",
        summary: "Runs a read-only tool with flat input",
        description: "405 for other tools.",
        security,
        parameters: [
          tool,
          {
            name: "input",
            in: "query",
            description: "The members of the input. Those that are numbers or booleans are written as in JSON.",
            style: "form",
            explode: true,
            schema: { type: "object", additionalProperties: string },
          },
        ],
        responses: { ...responses, 405: "MethodNotAllowed" },
      },
      options: {
        summary: "The methods of this path; the CORS preflight of an allowed origin",
        parameters: [tool],
        responses: { 204: "Options", 403: "OriginNotAllowed" },
      },
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: { ...shared.headers(ALL, POST), Location: { description: "The address of the status.", required: true, schema: pattern("^/tasks/[0-9a-f]{32}$") } },
  requestBodies: { Input: requestBody(shared.jsonBody, anyObject) },
  responses: {
    ...mapValues(shared.errors("Problem"), problem),
    Value: response("The value of the tool.", {}, uncached),
    Accepted: response("The call goes on as a task.", "Task", { ...uncached, Location: "Location", "Retry-After": "RetryAfter" }),
    Rejected: problem(response("The tool did not run: the request is malformed, or the tool needs an answer of the user.", "Problem", uncached)),
    Failure: problem(
      response("The input is invalid, or the tool failed: parameter_errors or detail contains the reason.", "Problem", uncached),
    ),
  },
  schemas: {
    Problem: callProblem,
    AuthorizationChallenge: shared.authorizationChallenge,
    Task: task,
  },
});

// The documents, which are at the root.

const toolkit = {
  name: "toolkit",
  in: "query",
  description: "Only tools of these toolkits, separated by commas.",
  schema: string,
};

const page = (operationId, summary, name) => ({ operationId, summary, security, parameters: [toolkit, shared.search, shared.ifNoneMatch], responses: { 200: name } });

const plainText = (description) => ({ description, headers: shared.cached, content: { "text/plain": {} } });

/** The paths of the documents; `parameters` and `responses` are those that all paths of the root have. */
export const documentPaths = (parameters, responses) =>
  mapValues(
    {
      "/openapi.json": page("openapi", "An OpenAPI document with an operation for each tool that the caller may run", "OpenApi"),
      "/utcp": page("utcp", "A manual of UTCP", "Manual"),
      "/llms.txt": page("llms", "The tools in Markdown, for models", "Text"),
      "/llms-full.txt": page("llms-full", "The tools with their schemas in Markdown, for models", "Text"),
      "/client.ts": page("client", "A typed client in TypeScript", "Text"),
    },
    (get) =>
      path({
        get: {
          ...get,
          parameters: [...parameters, ...get.parameters],
          responses: { ...get.responses, ...shared.listErrors, ...responses },
        },
      }),
  );

export const documentTexts = {
  responses: {
    OpenApi: response("The document.", "OpenApi", shared.cached),
    Manual: response("The manual.", "Manual", shared.cached),
    Text: plainText("The text, in UTF-8."),
  },
  schemas: {
    OpenApi: open({ openapi: { const: "3.1.1" }, info: anyObject, servers: array(anyObject), security: array(anyObject), paths: anyObject }),
    Manual: object({ utcp_version: text, manual_version: text, tools: array(open({ name: shared.toolName, inputs: anyObject, tool_call_template: anyObject })) }),
  },
};
