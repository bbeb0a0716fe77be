// A stand-in for GitHub's API on a loopback port, with the responses in tests/samples/github/responses.
import { readFileSync } from "node:fs";
import { listen } from "./server.mjs";

const file = (name) => readFileSync(new URL(`../samples/github/responses/${name}.json`, import.meta.url));

/**
 * Starts it. It accepts every token with an `account`. `tokens` has the tokens it received, `requests`
 * the method and path of each request, unmodified. The repository `moved` redirects to the other one.
 */
export async function github(account = async () => "octocat") {
  const [tokens, requests] = [[], []];
  const server = await listen(async (request, response) => {
    const { method, url, headers } = request;
    const token = headers.authorization?.replace(/^Bearer /, "");
    tokens.push(token);
    requests.push(`${method} ${url}`);
    const answer = (status, body) => response.writeHead(status, { "content-type": "application/json" }).end(body);
    if (!token || !(await account(token))) answer(401, '{"message":"Bad credentials"}');
    else if (url.startsWith("/repos/octocat/moved/")) response.writeHead(307, { location: "/repos/octocat/hello-world/issues" }).end();
    else if (!url.startsWith("/repos/octocat/hello-world/issues")) answer(404, '{"message":"Not Found"}');
    else if (method === "POST") answer(201, file("issue"));
    else answer(200, file("issues"));
  });
  return { ...server, tokens, requests };
}
