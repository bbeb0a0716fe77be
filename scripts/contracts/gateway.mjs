// The chat gateway: OpenAI Chat Completions with any model.
import { about, anyObject, anyOf, array, boolean, choice, constant, document, natural, nonEmpty, nothing, number, object, oneOf, open, path, requestBody, response, schema, string, text } from "./openapi.mjs";
import * as shared from "./shared.mjs";
import { POST, READ, security } from "./shared.mjs";

const tokens = { input_tokens: natural, output_tokens: natural, cached_tokens: natural };

/** The responses of a request to a model. */
export const statuses = {
  200: "Answered",
  400: "Rejected",
  401: "Unauthenticated",
  403: "Forbidden",
  404: "UnknownModel",
  413: "TooLarge",
  415: "UnsupportedMediaType",
  422: "Rejected",
  429: "TooManyRequests",
  500: "Failed",
  502: "ProviderFailed",
  503: "NotAvailable",
  504: "TimedOut",
};

export const providerKey = {
  name: "x-provider-key",
  in: "header",
  description: "The caller's own key of the provider, if GATEWAY_CALLER_KEYS is true.",
  schema: string,
};

/** The headers of an answer. */
export const answerHeaders = {
  Provider: { description: "The provider that answered.", required: true, schema: text },
  Model: { description: "The model that answered, as its provider names it.", required: false, schema: text },
  Attempts: { description: "The number of requests to providers.", required: true, schema: text },
};

/** What may go wrong with a request to a model. */
export const failures = {
  Rejected: response("The gateway or the provider rejects the request.", "Error"),
  UnknownModel: response("There is no such model.", "Error"),
  TooManyRequests: response("The caller's limit or the provider's is reached. Retry-After may be missing.", "Error"),
  ProviderFailed: response("The provider failed, or its answer exceeds a limit.", "Error"),
  NotAvailable: response("No provider is configured for the model, the provider is overloaded, or the configuration is wrong.", "Error"),
  TimedOut: response("The provider, or the whole request, took too long.", "Error"),
};

/** `_2api` of an answer. */
export const report = object({
  "warning?": about("The response has calls that the client must run.", text),
  "warnings?": nonEmpty(text),
  "dropped?": about("Members of the request that the provider does not get.", nonEmpty(text)),
  "finish_reason?": about("Why the model stopped, if the answer cannot say it because it has calls.", choice("length", "content_filter")),
  provider: text,
  model: text,
  attempts: nonEmpty(object({ provider: text, "status?": natural, ms: natural })),
  rounds: natural,
  "tool_calls?": about(
    "The calls of this server's tools that the gateway ran.",
    nonEmpty(object({ id: text, tool: text, ms: natural, "error?": text })),
  ),
  usage: object({ ...tokens, tool_calls: natural, rounds: natural }),
  "state?": about("Send it back as _2api.state, unless the message with the calls is sent back unchanged.", text),
  "challenge?": object({ provider: text, url: text, check_url: text }),
});

/** `request_options`. */
export const requestOptions = open({
  "validate_tool_arguments?": boolean,
  "strict?": about("Whether the model gets all members that it may reject.", boolean),
  "strict_schemas?": boolean,
  "max_rounds?": { type: "integer", minimum: 1, maximum: 25 },
  "max_tool_calls?": { type: "integer", minimum: 1 },
  "timeout_ms?": { type: "integer", minimum: 1 },
});

/** An error, as OpenAI writes it. */
export const error = object({
  error: object({
    message: text,
    type: choice("invalid_request_error", "authentication_error", "permission_error", "rate_limit_error", "semantic_error", "server_error"),
    param: anyOf(string, nothing),
    code: text,
    "incompatible_features?": nonEmpty(text),
  }),
});

const model = {
  name: "model",
  in: "path",
  required: true,
  description: "The id of the model. Its slashes need no escapes.",
  schema: text,
};

/** An error, as Anthropic writes it. */
export const errorOfAnthropic = object({
  type: constant("error"),
  error: object({
    type: choice(
      "invalid_request_error",
      "authentication_error",
      "billing_error",
      "permission_error",
      "not_found_error",
      "request_too_large",
      "rate_limit_error",
      "api_error",
      "overloaded_error",
      "timeout_error",
    ),
    message: text,
  }),
  request_id: nothing,
});

// Lists are asked for by clients of both formats.
const eitherError = oneOf(schema("Error"), schema("ErrorOfAnthropic"));

