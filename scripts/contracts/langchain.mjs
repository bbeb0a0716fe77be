// The tool server that LangChain's clients expect: OTC with a plain list, plain results, and names as ids.
import { about, array, document, object, path, pattern, requestBody, response, schema, text } from "./openapi.mjs";
import { call, schemas, userId } from "./oxp.mjs";
import * as shared from "./shared.mjs";
import { POST, READ, cached, ifNoneMatch, security } from "./shared.mjs";

const oxp = schemas({ $schema: "otc://1.0", list: "items" }, {});

const list = (operationId, summary, body, parameters = [], more = {}) => ({
  get: { operationId, summary, security, parameters: [...parameters, ifNoneMatch], responses: { 200: body, ...shared.listErrors, ...more } },
});

export const langchain = document({
  title: "Toolbooth: LangChain tool server",
  description:
    "For PyPI universal-tool-client, langchain-tool-client and o2mcp. The tests check every response against this document.",
  servers: [{ url: "/langchain" }],
  implied: shared.implied,
  paths: {
    "/health": path({
      get: {
        operationId: "health",
        summary: "Whether the server can run calls",
        description: "Needs no credentials.",
        responses: { 200: "Healthy", 403: "OriginNotAllowed", 503: "Unhealthy" },
      },
    }),
    "/info": path(list("info", "The server's version", "Info")),
    "/tools": path(list("list-tools", "The latest version of each tool that the caller may run", "List", [shared.search], { 400: "Rejected" })),
    "/tools/call": path({
      post: call(
        "call-tool",
        "Runs a tool",
        "200: the tool ran, whether it succeeded or not. 422: its input schema rejects the input. 400: it did not run for another reason.",
        [],
      ),
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: shared.headers(READ, POST),
  requestBodies: { Call: requestBody(shared.jsonBody, "CallEnvelope") },
  responses: {
    ...shared.errors("ServerErrorResponse"),
    Healthy: response("The server can run calls.", "Health"),
    Unhealthy: response("The operator must fix something.", "HealthProblems"),
    Info: response("The version.", "Info", cached),
    List: response("The tools.", "ListToolsResponse", cached),
    Ran: response("The tool ran and returned a value or an error.", "CallToolResponse"),
    Rejected: response("The tool did not run.", "ServerErrorResponse"),
    InvalidInput: response("The tool did not run: its input schema rejects the input.", "ValidationErrorResponse"),
  },
  schemas: {
    ...oxp,
    Info: object({ version: pattern("^[0-9]+\\.[0-9]+\\.[0-9]+") }),
    ListToolsResponse: array(schema("ToolDefinition")),
    ToolId: about("The tool's name, its versioned name (Calculator_Add__1_0_0) or its id (Calculator.Add@1.0.0).", text),
    CallToolRequest: object({ ...members(oxp.CallToolRequest), "user_id?": userId }),
  },
});

/** The members that `object` was given. */
function members({ properties, required }) {
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [required.includes(name) ? name : `${name}?`, one]));
}
