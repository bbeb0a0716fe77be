// The chat gateway: OpenAI Responses with any model.
import { answerHeaders, error, failures, providerKey, report, requestOptions, statuses } from "./gateway.mjs";
import { anyObject, anyOf, array, boolean, choice, constant, document, mapValues, natural, nonEmpty, nothing, object, open, path, pattern, requestBody, response, schema, text } from "./openapi.mjs";
import * as shared from "./shared.mjs";
import { POST, security } from "./shared.mjs";

const id = { name: "id", in: "path", required: true, description: "The id of a response in the background.", schema: pattern("^[^/]+$") };
const ofStored = { 200: "Stored", 401: "Unauthenticated", 403: "OriginNotAllowed", 404: "NoResponse", 429: "TooManyRequests", 503: "NotAvailable" };
const options = { summary: "The methods of this path; the CORS preflight of an allowed origin", parameters: [id], responses: { 204: "Options", 403: "OriginNotAllowed" } };
const repeated = { id: text, object: constant("response"), created_at: natural, model: text, output: array(open({ type: text })) };
const STORED = "GET, HEAD, DELETE, OPTIONS";

export const responses = document({
  title: "Toolbooth: OpenAI Responses",
  description: "Passes conversations on to the models of several providers, in the format of OpenAI Responses. Only responses in the background are stored, and only their callers find them. Describes the members that the gateway reads and adds; the others are OpenAI's.",
  servers: [{ url: "/v1/responses" }],
  implied: shared.implied,
  paths: {
    "/": path({
      post: {
        operationId: "respond",
        summary: "Asks a model",
        description: "model is provider/model or an alias. stream: true gives Server-Sent Events. background: true answers at once, with a response that is queued.",
        security,
        parameters: ["ProviderKey"],
        requestBody: "Responses",
        responses: statuses,
      },
    }),
    "/{id}": path({
      get: { operationId: "response", summary: "A response in the background, as far as it has come", security, parameters: [id], responses: { ...ofStored, 400: "Rejected" } },
      delete: { operationId: "delete-response", summary: "Deletes a response in the background", security, parameters: [id], responses: { ...ofStored, 200: "Deleted" } },
      options,
    }),
    "/{id}/cancel": path({
      post: { operationId: "cancel-response", summary: "Cancels a response in the background, unless it has ended", security, parameters: [id], responses: ofStored },
      options,
    }),
  },
  securitySchemes: shared.securitySchemes,
  parameters: { ProviderKey: providerKey },
  // A response that is queued has none of them.
  headers: { ...shared.headers(STORED, POST), ...mapValues(answerHeaders, (one) => ({ ...one, required: false })) },
  requestBodies: { Responses: requestBody(shared.jsonBody, "ResponsesRequest") },
  responses: {
    ...shared.errors("Error"),
    Answered: {
      description: "The response. A stream has OpenAI's events; the last one is response.completed, response.incomplete or response.failed.",
      headers: { "x-2api-provider": "Provider", "x-2api-model": "Model", "x-2api-attempts": "Attempts", ...shared.uncached },
      content: {
        "application/json": { schema: anyOf(schema("Response"), schema("StoredResponse")) },
        "text/event-stream": { schema: open({ event: text, data: text }) },
      },
    },
    ...failures,
    Stored: response("The response.", "StoredResponse", shared.uncached),
    Deleted: response("The response is deleted; if its chat runs, it ends.", "DeletedResponse"),
    NoResponse: response("The caller has no such response in the background, or it has expired.", "Error"),
  },
  schemas: {
    ResponsesRequest: open({
      model: text,
      input: anyOf({ type: "string" }, nonEmpty(anyObject)),
      "instructions?": anyOf({ type: "string" }, nothing),
      "stream?": anyOf(boolean, nothing),
      "store?": anyOf(boolean, nothing),
      "background?": anyOf(boolean, nothing),
      "previous_response_id?": nothing,
      "conversation?": nothing,
      "tools?": anyOf(array(anyObject), nothing),
      "request_options?": requestOptions,
    }),
    StoredResponse: open({
      ...repeated,
      background: constant(true),
      store: constant(true),
      status: choice("queued", "in_progress", "completed", "incomplete", "failed", "cancelled"),
      error: anyOf(open({ code: text, message: text }), nothing),
    }),
    DeletedResponse: object({ id: text, object: constant("response"), deleted: constant(true) }),
    Response: open({
      ...repeated,
      status: choice("completed", "incomplete"),
      error: nothing,
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
