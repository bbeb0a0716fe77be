// The playground while a user grants access to an account: checks whose answers arrive late.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pretend, useSite } from "./support/site.mjs";

const { visiting } = useSite();

const isCheck = (request) => /\/auth\/check/.test(request.url());

/**
 * Opens a tool whose calls need an authorization, and waits until two checks wait for an answer. `calls` counts the calls, and `answer`
 * answers the checks: the user has agreed.
 */
async function challenged(visitor, page) {
  await pretend(visitor, { type: "object" });
  const json = (route, status, body) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify(body) });
  const { origin } = new URL(visitor.address);
  const authorization = [{ id: "github", url: `${origin}/auth/start?c=a`, check_url: `${origin}/auth/check?c=a` }];
  let calls = 0;
  await visitor.context.route("**/oxp/tools/call", (route) => {
    calls += 1;
    return json(route, 400, { message: "Authorization required", missing_requirements: { authorization } });
  });
  await visitor.context.route("**/auth/start*", (route) => route.fulfill({ contentType: "text/html", body: "" }));
  const check = (route, status) => json(route, 200, { provider: "GitHub", status });
  const { promise: both, resolve } = Promise.withResolvers();
  const waiting = [];
  let isHeld = false;
  await visitor.context.route("**/auth/check*", (route) => {
    if (!isHeld) return check(route, "pending");
    if (waiting.push(route) === 2) resolve();
  });
  await visitor.open("Test.Tool@1.0.0");
  await visitor.run();
  const link = page.getByRole("link", { name: "Continue to GitHub" });
  await link.waitFor();
  isHeld = true;
  await link.click();
  await both;
  const answer = async () => {
    isHeld = false;
    let left = waiting.length;
    const finished = page.waitForEvent("requestfinished", (request) => isCheck(request) && (left -= 1) === 0);
    await Promise.all([finished, ...waiting.map((route) => check(route, "completed"))]);
  };
  return { calls: () => calls, answer };
}

test("two checks that are answered at once run the call once", () =>
  visiting(async (visitor, page) => {
    const { calls, answer } = await challenged(visitor, page);
    await answer();
    await page.getByText("A new tab opens.").waitFor();
    await Promise.all([page.waitForResponse("**/oxp/tools/call"), visitor.run()]);
    assert.equal(calls(), 3, "the first one, the one after the answers, and this one");
  }));

test("an answer that arrives after the step has gone runs no call", () =>
  visiting(async (visitor, page) => {
    const { calls, answer } = await challenged(visitor, page);
    const over = page.getByLabel("over");
    await over.selectOption("mcp");
    await page.getByText("Run the tool to see the result here.").waitFor();
    await answer();
    await over.selectOption("oxp");
    await Promise.all([page.waitForResponse("**/oxp/tools/call"), visitor.run()]);
    assert.equal(calls(), 2, "the first one, and this one");
  }));
