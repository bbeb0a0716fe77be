// The status of calls that run as tasks.
import { document, mapValues, path, pattern, response } from "./openapi.mjs";
import { callProblem, problem, task } from "./rest.mjs";
import * as shared from "./shared.mjs";
import { security, uncached } from "./shared.mjs";

const id = { name: "id", in: "path", required: true, description: "The id of the task, which the response to the call has.", schema: pattern("^[^/]+$") };
const responses = { 401: "Unauthenticated", 403: "OriginNotAllowed", 404: "NotFound", 429: "TooManyRequests", 503: "Unavailable" };

export const tasks = document({
  title: "Toolbooth: tasks",
  description: "Calls that go on without their clients. Only the caller of a task finds it.",
  servers: [{ url: "/tasks" }],
  implied: shared.implied,
  paths: {
    "/{id}": path({
      get: { operationId: "task", summary: "The status of a call, and its value when it has ended", security, parameters: [id], responses: { 200: "Status", ...responses } },
      delete: { operationId: "cancel-task", summary: "Cancels a call", security, parameters: [id], responses: { 204: "Cancelled", ...responses } },
      options: { summary: "The methods of this path; the CORS preflight of an allowed origin", parameters: [id], responses: { 204: "Options", 403: "OriginNotAllowed" } },
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: {
    ...shared.headers("GET, HEAD, DELETE, OPTIONS"),
    PollAfter: { description: "Seconds until it is worth to ask again; absent if the task has ended.", required: false, schema: pattern("^[0-9]+$") },
  },
  responses: {
    ...mapValues(shared.errors("Problem"), problem),
    Status: response("The task.", "Task", { ...uncached, "Retry-After": "PollAfter" }),
    Cancelled: response("The task is cancelled, or had ended."),
  },
  schemas: { Task: task, Problem: callProblem, AuthorizationChallenge: shared.authorizationChallenge },
});
