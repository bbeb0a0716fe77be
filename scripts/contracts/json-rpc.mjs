// JSON-RPC 2.0 by its own rules, and as OpenTool uses it.
import {
  about,
  anyObject,
  anyOf,
  array,
  boolean,
  constant,
  document,
  event,
  integer,
  mapOf,
  nonEmpty,
  nothing,
  number,
  object,
  oneOf,
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
import { POST, READ, cached, ifNoneMatch, security } from "./shared.mjs";

const id = about("The id of the request, with its type and value; null if it could not be read.", oneOf(string, number, nothing));
const version = constant("2.0");

const error = about(
  "-32700 not JSON, -32600 no valid request, -32601 no such tool or no permission to call it, -32602 the tool's schema rejects the parameters, -32603 a fault of the server, -32001 the tool has requirements that the request does not meet, -32002 missing or invalid credentials, -32003 rate limit, 500 the tool ran and failed.",
  object({
    code: { ...integer, enum: [-32700, -32600, -32601, -32602, -32603, -32001, -32002, -32003, 500] },
    message: about("What went wrong, for people and models. Contains everything helpful, for clients that show nothing else.", text),
    "data?": object({
      "can_retry?": shared.canRetry,
      ...shared.failureDetails,
      "parameter_errors?": shared.parameterErrors,
      "missing_requirements?": about(
        "What the tool requires and the request lacks.",
        object({
          authorization: array(string),
          secrets: array(string),
          user_id: boolean,
          "challenges?": nonEmpty(schema("AuthorizationChallenge")),
        }),
      ),
    }),
  }),
);

const call = (operationId, summary, requestBody, responses) => ({
  operationId,
  summary,
  description: "A method is a tool's name, its name followed by the version, or its id.",
  security,
  requestBody,
  responses: { ...responses, ...shared.callErrors, 503: "Failed" },
});

const oneOrMore = oneOf(
  schema("Request"),
  about(
    "A batch. An empty one is answered with one error.",
    array(anyOf(schema("Request"), about("Anything else is answered with an error in its place."))),
  ),
);
const replies = {
  ...shared.errors("Rejection"),
  Rejected: response("The body is not JSON, or its content type is another one.", "Rejection"),
  Replied: response(
    "A response; or those of a batch, in its order and without the notifications.",
    oneOf(schema("Response"), nonEmpty(schema("Response"))),
  ),
  Notified: response("The request had only notifications. They ran, and have no responses."),
};
const replied = { 200: "Replied", 204: "Notified" };
const errors = {
  Failure: object({ jsonrpc: version, error: schema("Error"), id }),
  Rejection: about("An error of the request as a whole.", object({ jsonrpc: version, error: schema("Error"), id: nothing })),
  Error: error,
  AuthorizationChallenge: shared.authorizationChallenge,
};

export const jsonRpc = document({
  title: "Toolbooth: JSON-RPC 2.0",
  description: "Tools as JSON-RPC methods, by the rules of JSON-RPC alone. The method `rpc.discover` returns an OpenRPC document of the tools that the caller may run. The tests check every response against this document.",
  servers: [{ url: "/jsonrpc", description: "With and without a slash at the end." }],
  implied: shared.implied,
  paths: { "/": path({ post: call("jsonrpc", "Serves a request or a batch", "Request", replied) }) },
  securitySchemes: shared.securitySchemes,
  headers: shared.headers(POST),
  requestBodies: { Request: requestBody(shared.jsonBody, oneOrMore) },
  responses: replies,
  schemas: {
    Request: open({
      jsonrpc: version,
      method: string,
      "params?": about("The tool's input. By name: an array is rejected as invalid parameters.", oneOf(anyObject, array(true), nothing)),
      "id?": about("Absent in a notification.", oneOf(string, number, nothing)),
    }),
    Response: oneOf(schema("Success"), schema("Failure")),
    Success: object({ jsonrpc: version, result: about("The tool's value, any JSON; of rpc.discover, an OpenRPC document."), id }),
    ...errors,
  },
});

// OpenTool

/** A schema of one type, with what else it can have. */
const typed = (type, rest = {}) => object({ type: constant(type), "description?": schema("Text"), ...rest });
const scalar = (type, values) => typed(type, { "enum?": nonEmpty(values) });
const openToolVersion = { ...string, enum: ["2.0", "2.0.0"] };

/** What `/load` and `/version` return, here and at the root. */
export const openToolTexts = {
  responses: {
    Version: response("The version.", "Version", cached),
    Document: response("The document.", "Document", cached),
  },
  schemas: {
    Version: object({ version: about("The server's version.", pattern("^[0-9]+\\.[0-9]+\\.[0-9]+$")) }),
    Document: about(
      "An OpenTool document of format 1.1.0, or an empty object without tools.",
      oneOf(schema("Tools"), { ...anyObject, maxProperties: 0 }),
    ),
    Tools: object({
      opentool: constant("1.1.0"),
      info: object({ title: schema("Text"), "description?": schema("Text"), version: schema("Text") }),
      functions: array(schema("Function")),
    }),
    Function: object({
      name: pattern("^(?!-?[0-9]+$)[A-Za-z0-9_-]{1,64}$"),
      description: schema("Text"),
      parameters: array(schema("Parameter")),
      return: about("The result; null if the tool returns nothing.", oneOf(nothing, schema("Return"))),
      stream: about("The data of the events if the function is called through /streamCall.", object({ data: schema("Return") })),
    }),
    Parameter: object({
      name: schema("Text"),
      "description?": schema("Text"),
      schema: schema("Schema"),
      required: boolean,
    }),
    Return: about("A value with a label.", object({ name: schema("Text"), "description?": schema("Text"), schema: schema("Schema") })),
    Schema: about(
      "The part of JSON Schema that every client understands.",
      oneOf(...["String", "Number", "Integer", "Boolean", "Array", "Object"].map((type) => schema(`${type}Schema`))),
    ),
    StringSchema: scalar("string", schema("Text")),
    NumberSchema: scalar("number", number),
    IntegerSchema: scalar("integer", integer),
    BooleanSchema: scalar("boolean", boolean),
    ArraySchema: typed("array", { items: schema("Schema") }),
    ObjectSchema: typed("object", { properties: mapOf(schema("Schema")), "required?": array(schema("Text")) }),
    Text: about("A string that is not a number: some clients would read an integer.", {
      ...text,
      pattern: "^(?!-?[0-9]+$)",
    }),
  },
};

/** The paths of `openToolTexts`, with further parameters and responses. */
export const openToolPaths = (parameters = [], more = {}) => {
  const text = (operationId, summary, body) => ({
    get: { operationId, summary, security, parameters: [...parameters, ifNoneMatch], responses: { 200: body, ...shared.listErrors, ...more } },
  });
  return {
    "/version": path(text("version", "The server's version", "Version")),
    "/load": path(text("load", "The tools as an OpenTool document", "Document")),
  };
};

/** A result as OpenTool's clients need it. */
const openToolResult = about("The tool's value if it is an object; an empty object for null; any other value in the member result.", anyObject);

export const openTool = document({
  title: "Toolbooth: OpenTool 1.0",
  description: "Tools as OpenTool's clients call them. The tests check every response against this document. OpenTool's /stop is answered with 404: callers cannot stop a hosted server.",
  servers: [{ url: "/opentool" }],
  implied: shared.implied,
  paths: {
    ...openToolPaths(),
    "/call": path({ post: call("call", "Runs a tool or a batch of calls", "Request", replied) }),
    "/streamCall": path({
      post: call("stream-call", "Runs a tool and returns its result as events", "StreamRequest", { 200: "Events" }),
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: shared.headers(READ, POST),
  requestBodies: {
    Request: requestBody(shared.jsonBody, oneOrMore),
    StreamRequest: requestBody(shared.jsonBody, "StreamRequest"),
  },
  responses: {
    ...replies,
    ...openToolTexts.responses,
    Events: {
      description: "The events start, data and done; or start and error. The data of data and error is a Response.",
      content: {
        "text/event-stream": {
          schema: about(
            "One event.",
            oneOf(
              event("start", object({ start: string })),
              event("data", schema("Response")),
              event("done", object({ done: string })),
              event("error", schema("Response")),
            ),
          ),
          "x-stream": pattern(
            "^event:start\\ndata:\\{.*\\}\\n\\n(event:data\\ndata:\\{.*\\}\\n\\nevent:done\\ndata:\\{.*\\}\\n\\n|event:error\\ndata:\\{.*\\}\\n\\n)$",
          ),
        },
      },
    },
  },
  schemas: {
    Request: open({
      jsonrpc: openToolVersion,
      method: string,
      "params?": about("The tool's input.", oneOf(anyObject, array(true), nothing)),
      "id?": about(
        "A string from OpenTool's clients. With a number or null, the rules of JSON-RPC are strict. Absent in a notification.",
        oneOf(string, number, nothing),
      ),
    }),
    StreamRequest: open({
      jsonrpc: openToolVersion,
      method: string,
      "params?": oneOf(anyObject, array(true), nothing),
      id: string,
    }),
    Response: oneOf(schema("Success"), schema("Failure"), schema("StrictSuccess"), schema("StrictFailure")),
    Success: about("The result of a single request with a string id.", object({ jsonrpc: version, result: openToolResult, error: nothing, id: string })),
    StrictSuccess: about("A result in a batch, or of a request whose id is a number or null.", object({ jsonrpc: version, result: openToolResult, id })),
    ...errors,
    Failure: about(
      "An error of a single request with a string id.",
      object({
        jsonrpc: version,
        result: about("Empty: OpenTool's clients need it.", { ...anyObject, maxProperties: 0 }),
        error: schema("Error"),
        id: string,
      }),
    ),
    StrictFailure: about("An error in a batch, or of a request whose id is a number or null.", errors.Failure),
    ...openToolTexts.schemas,
  },
});
