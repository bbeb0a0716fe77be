// The formats of the model providers: lists of tools, and calls.
import {
  about,
  anyObject,
  anyOf,
  array,
  boolean,
  choice,
  constant,
  document,
  mapOf,
  nonEmpty,
  nothing,
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

// Each with the name of its paths, and the one that its components begin with.
const PROVIDERS = [
  { name: "openai", component: "Chat", title: "OpenAI Chat Completions" },
  { name: "openai-responses", component: "Responses", title: "OpenAI Responses" },
  { name: "anthropic", component: "Messages", title: "Anthropic Messages" },
  { name: "gemini", component: "Gemini", title: "Gemini generateContent" },
];
const perProvider = (make) => Object.fromEntries(PROVIDERS.map(make));
const query = (name, description, schema) => ({ name, in: "query", description, schema });
/** One name or more; a request without any is rejected. */
const names = pattern("[A-Za-z0-9]");
const flag = { ...choice("true", "false"), default: "false" };

const error = (types, more = {}) => object({ error: object({ code: text, message: text, type: choice(...types), ...more }) });

// Lists

const toolName = pattern("^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$");
const description = { ...text, maxLength: 4096 };
const strict = { strict: boolean };
/** A tool whose schema is the member `parameters`. */
const tool = (parameters, before = {}, after = {}) =>
  object({ ...before, name: toolName, description, [parameters]: schema("ToolSchema"), ...after });
const atMost128 = (items) => array(items, { maxItems: 128 });
const deferred = { defer_loading: constant(true) };
/** A list for the provider's own search: the tool that searches, and those that it finds. */
const searched = (search, tools) => ({ type: "array", prefixItems: [search], items: tools.length === 1 ? tools[0] : oneOf(...tools), minItems: 1, maxItems: 10_001 });
const functionType = { type: constant("function") };

export const providerLists = document({
  title: "Toolbooth: model providers, lists",
  description:
    "The tools in the format of each model provider, and the capabilities of the providers. The tests check every response against this document.",
  servers: [{ url: "/providers", description: "The common path of the providers." }],
  implied: shared.implied,
  paths: {
    "/": path({
      get: {
        operationId: "capabilities",
        summary: "The capabilities of each provider's API, with sources",
        security,
        parameters: ["IfNoneMatch"],
        responses: { 200: "Capabilities", ...shared.listErrors },
      },
    }),
    ...perProvider(({ name, component, title }) => [
      `/${name}/tools`,
      path({
        get: {
          operationId: `${name}-tools`,
          summary: `Tools for ${title}`,
          security,
          parameters: [name === "gemini" ? "NotStrict" : "Strict", "Include", "Toolkit", "Version", "StrictSchemas", "SkipIncompatible", ["anthropic", "openai-responses"].includes(name) ? "Tools" : "AllTools", "IfNoneMatch"],
          responses: {
            200: `${component}Tools`,
            ...shared.listErrors,
            400: "Rejected",
            403: "Forbidden",
            503: "Rejected",
          },
        },
      }),
    ]),
  },
  securitySchemes: shared.securitySchemes,
  parameters: {
    Strict: query("strict", "Tools whose calls the provider makes match their schema.", flag),
    NotStrict: query("strict", "Gemini has no strict tools.", { ...constant("false"), default: "false" }),
    Include: query(
      "include",
      "Only these tools, separated by commas: names, names with a version (Name__1_0_0) or ids (Toolkit.Tool, Toolkit.Tool@1.0.0).",
      names,
    ),
    Toolkit: query("toolkit", "Only tools of these toolkits, separated by commas.", names),
    Version: query("version", "latest, all, or x.y.z; for tools that include does not name with a version.", {
      ...pattern("^(latest|all|[0-9]+\\.[0-9]+\\.[0-9]+)$"),
      default: "latest",
    }),
    StrictSchemas: query("strict_schemas", "Tools whose schema in the list would allow more than their own are incompatible.", flag),
    SkipIncompatible: query("skip_incompatible", "Leave out tools that the provider does not accept; toolbooth-warning names them.", flag),
    Tools: query("tools", "search: the list has the provider's search tool, and defers all tools but those that are always listed.", {
      ...choice("all", "search"),
      default: "all",
    }),
    AllTools: query("tools", "The provider has no search of its own.", { ...constant("all"), default: "all" }),
    IfNoneMatch: ifNoneMatch,
  },
  headers: shared.headers(READ, POST),
  responses: {
    ...shared.errors("Error"),
    Capabilities: response("Features, and how each provider's API supports them.", "Capabilities", cached),
    ...perProvider(({ component }) => [
      `${component}Tools`,
      response(
        "The value of tools in a request to the provider. The header toolbooth-warning names tools that were left out or need attention.",
        `${component}Tools`,
        cached,
      ),
    ]),
    Rejected: response(
      "The query is invalid, or asks for a tool that the provider does not accept or the operator does not allow.",
      "Error",
    ),
  },
  schemas: {
    ToolSchema: about("JSON Schema of an object, as the provider accepts it.", open({ type: constant("object") })),
    ChatTools: atMost128(object({ ...functionType, function: tool("parameters", {}, strict) })),
    ResponsesTools: oneOf(
      atMost128(tool("parameters", functionType, strict)),
      searched(object({ type: constant("tool_search") }), [
        tool("parameters", functionType, strict),
        object({ type: constant("namespace"), name: toolName, description, tools: array(tool("parameters", { ...deferred, ...functionType }, strict), { minItems: 1 }) }),
      ]),
    ),
    MessagesTools: oneOf(
      atMost128(tool("input_schema", {}, { "strict?": constant(true) })),
      searched(object({ type: constant("tool_search_tool_bm25_20251119"), name: constant("tool_search_tool_bm25") }), [
        tool("input_schema", { "defer_loading?": constant(true) }, { "strict?": constant(true) }),
      ]),
    ),
    GeminiTools: array(object({ functionDeclarations: atMost128(tool("parametersJsonSchema")) }), {
      minItems: 1,
      maxItems: 1,
    }),
    Capabilities: object({
      as_of: pattern("^\\d{4}-\\d{2}$"),
      sources: mapOf(text),
      features: nonEmpty(object({ feature: text, ...perProvider(({ name }) => [name, text]), page: text, source: text })),
    }),
    Error: error(["invalid_request_error", "authentication_error", "permission_error", "semantic_error", "server_error"], {
      code: about(
        "invalid_request, unauthenticated, tool_not_found, tool_not_allowed, missing_scope, origin_not_allowed, tool_schema_incompatible, too_many_tools, not_found, method_not_allowed or unavailable.",
        text,
      ),
      "incompatible_features?": nonEmpty(text),
      "tools?": nonEmpty(object({ name: toolName, incompatible_features: nonEmpty(text) })),
    }),
  },
});

// Calls

// Members that are null count as absent, except in the arguments of a call.
const present = { not: nothing };
const optional = (type) => anyOf(type, nothing);
/** At least one of these members, and what `known` says of them and others. Lists only the first, for those who generate values. */
const oneMember = (names, known = {}) => ({
  ...open({ [`${names[0]}?`]: true, ...known }),
  not: open(Object.fromEntries(names.map((name) => [`${name}?`, nothing]))),
});
/** A list of choices, of which only the first is read. */
const choices = (first) => array(true, { prefixItems: [first] });

// Both spellings of a member of Gemini's.
const spelled = (...names) => names.flatMap((name) => [...new Set([name, name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)])]);
const ofGemini = {
  response: spelled("candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"),
  candidate: ["content", ...spelled("finishReason")],
  part: spelled(
    "thought",
    "thoughtSignature",
    "inlineData",
    "fileData",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "partMetadata",
    "mediaResolution",
    "mediaProcessing",
    "videoMetadata",
    "speechMetadata",
    "audioMetadata",
    "audioTranscription",
    "documentMetadata",
    "spreadsheetMetadata",
  ),
};

