// The chat gateway in the format of Anthropic Messages.
import { about, anyObject, anyOf, array, constant, document, event, natural, nonEmpty, nothing, oneOf, open, path, pattern, requestBody, response, schema, text } from "./openapi.mjs";
import { answerHeaders, errorOfAnthropic, failures, providerKey, report, requestOptions, statuses } from "./gateway.mjs";
import * as shared from "./shared.mjs";
import { POST, security } from "./shared.mjs";

const responses = { ...statuses, 529: "Overloaded" };
const post = { security, parameters: ["ProviderKey"], requestBody: "Message" };
const events = ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "ping"];

export const messages = document({
  title: "Toolbooth: chat gateway, Anthropic Messages",
  description:
    "Passes conversations on to the models of several providers, in the format of Anthropic Messages. Describes the members that the gateway adds; the others are Anthropic's.",
  servers: [{ url: "/v1/messages" }],
  implied: shared.implied,
  paths: {
    "/": path({
      post: {
        operationId: "message",
        summary: "Asks a model",
        description: "model is provider/model or an alias. stream: true gives Server-Sent Events.",
        ...post,
        responses,
      },
    }),
    "/count_tokens": path({
      post: {
        operationId: "count-tokens",
        summary: "Counts the tokens of a request; an estimate for models that are not Anthropic's",
        ...post,
        responses: { ...responses, 200: "Counted" },
      },
    }),
  },
  securitySchemes: shared.securitySchemes,
  parameters: { ProviderKey: providerKey },
  headers: { ...shared.headers(POST), ...answerHeaders },
  requestBodies: { Message: requestBody(shared.jsonBody, "MessageRequest") },
  responses: {
    ...shared.errors("Error"),
    Answered: {
      description: "The answer of the model. A stream has Anthropic's events; the event error ends it early.",
      headers: { "x-2api-provider": "Provider", "x-2api-model": "Model", "x-2api-attempts": "Attempts", ...shared.uncached },
      content: {
        "application/json": { schema: schema("Message") },
        "text/event-stream": {
          schema: about("One event.", oneOf(...events.map((name) => event(name, open({ type: constant(name) }))), event("error", schema("Error")))),
          "x-stream": pattern("^(event: ?[a-z_]+\\ndata: ?\\{.*\\}\\n\\n)+$"),
        },
      },
    },
    Counted: response("The number of tokens.", "Count", shared.uncached),
    ...failures,
    Overloaded: response("The provider is overloaded.", "Error"),
  },
  schemas: {
    MessageRequest: open({
      model: text,
      messages: nonEmpty(anyObject),
      "max_tokens?": about("Required of a request for an answer.", { type: "integer", minimum: 1 }),
      "stream?": { type: "boolean" },
      "tools?": anyOf(array(anyObject), nothing),
      "request_options?": requestOptions,
      "_2api?": open({}),
    }),
    Message: open({
      id: text,
      type: constant("message"),
      role: constant("assistant"),
      model: text,
      content: array(open({ type: text })),
      stop_reason: text,
      usage: open({ input_tokens: natural, output_tokens: natural }),
      _2api: schema("Report"),
    }),
    Count: open({ input_tokens: natural }),
    Report: report,
    Error: errorOfAnthropic,
  },
});