export const gateway = document({
  title: "Toolbooth: chat gateway",
  description:
    "Passes conversations on to the models of several providers, in the format of OpenAI Chat Completions. Describes the members that the gateway adds; the others are OpenAI's.",
  servers: [{ url: "/v1" }, { url: "/2api/v1" }],
  implied: shared.implied,
  paths: {
    "/chat/completions": path({
      post: {
        operationId: "chat",
        summary: "Asks a model",
        description: "model is provider/model or an alias. stream: true gives Server-Sent Events.",
        security,
        parameters: ["ProviderKey"],
        requestBody: "Chat",
        responses: statuses,
      },
    }),
    "/embeddings": path({
      post: {
        operationId: "embeddings",
        summary: "Asks a model for the embeddings of texts",
        description: "Of providers with OpenAI's format. The answer is that of the provider.",
        security,
        parameters: ["ProviderKey"],
        requestBody: "Embeddings",
        responses: { ...statuses, 200: "Embedded" },
      },
    }),
    "/models/{model}": path({
      get: {
        operationId: "model",
        summary: "One of the models that the caller may use",
        security,
        parameters: [model],
        responses: { 200: "Model", 401: "NoCaller", 403: "NoOrigin", 404: "NoModel" },
      },
      options: {
        summary: "The methods of this path; the CORS preflight of an allowed origin",
        parameters: [model],
        responses: { 204: "Options", 403: "OriginNotAllowed" },
      },
    }),
    "/models": path({
      get: {
        operationId: "models",
        summary: "The models that the caller may use; none without the scope gateway",
        security,
        responses: { 200: "Models", 401: "NoCaller", 403: "NoOrigin" },
      },
    }),
  },
  securitySchemes: shared.securitySchemes,
  parameters: {
    ProviderKey: providerKey,
  },
  headers: {
    ...shared.headers(READ, POST),
    ...answerHeaders,
  },
  requestBodies: {
    Chat: requestBody(shared.jsonBody, "ChatRequest"),
    Embeddings: requestBody(shared.jsonBody, "EmbeddingsRequest"),
  },
  responses: {
    ...shared.errors("Error"),
    Answered: {
      description: "The answer of the model. A stream has OpenAI's chunks; an event with the member error ends it early.",
      headers: { ...answerHeaders.names, ...shared.uncached },
      content: {
        "application/json": { schema: schema("Completion") },
        "text/event-stream": { schema: string },
      },
    },
    ...failures,
    Models: response("The models. Requests with anthropic-version get Anthropic's list.", oneOf(schema("Models"), schema("ModelsOfAnthropic")), shared.uncached),
    Embedded: response("The embeddings, as the provider wrote them.", anyObject, {
      "x-2api-provider": "Provider",
      "x-2api-model": "Model",
      "x-2api-attempts": "Attempts",
      ...shared.uncached,
    }),
    Model: response("The model. Requests with anthropic-version get Anthropic's form.", oneOf(schema("Model"), schema("ModelOfAnthropic")), shared.uncached),
    NoModel: response("There is no such model.", eitherError),
    NoCaller: shared.errors(eitherError).Unauthenticated,
    NoOrigin: shared.errors(eitherError).OriginNotAllowed,
  },
  schemas: {
    ChatRequest: open({
      model: text,
      messages: nonEmpty(anyObject),
      "stream?": boolean,
      "tools?": anyOf(array(anyObject), nothing),
      "request_options?": requestOptions,
    }),
    Completion: open({
      id: text,
      object: constant("chat.completion"),
      created: natural,
      model: text,
      choices: array(
        open({
          index: natural,
          message: open({
            role: constant("assistant"),
            "images?": about("Pictures that the model has made.", nonEmpty(open({ index: natural, type: constant("image_url"), image_url: open({ url: text }) }))),
            "tool_calls?": nonEmpty(schema("ToolCall")),
          }),
          finish_reason: choice("stop", "length", "tool_calls", "content_filter"),
        }),
        { minItems: 1, maxItems: 1 },
      ),
      _2api: schema("Report"),
    }),
    ToolCall: open({
      index: natural,
      id: text,
      type: text,
    }),
    Report: report,
    EmbeddingsRequest: object({
      model: text,
      input: anyOf(string, array({})),
      "dimensions?": anyOf(natural, nothing),
      "encoding_format?": anyOf(text, nothing),
      "user?": anyOf(string, nothing),
    }),
    Model: object({
      id: text,
      object: constant("model"),
      created: natural,
      owned_by: text,
      "max_input_tokens?": about("The most tokens of a request, if MODELS or the provider says so.", natural),
      "max_output_tokens?": about("The most tokens of an answer, if MODELS or the provider says so.", natural),
      "price?": about("What a million tokens cost, in dollars, if MODELS says so; of several targets, the most.", object({ input: { ...number, minimum: 0 }, output: { ...number, minimum: 0 } })),
    }),
    Models: object({
      object: constant("list"),
      data: array(schema("Model")),
      providers: about("The providers whose other models the caller may use, as provider/model.", array(text)),
    }),
    ModelOfAnthropic: open({ id: text, type: constant("model"), display_name: text, created_at: text }),
    ErrorOfAnthropic: errorOfAnthropic,
    ModelsOfAnthropic: open({
      data: array(schema("ModelOfAnthropic")),
      has_more: constant(false),
      first_id: anyOf(text, nothing),
      last_id: anyOf(text, nothing),
    }),
    Error: error,
  },
});