const chatCalls = array(schema("ChatCall"));
const responsesItems = array(schema("ResponsesItem"));
const messagesBlocks = array(schema("MessagesBlock"));
const geminiParts = array(schema("GeminiPart"));
/** Results in the member `member`, with what a client must know. */
const results = (member, messages) => object({ [member]: messages, _toolbooth: schema("Notes") });
/** Any object of a model's response may have options. */
const options = { "request_options?": schema("RequestOptions") };
/** One message that holds all results, or none without calls. */
const oneMessage = (description, members) => about(description, array(object({ role: constant("user"), ...members }), { maxItems: 1 }));

export const providerCalls = document({
  title: "Toolbooth: model providers, calls",
  description:
    "Takes the response of a model, runs the calls in it, and returns what its provider expects next. Describes only the members that the server reads; it ignores all others.",
  servers: [{ url: "/providers" }],
  implied: shared.implied,
  paths: perProvider(({ name, component, title }) => [
    `/${name}/call`,
    path({
      post: {
        operationId: `call-${name}`,
        summary: `Runs the calls in the response of a model: ${title}`,
        description:
          "200 contains a result for every call that runs here, also for failed ones. With any other status except 500, no call ran.",
        security,
        parameters: ["Validate", "Unknown"],
        requestBody: component,
        responses: {
          200: `Ran${component}`,
          ...shared.callErrors,
          415: "UnsupportedMediaType",
          500: "Failed",
          503: "Unavailable",
        },
      },
    }),
  ]),
  securitySchemes: shared.securitySchemes,
  parameters: {
    Validate: query(
      "validate_tool_arguments",
      "true: invalid arguments of any call are rejected with 400 before any call runs. Otherwise only the result of that call is an error.",
      flag,
    ),
    Unknown: query(
      "unknown",
      "leave: calls of tools that this server does not have get no result, and the client adds its own. Otherwise their result is an error.",
      {
        ...choice("answer", "leave"),
        default: "answer",
      },
    ),
  },
  headers: shared.headers(POST),
  requestBodies: perProvider(({ component }) => [
    component,
    requestBody("The response of the model, whole or in part. application/json, or a type that ends in +json.", `${component}Answer`),
  ]),
  responses: {
    ...shared.errors("Error"),
    ...perProvider(({ component }) => [
      `Ran${component}`,
      response("The results in the order of their calls, ready to be appended.", `${component}Results`),
    ]),
    Rejected: response(
      "No call ran: the body is not JSON or not a response of this provider's models, it has too many calls, the query is invalid, request_options are invalid, or, with validate_tool_arguments, arguments are.",
      "Error",
    ),
  },
  schemas: {
    RequestOptions: about("Other members are rejected.", {
      type: ["object", "null"],
      properties: { validate_tool_arguments: about("The same as in the query; send it once.", { type: ["boolean", "null"] }) },
      additionalProperties: false,
    }),
    ChatAnswer: about(
      "A chat completion, its assistant message, or its tool calls.",
      anyOf(
        open({ choices: choices(open({ message: open({ "tool_calls?": optional(chatCalls) }) })), ...options }),
        open({ role: { const: "assistant" }, "tool_calls?": optional(chatCalls), "choices?": nothing, ...options }),
        open({ tool_calls: chatCalls, "choices?": nothing, ...options }),
        chatCalls,
      ),
    ),
    ChatCall: about(
      "A call of a function; or of another kind, which is left to the client.",
      anyOf(
        open({ type: text, "function?": nothing }),
        open({ function: open({ "name?": about("Required in a call that runs.", true), "arguments?": about("JSON in a string.", true) }) }),
      ),
    ),
    ResponsesAnswer: about("A response, or its output items.", anyOf(open({ output: responsesItems, ...options }), responsesItems)),
    ResponsesItem: about(
      "An item of any type, of which only the function calls run; or a message that has only a role.",
      anyOf(open({ type: text }), open({ role: present })),
    ),
    MessagesAnswer: about(
      "A message, or its content blocks.",
      anyOf(open({ content: anyOf(string, messagesBlocks), ...options }), messagesBlocks),
    ),
    MessagesBlock: about("A block of any type, of which only tool_use runs.", open({ type: text })),
    GeminiAnswer: about(
      "A response, a candidate, its content, or its parts; or the function calls alone. Members may be spelled functionCall or function_call.",
      anyOf(
        oneMember(ofGemini.response, { "candidates?": optional(choices(schema("GeminiCandidate"))), ...options }),
        open({ parts: geminiParts, "candidates?": nothing, ...options }),
        {
          allOf: [
            schema("GeminiCandidate"),
            oneMember(ofGemini.candidate, { "candidates?": nothing, "parts?": nothing, ...options }),
          ],
        },
        geminiParts,
      ),
    ),
    GeminiCandidate: open({ "content?": optional(open({ "parts?": optional(geminiParts) })) }),
    GeminiPart: about(
      "A function call, or a part of another kind.",
      anyOf(
        open({ functionCall: anyObject }),
        open({ "functionCall?": nothing, function_call: anyObject }),
        oneMember(["text", "name", "args", ...ofGemini.part], { "functionCall?": nothing, "function_call?": nothing }),
      ),
    ),
    ChatResults: results("messages", array(object({ role: constant("tool"), tool_call_id: text, content: text }))),
    ResponsesResults: results("input", array(object({ type: constant("function_call_output"), call_id: text, output: text }))),
    MessagesResults: results(
      "messages",
      oneMessage("Empty if no call runs here; otherwise the next message. Other blocks may only follow these.", {
        content: nonEmpty(object({ type: constant("tool_result"), tool_use_id: text, content: text, is_error: boolean })),
      }),
    ),
    GeminiResults: results(
      "contents",
      oneMessage("Empty if no call runs here; otherwise the next content, with as many responses as the model's content has calls.", {
        parts: nonEmpty(object({ functionResponse: schema("FunctionResponse") })),
      }),
    ),
    FunctionResponse: object({
      "id?": about("The id of the call, if it has one.", text),
      name: about("The name in the call.", string),
      response: oneOf(
        object({ output: about("The tool's value; a string if it has none, or one of more than 64 KiB.") }),
        object({ error: text }),
      ),
    }),
    Notes: object({
      calls: about(
        "One for each result. The server makes an id if the model sent none: call_{milliseconds}_{name}.",
        array(object({ id: text, name: string, success: boolean })),
      ),
      warnings: about("For the client: calls that are left to it, ids that the server made, a response that was cut off.", array(text)),
    }),
    Error: error(["invalid_request_error", "authentication_error", "permission_error", "rate_limit_error", "server_error"]),
  },
});
