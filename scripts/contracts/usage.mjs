// What callers have used of their budgets.
import { about, array, choice, document, integer, mapValues, number, object, path, pattern, response, schema, string, text } from "./openapi.mjs";
import { problem, problemMembers } from "./rest.mjs";
import * as shared from "./shared.mjs";
import { READ, security, uncached } from "./shared.mjs";

const amount = about("A number of units; with the unit usd, in dollars.", { ...number, minimum: 0 });
const count = { ...integer, minimum: 0 };

export const usage = document({
  title: "Toolbooth: usage",
  description: "The budgets of callers, and what they have used. A caller sees its own and the budgets of its team; with the scope usage:team, also what the team and its keys have used; with the scope usage, those of all.",
  servers: [{ url: "/usage", description: "Next to all protocols." }],
  implied: shared.implied,
  paths: {
    "/": path({
      get: {
        operationId: "usage",
        summary: "The budgets and what is used",
        security,
        parameters: [{ name: "after", in: "query", description: "The `next` of the page before; empty for the first page.", schema: string }],
        responses: { 200: "Usage", 401: "Unauthenticated", 403: "OriginNotAllowed", 503: "Unavailable" },
      },
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: shared.headers(READ),
  responses: {
    ...mapValues(shared.errors("Problem"), problem),
    Usage: response("At most 50 callers.", "Usage", uncached),
  },
  schemas: {
    Usage: object({ callers: array(schema("Caller")), "next?": about("The `after` of the next page, if there is one.", text) }),
    Caller: object({
      name: about("The name of the API key, the tenant or the team, or the `sub` of the person.", text),
      kind: choice("key", "person", "tenant", "team"),
      budgets: array(schema("Budget")),
      days: about("What was used on each of the last 31 days, in UTC. Days without any use are left out. Empty for a team if the caller lacks the scope usage:team.", array(schema("Day"))),
    }),
    Budget: object({
      window: choice("1m", "1h", "1d", "30d"),
      unit: choice("usd", "requests", "tool_calls"),
      limit: amount,
      used: about("What was used in the window.", amount),
      reserved: about("What requests may use that have not ended.", amount),
      resets_at: about("When the next window begins.", pattern("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$")),
    }),
    Day: about("What was used of each unit that a budget counts. The other units are left out.", object({ day: pattern("^\\d{4}-\\d\\d-\\d\\d$"), "usd?": { ...number, minimum: 0 }, "requests?": count, "tool_calls?": count })),
    Problem: about("A problem (RFC 9457).", object(problemMembers)),
  },
});
