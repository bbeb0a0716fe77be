// Xaibo's tool provider.
import {
  about,
  anyObject,
  array,
  boolean,
  choice,
  constant,
  document,
  mapOf,
  nonEmpty,
  nothing,
  object,
  open,
  orNull,
  path,
  requestBody,
  response,
  schema,
  string,
  text,
} from "./openapi.mjs";
import * as shared from "./shared.mjs";
import { POST, READ, cached, ifNoneMatch, security } from "./shared.mjs";

const errors = shared.errors("ToolFailure");

export const xaibo = document({
  title: "Toolbooth: Xaibo",
  description:
    "Xaibo's tool provider over HTTP. Xaibo defines the methods list_tools and execute_tool and the models Tool, ToolParameter and ToolResult, but no transport; this one sends the models as JSON.",
  servers: [{ url: "/xaibo" }],
  implied: shared.implied,
  paths: {
    "/tools": path({
      get: {
        operationId: "list_tools",
        summary: "The latest version of every tool that the caller may run",
        security,
        parameters: [shared.search, ifNoneMatch],
        responses: { 200: "List", ...shared.listErrors, 400: "Rejected", 503: "Unavailable" },
      },
    }),
    "/execute": path({
      post: {
        operationId: "execute_tool",
        summary: "Runs a tool",
        description:
          "200 is the result of the method, also if there is no such tool, the parameters are invalid or the tool failed. The bodies of all other statuses are ToolResults too.",
        security,
        requestBody: "Execute",
        responses: { 200: "Ran", ...shared.callErrors, 415: "UnsupportedMediaType", 500: "Failed", 503: "Unavailable" },
      },
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: shared.headers(READ, POST),
  requestBodies: { Execute: requestBody(shared.jsonBody, "Execute") },
  responses: {
    ...errors,
    List: response("The tools.", "Tools", cached),
    Ran: response("The result of the call.", "ToolResult"),
    Rejected: response("The request is not a valid call; error contains the reason.", "ToolFailure"),
  },
  schemas: {
    Tools: about("Empty if the server has no tools.", array(schema("Tool"))),
    Tool: about(
      "Xaibo's model Tool.",
      object({
        name: about("The tool's plain name, which every model provider accepts. Names are unique within the list.", shared.toolName),
        description: about("Includes the rules that apply to the input as a whole.", text),
        parameters: mapOf(schema("ToolParameter")),
      }),
    ),
    ToolParameter: about(
      "Xaibo's model ToolParameter: one type, without nested schemas. The description contains the rest of the tool's schema.",
      object({
        type: choice("string", "number", "integer", "boolean", "object", "array"),
        description: string,
        required: boolean,
        "default?": about("Any JSON value; absent if there is no default."),
        "enum?": about("The values that a string may have.", nonEmpty(string)),
      }),
    ),
    Execute: about(
      "The arguments of execute_tool.",
      object({
        tool_name: about(
          "A name of the list; with or without a version, such as Text_Slugify__1_0_0; or the tool's id, such as Text.Slugify@1.",
          string,
        ),
        "parameters?": about("Absent means {}.", orNull(anyObject)),
        "context?": orNull(schema("Context")),
      }),
    ),
    Context: about(
      "An addition to Xaibo: the user that the call is for, and the tokens and secrets that the tool requires. Other fields are ignored.",
      shared.context,
    ),
    ToolResult: about(
      "Xaibo's model ToolResult, always with its three fields.",
      object(
        {
          success: boolean,
          result: about("The tool's value; null if it failed or returns none. One of more than 64 KiB is a string that is cut, with a notice."),
          error: about("For the user and the model: what went wrong, what would help, and when to try again.", {
            type: ["string", "null"],
            minLength: 1,
          }),
        },
        {
          oneOf: [
            open({ success: constant(true), error: nothing }),
            open({ success: constant(false), result: nothing, error: string }),
          ],
        },
      ),
    ),
    ToolFailure: about(
      "A ToolResult without success.",
      object({
        success: constant(false),
        result: nothing,
        error: about("Everything that a model sees. If a user must grant something first, it ends with the URL for that.", text),
      }),
    ),
  },
});
