// The Model Context Protocol.
import {
  about,
  anyObject,
  anyOf,
  array,
  boolean,
  choice,
  constant,
  document,
  event,
  integer,
  mapOf,
  natural,
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
import { POST } from "./shared.mjs";

const id = about("The id of the request.", oneOf(string, integer));
const version = constant("2.0");
const empty = object({});

/** A result; `resultType` and `_meta` belong to 2026-07-28, and so do the members of `lasting` results. */
const result = (members, rest = {}) =>
  object(
    { ...members, ...(!("resultType" in members) && { "resultType?": resultType }), "_meta?": schema("ResultMeta") },
    { dependentRequired: { resultType: ["_meta"] }, ...rest },
  );
const lasting = (members) =>
  result(
    { ...members, "ttlMs?": natural, "cacheScope?": choice("public", "private") },
    {
      dependentRequired: {
        resultType: ["ttlMs", "cacheScope", "_meta"],
        ttlMs: ["resultType"],
        cacheScope: ["resultType"],
      },
    },
  );
const resultType = choice("complete", "input_required");

const notification = (method, params) => object({ jsonrpc: version, method: constant(method), params: object(params) });
const inputRequest = (method, params) => object({ method: constant(method), params });
const contentBlock = (type, members) => object({ type: constant(type), ...members });
const textBlock = contentBlock("text", { text: string });
const capabilities = {
  tools: empty,
  resources: empty,
  prompts: empty,
  completions: empty,
  "extensions?": object({
    "io.modelcontextprotocol/skills?": object({ directoryRead: constant(true) }),
    "io.modelcontextprotocol/enterprise-managed-authorization?": empty,
    "io.modelcontextprotocol/oauth-client-credentials?": empty,
    "io.modelcontextprotocol/ui?": empty,
    "io.modelcontextprotocol/tasks?": empty,
  }),
};
const viewUri = pattern("^ui://");
const origins = nonEmpty(pattern("^(https?|wss?)://"));
const objectSchema = open({ type: constant("object") });

const time = pattern("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$");
const task = { taskId: pattern("^[0-9a-f]{32}$"), "statusMessage?": text, createdAt: time, lastUpdatedAt: time, ttlMs: natural, pollIntervalMs: natural };

const results = {
  Empty: result({}),
  Discovered: lasting({
    supportedVersions: array(constant("2026-07-28")),
    capabilities: object(capabilities),
    "instructions?": text,
    resultType,
  }),
  Initialized: object({
    protocolVersion: choice("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"),
    capabilities: object({ ...capabilities, logging: empty }),
    serverInfo: schema("Implementation"),
    "instructions?": text,
  }),
  Tools: lasting({ tools: array(schema("Tool")), "nextCursor?": text }),
  CallResult: about("The value of a tool.", result({ content: nonEmpty(textBlock), structuredContent: anyObject })),
  CallContent: about("The value of a tool that returns content blocks.", result({ content: array(schema("ContentBlock")) })),
  CallError: about(
    "What a model needs to do better: invalid arguments, the failure of the tool, or what a user must grant.",
    result({ content: array(textBlock, { minItems: 1, maxItems: 1 }), isError: constant(true) }),
  ),
  InputRequired: about(
    "What the client must answer before it repeats the request: the authorization of a user, or input that the tool requests.",
    result({ inputRequests: mapOf(schema("InputRequest"), { minProperties: 1 }), "requestState?": text, resultType }),
  ),
  TaskCreated: about("The call goes on as a task.", result({ ...task, status: constant("working"), resultType: constant("task") })),
  TaskWorking: result({ ...task, status: choice("working", "cancelled") }),
  TaskAsks: result({ ...task, status: constant("input_required"), inputRequests: mapOf(schema("InputRequest"), { minProperties: 1 }) }),
  TaskCompleted: about("The result that the call would have had.", result({ ...task, status: constant("completed"), result: anyOf(...["CallResult", "CallContent", "CallError"].map(schema)) })),
  TaskFailed: about("The server has failed.", result({ ...task, status: constant("failed"), error: schema("Error") })),
  Resources: lasting({ resources: array(schema("Resource")), "nextCursor?": text }),
  ResourceTemplates: lasting({
    resourceTemplates: array(object({ uriTemplate: text, name: text, "title?": text, "description?": text, "mimeType?": text })),
  }),
  ResourceContents: lasting({ contents: array(schema("ResourceContent")) }),
  Skills: lasting({ skills: array(schema("Skill")), "nextCursor?": text }),
  SkillFound: lasting({ skill: schema("Skill") }),
  Directory: lasting({ resources: nonEmpty(object({ uri: text, name: text, mimeType: text })) }),
  Prompts: lasting({
    prompts: array(
      object({
        name: text,
        "title?": text,
        description: text,
        arguments: array(object({ name: text, description: text, required: boolean })),
      }),
    ),
    "nextCursor?": text,
  }),
  Prompt: result({
    description: text,
    messages: array(object({ role: constant("user"), content: schema("ContentBlock") })),
  }),
  Completion: result({
    completion: object({ values: array(string, { maxItems: 100 }), total: natural, hasMore: boolean }),
  }),
};

const errors = shared.errors("Rejection");

export const mcp = document({
  title: "Toolbooth: Model Context Protocol",
  description:
    "Streamable HTTP without sessions: revision 2026-07-28, and 2025-11-25, 2025-06-18 and 2025-03-26 as far as they need no session. GET is rejected, because there are no streams to open: with 405, or with 401 without valid credentials. The tests check every response against this document.",
  servers: [{ url: "/mcp", description: "With and without a slash at the end." }],
  implied: shared.implied,
  paths: {
    "/": path({
      post: {
        operationId: "mcp",
        summary: "Takes one message",
        security: shared.security,
        requestBody: "Message",
        responses: {
          200: "Replied",
          202: "Accepted",
          ...shared.callErrors,
          403: "Forbidden",
          404: "NoMethod",
          415: "UnsupportedMediaType",
          500: "Failed",
          503: "Unavailable",
        },
      },
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: shared.headers(POST),
  requestBodies: {
    Message: requestBody("application/json, or a type that ends in +json. Batches and repeated keys are rejected.", "Message"),
  },
  responses: {
    ...errors,
    Rejected: response("The message is not valid; or its headers, its `_meta` or its revision are not.", "Rejection"),
    NoMethod: response("2026-07-28 has no such method.", "Failure"),
    Accepted: response("A notification, or a response to no request."),
    Replied: {
      description:
        "The result of a request: one object; or, if a tool sends notifications that the client wants, a stream that ends with it. A client that has asked for notifications also gets a stream, with comments, if nothing comes for 15 seconds.",
      content: {
        "application/json": { schema: schema("Reply") },
        "text/event-stream": {
          schema: about("One event.", event("message", oneOf(schema("Notification"), schema("Reply")))),
          "x-stream": pattern("^(: [a-z ]+\\n\\n|event: message\\ndata: \\{.*\\}\\n\\n)*event: message\\ndata: \\{.*\\}\\n\\n$"),
          "x-events": {
            description: "The data of the events: notifications, then the reply.",
            ...array(oneOf(schema("Notification"), schema("Reply")), { minItems: 1 }),
            contains: schema("Reply"),
            minContains: 1,
            maxContains: 1,
          },
        },
      },
    },
  },
  schemas: {
    Message: about(
      "One request or notification. `Mcp-Method`, `Mcp-Name`, `MCP-Protocol-Version` and `Mcp-Param-…` repeat parts of a modern request in headers.",
      anyOf(
        open({ jsonrpc: version, method: string, "id?": id, "params?": oneOf(anyObject, nothing) }),
        about("A response, which is accepted and ignored.", open({ jsonrpc: version, "id?": id, result: true, "method?": false })),
        about("An error response, which is accepted and ignored.", open({ jsonrpc: version, "id?": id, error: true, "method?": false })),
      ),
    ),
    Reply: oneOf(schema("Success"), schema("Failure")),
    Success: object({ jsonrpc: version, id, result: anyOf(...Object.keys(results).map(schema)) }),
    Failure: object({ jsonrpc: version, id, error: schema("Error") }),
    Rejection: about(
      "An error. The id is null if the beginning of the body has none that can be read.",
      object({ jsonrpc: version, id: oneOf(string, integer, nothing), error: schema("Error") }),
    ),
    Error: about(
      "-32700 not JSON, -32600 no valid message or no permission, -32601 no such method, -32602 invalid parameters, an unknown tool, resource or prompt, -32603 a fault of the server, -32002 no such resource (before 2026-07-28), -32020 headers and body differ, -32021 the client lacks a capability that the tool needs, -32022 another revision, -32042 the user must authorize (2025-11-25).",
      object({
        code: { ...integer, enum: [-32700, -32600, -32601, -32602, -32603, -32002, -32020, -32021, -32022, -32042] },
        message: text,
        "data?": object({
          "supported?": array(constant("2026-07-28")),
          "requested?": string,
          "uri?": string,
          "elicitations?": nonEmpty(object({ mode: constant("url"), elicitationId: text, url: text, message: text })),
          "requiredCapabilities?": object(
            {
              "elicitation?": object({ "form?": empty, "url?": empty }, { minProperties: 1 }),
              "sampling?": empty,
              "roots?": empty,
              "extensions?": object({ "io.modelcontextprotocol/tasks": empty }),
            },
            { minProperties: 1 },
          ),
        }),
      }),
    ),
    ...results,
    ResultMeta: object({
      "io.modelcontextprotocol/serverInfo?": schema("Implementation"),
      "toolbooth/error?": schema("ToolError"),
      "toolbooth/authorization?": nonEmpty(schema("AuthorizationChallenge")),
      "mcp/www_authenticate?": about(
        "How to sign in, or to get further scopes, as in WWW-Authenticate.",
        array(pattern('^Bearer realm="toolbooth"(, [a-z_]+="[^"]+")*$'), { minItems: 1, maxItems: 1 }),
      ),
    }),
    Implementation: object({
      name: text,
      title: text,
      version: text,
      "websiteUrl?": pattern("^https?://"),
      "icons?": about(
        "Only in server/discover and initialize, like websiteUrl.",
        array(
          object({
            src: pattern("^(https?://|data:image/)"),
            "mimeType?": text,
            "sizes?": array(pattern("^([0-9]+x[0-9]+|any)$")),
            "theme?": choice("light", "dark"),
          }),
        ),
      ),
    }),
    AuthorizationChallenge: shared.authorizationChallenge,
    ToolError: object({ message: string, can_retry: shared.canRetry, ...shared.failureDetails }),
    Tool: object({
      name: shared.toolName,
      "title?": text,
      description: text,
      inputSchema: objectSchema,
      "outputSchema?": objectSchema,
      annotations: object({
        "title?": text,
        readOnlyHint: boolean,
        destructiveHint: boolean,
        idempotentHint: boolean,
        openWorldHint: boolean,
      }),
      // The tools of the search have no id.
      "_meta?": object({
        "toolbooth/id?": text,
        "toolbooth/version?": text,
        "toolbooth/deprecated?": object({ message: text, "sunset?": text, "replacement?": text }),
        "ui?": object({ "resourceUri?": viewUri, visibility: nonEmpty(choice("model", "app")) }),
        "ui/resourceUri?": viewUri,
        "securitySchemes?": schema("SecuritySchemes"),
      }),
      "securitySchemes?": schema("SecuritySchemes"),
    }),
    SecuritySchemes: about(
      "What a call needs, if MCP_PER_TOOL_AUTHORIZATION is true: one of these is enough.",
      nonEmpty(oneOf(object({ type: constant("noauth") }), object({ type: constant("oauth2"), "scopes?": nonEmpty(text) }))),
    ),
    InputRequest: about(
      "For the user, as a page or a form; for the client's model; or for the client.",
      anyOf(
        inputRequest("elicitation/create", object({ mode: constant("url"), url: text, message: text })),
        inputRequest("elicitation/create", object({ message: text, requestedSchema: anyObject })),
        inputRequest("sampling/createMessage", open({ messages: nonEmpty(true), maxTokens: { ...integer, minimum: 1 } })),
        inputRequest("roots/list", empty),
      ),
    ),
    Notification: about(
      "The progress of a tool, or a message for the log.",
      oneOf(
        notification("notifications/progress", {
          progressToken: oneOf(string, number),
          progress: number,
          "total?": number,
          "message?": text,
        }),
        notification("notifications/message", { level: choice("debug", "info", "warning", "error"), data: string }),
      ),
    ),
    ContentBlock: about(
      "A block of content.",
      oneOf(
        textBlock,
        contentBlock("image", { data: string, mimeType: text }),
        contentBlock("audio", { data: string, mimeType: text }),
        contentBlock("resource", { resource: schema("ResourceContent") }),
        contentBlock("resource_link", { uri: text, name: text, "description?": string, "mimeType?": text }),
      ),
    ),
    Resource: object({ uri: text, name: text, "title?": text, description: text, mimeType: text, "_meta?": object({ ui: schema("View") }) }),
    View: about(
      "The origins that a view uses, from which hosts make its policy; what it uses of the browser, and how it looks best.",
      object({
        csp: object({ "connectDomains?": origins, "resourceDomains?": origins, "frameDomains?": origins, "baseUriDomains?": origins }),
        "permissions?": object({ "camera?": object({}), "microphone?": object({}), "geolocation?": object({}), "clipboardWrite?": object({}) }),
        "prefersBorder?": boolean,
        "domain?": text,
      }),
    ),
    Skill: about(
      "A skill: the frontmatter of its SKILL.md, and all of its files.",
      object({
        uri: pattern("^skill://.*/SKILL[.]md$"),
        frontmatter: open({ name: text, description: text }),
        resources: nonEmpty(object({ uri: pattern("^skill://"), digest: pattern("^sha256:[0-9a-f]{64}$"), size: natural })),
      }),
    ),
    ResourceContent: about(
      "Text, or bytes in base64.",
      oneOf(
        object({ uri: text, "mimeType?": text, text: string, "_meta?": object({ ui: schema("View") }) }),
        object({ uri: text, "mimeType?": text, blob: string }),
      ),
    ),
  },
});
