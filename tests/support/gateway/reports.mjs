// Bugs that users of gateways, agents and model servers have reported, as checks that run against any gateway, in each format of clients.
// The Worker's tests and the comparison with other gateways use them.
import { ANSWERS } from "./reports/answers.mjs";
import { MODELS } from "./reports/models.mjs";
import { REQUESTS } from "./reports/requests.mjs";

/** As `CASES`. `reported` names the issues on GitHub, by November 2026; a check also has a `target`: the model, and the `maker` of a server with OpenAI's format. */
export const REPORTS = [...MODELS, ...REQUESTS, ...ANSWERS].toSorted((a, b) => a.number.localeCompare(b.number));
