// The chat gateway: OpenAI Responses with any model.
import { answerHeaders, error, failures, providerKey, report, requestOptions, statuses } from "./gateway.mjs";
import { anyObject, anyOf, array, boolean, choice, constant, document, natural, nonEmpty, nothing, open, path, requestBody, schema, text } from "./openapi.mjs";
import * as shared from "./shared.mjs";
import { POST, READ, security } from "./shared.mjs";

export const responses = document({
  title: "Toolbooth: OpenAI Responses",
  description: "Passes conversations on to the models of several providers, in the format of OpenAI Responses, without storing anything. Describes the members that the gateway reads and adds; the others are OpenAI's.",
  servers: [{ url: "/v1/responses" }],
  implied: shared.implied,
  paths: {
    "/": path({
      post: {
        operationId: "respond",
        summary: "Asks a model",
        description: "model is provider/model or an alias. stream: true gives Server-Sent Events.",
        security,
        parameters: ["ProviderKey"],
        requestBody: "Responses",
        responses: statuses,
      },
    }),
  },
  securitySchemes: shared.securitySchemes,
  parameters: { ProviderKey: providerKey },
  headers: { ...shared.headers(READ, POST), ...answerHeaders },
  requestBodies: { Responses: requestBody(shared.jsonBody, "ResponsesRequest") },
  responses: {
    ...shared.errors("Error"),
    Answered: {
      description: "The response. A stream has OpenAI's events; the last one is response.completed, response.incomplete or response.failed.",
      headers: { "x-2api-provider": "Provider", "x-2api-model": "Model", "x-2api-attempts": "Attempts", ...shared.uncached },
      content: {
        "application/json": { schema: schema("Response") },
        "text/event-stream": { schema: open({ event: text, data: text }) },
      },
    },
    ...failures,
  },
  schemas: {
    ResponsesRequest: open({
      model: text,
      input: anyOf({ type: "string" }, nonEmpty(anyObject)),
      "instructions?": anyOf({ type: "string" }, nothing),
      "stream?": anyOf(boolean, nothing),
      "store?": anyOf(boolean, nothing),
      "background?": anyOf(constant(false), nothing),
      "previous_response_id?": nothing,
      "conversation?": nothing,
      "tools?": anyOf(array(anyObject), nothing),
      "request_options?": requestOptions,
    }),
    Response: open({
      id: text,
      object: constant("response"),
      created_at: natural,
      status: choice("completed", "incomplete"),
      error: nothing,
      model: text,
      output: array(open({ type: text })),
      "usage?": anyOf(
        open({
          input_tokens: natural,
          "input_tokens_details?": open({ cached_tokens: natural }),
          output_tokens: natural,
          "output_tokens_details?": open({ reasoning_tokens: natural }),
          total_tokens: natural,
        }),
        nothing,
      ),
      _2api: schema("Report"),
    }),
    Report: report,
    Error: error,
  },
});
