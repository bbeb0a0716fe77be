// What the stand-in for OAuth providers answers in GitHub's place: the issues of any repository except `nowhere`. They are in
// memory, so that a new issue is listed afterwards.

/** The variables of the tools that have the address of the service. */
export const variables = ["GITHUB_API_URL"];

/** Issues by repository, the newest first. */
const repositories = new Map();

/** Whether the repository of this path does not exist. */
export const isMissing = (pathname) => /^\/repos\/[^/]+\/nowhere(\/|$)/.test(pathname);

/** The response to a request with a token of the stand-in. */
export default async function answer(request) {
  const { pathname, searchParams } = new URL(request.url);
  const [, repository] = /^\/repos\/([^/]+\/[^/]+)\/issues$/.exec(pathname) ?? [];
  if (repository === undefined || isMissing(pathname)) return Response.json({ message: "Not Found" }, { status: 404 });
  const issues = repositories.get(repository) ?? [issue(repository, 1347, "Found a bug")];
  if (request.method === "POST") {
    const created = issue(repository, issues[0].number + 1, (await request.json()).title);
    repositories.set(repository, [created, ...issues]);
    return Response.json(created, { status: 201 });
  }
  const isListed = searchParams.get("state") !== "closed" && (searchParams.get("page") ?? "1") === "1";
  return Response.json(isListed ? issues : []);
}

const issue = (repository, number, title) => ({ number, title, state: "open", html_url: `https://github.com/${repository}/issues/${number}` });
