// The paths of requests to GitHub. They carry the token of a user, so they must not reach anything but
// the given repository.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { github } from "./support/github.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

let api, worker;
before(async () => {
  api = await github();
  worker = await start(SAMPLES, { vars: { GITHUB_API_URL: api.base } });
});
after(async () => {
  await worker.close();
  await api.close();
});

const TOOLS = [
  ["GitHub.CreateIssue", "POST", { title: "Found a bug" }, ""],
  ["GitHub.ListIssues", "GET", {}, "?state=open&per_page=30&page=1"],
];

/** The response to a call, and the requests that reached GitHub. */
async function call(tool, input) {
  api.requests.splice(0);
  const authorization = [{ id: "github", token: `${CANARY}-token` }];
  const reply = await worker.call(tool, input, { context: { authorization } });
  return { ...reply, json: reply.json, requests: [...api.requests] };
}

for (const [tool, method, more, query] of TOOLS) {
  for (const [owner, repository] of [
    ["octocat", "hello-world"],
    ["ada_acme", ".github"],
    ["a-b", "..a.b_c"],
    ["repos", "a.."],
  ]) {
    test(`${tool}: ${owner}/${repository} is requested as is`, async () => {
      const { status, requests } = await call(tool, { owner, repository, ...more });
      assert.equal(status, 200);
      assert.deepEqual(requests, [`${method} /repos/${owner}/${repository}/issues${query}`]);
    });
  }

  for (const [owner, repository] of [
    ["..", "user"],
    ["%2E%2E", "user"],
    [".", "user"],
    ["octocat", ".."],
    ["octocat", "."],
    ["octocat", "%2e%2e"],
    ["octocat", ".\t."],
    ["octocat", "..\n"],
    ["octocat", "hello-world/../../user"],
    ["octocat", "..\\..\\user"],
    ["octocat", "hello-world?x="],
    ["octocat", "hello-world#"],
  ]) {
    test(`${tool}: ${JSON.stringify(`${owner}/${repository}`)} is not a repository, and no request is sent`, async () => {
      const { status, json, requests } = await call(tool, { owner, repository, ...more });
      assert.deepEqual([status, requests], [422, []]);
      assert.deepEqual(Object.keys(json.parameter_errors), [owner === "octocat" ? "repository" : "owner"]);
    });
  }
}
