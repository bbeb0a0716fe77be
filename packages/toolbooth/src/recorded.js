// Answers in place of services with what the examples of tools have recorded: each tool whose example has a value gets one, whatever
// its input.
import { isDeepStrictEqual } from "node:util";

/** Where the service of a variable is, below the address of the stand-in. */
const pathOf = (variable) => `/services/${variable}`;

/**
 * The services of these definitions that users authorize: the variables with their addresses, and the path of each below the address
 * of the stand-in. As its default, a function that returns a response, or undefined if no tool sends such a request.
 */
export function recorded(definitions) {
  const routes = definitions.flatMap(routesOf);
  const variables = [...new Set(routes.map(({ variable }) => variable))];
  const answer = async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const fitting = routes.filter(({ method, path }) => method === request.method && path.test(pathname));
    const sent = { query: [...searchParams], body: jsonOf(await request.text()) };
    // Several tools may send to one address, as those of GraphQL do.
    const [best] = fitting.map((route) => ({ route, score: likeness(route, pathname, sent) })).sort((one, other) => other.score - one.score);
    return best && responseOf(best.route.response);
  };
  return { variables, pathOf, default: answer };
}

/** The requests of the examples of a tool that succeed. */
function routesOf({ requirements, http, examples = [] }) {
  if (!http?.base || !requirements?.authorization) return [];
  const template = http.path.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{[^}]*\}/g, "[^/]+");
  const path = new RegExp(`^${pathOf(http.base)}${template}$`);
  return examples.filter((example) => example.response && "value" in example).map(({ request, request_body, response }) => {
    const [method, address] = request.split(" ");
    const { pathname, searchParams } = new URL(address);
    return { variable: http.base, method, path, address: pathname, query: [...searchParams], body: request_body, response };
  });
}

/** How much a request is like that of an example: by its path, then by what its query and its body have in common. */
function likeness({ address, query, body }, pathname, sent) {
  const parts = (one) => [...one.query.map(([name, value]) => [name, value]), ...leaves(one.body)];
  const known = parts({ query, body });
  const common = parts(sent).filter((part) => known.some((one) => isDeepStrictEqual(one, part))).length;
  return common + (address !== "/" && pathname.endsWith(address) ? 1 : 0);
}

/** The values in a body, each with where it is. */
function leaves(value, at = "") {
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [[at, value]];
  return Object.entries(value).flatMap(([name, member]) => leaves(member, `${at}/${name}`));
}

function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function responseOf({ status = 200, body, link }) {
  const headers = link === undefined ? {} : { link };
  if (body === undefined || status === 204) return new Response(null, { status, headers });
  return typeof body === "string" ? new Response(body, { status, headers: { "content-type": "text/plain", ...headers } }) : Response.json(body, { status, headers });
}
