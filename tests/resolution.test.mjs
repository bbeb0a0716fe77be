// How tool ids resolve to tools and versions (X11 to X14), and invalid ids (X16).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BOOTH, start } from "./support/worker.mjs";

let worker;
before(async () => (worker = await start(BOOTH)));
after(() => worker.close());

// An input that distinguishes the three versions: 1.0.0 has no separator, 1.1.0 drops non-ASCII characters,
// 2.0.0 keeps them and returns an object.
const INPUT = { text: "Crème x", separator: "_" };
const OF_VERSION = {
  "1.0.0": [422, { separator: "Is not a known parameter" }],
  "1.1.0": [200, "cr_me_x"],
  "2.0.0": [200, { slug: "crème_x", truncated: false }],
};

for (const [clause, tool_id, version] of [
  ["X14", "Text.Slugify", "2.0.0"],
  ["X12", "Text.Slugify@1.0.0", "1.0.0"],
  ["X12", "Text.Slugify@1.1.0", "1.1.0"],
  ["X12", "Text.Slugify@2.0.0", "2.0.0"],
  ["X13", "Text.Slugify@1", "1.0.0"],
  ["X13", "Text.Slugify@2", "2.0.0"],
  ["X13", "Text.Slugify@01", "1.0.0"],
  ["X12", "Text.Slugify@01.01.00", "1.1.0"],
]) {
  test(`${clause} ${tool_id} runs ${version}`, async () => {
    const [status, expected] = OF_VERSION[version];
    const reply = await worker.call(tool_id, INPUT);
    assert.equal(reply.status, status);
    assert.deepEqual(reply.json.value ?? reply.json.parameter_errors, expected);
  });
}

test("X11 the list has all three versions of a tool", async () => {
  const { items } = (await worker.get("/tools")).json;
  assert.deepEqual(
    items.filter(({ name }) => name === "Text_Slugify").map(({ id }) => id),
    ["Text.Slugify@1.0.0", "Text.Slugify@1.1.0", "Text.Slugify@2.0.0"],
  );
});

for (const [tool_id, message, developer_message] of [
  ["Text.Slugify@3", "Tool 'Text_Slugify' was not found", "Text.Slugify version 3.0.0 is not available"],
  ["Text.Slugify@0", "Tool 'Text_Slugify' was not found", "Text.Slugify version 0.0.0 is not available"],
  ["Text.Slugify@1.0.1", "Tool 'Text_Slugify' was not found", "Text.Slugify version 1.0.1 is not available"],
  ["Doorbell.Ring@1", "Tool 'Doorbell_Ring' was not found", "Doorbell.Ring version 1.0.0 is not available"],
  ["Text.Shout", "Tool 'Text_Shout' was not found", "Text.Shout is not a tool of this server"],
  ["Text.Shout@1.0.0", "Tool 'Text_Shout' was not found", "Text.Shout is not a tool of this server"],
  ["text.slugify", "Tool 'text_slugify' was not found", "text.slugify is not a tool of this server"],
]) {
  test(`X16 ${tool_id} is not found`, async () => {
    const reply = await worker.call(tool_id, INPUT);
    assert.equal(reply.status, 400);
    assert.deepEqual(reply.json, { message, developer_message });
  });
}

test("X16 a version beyond 64 bits is not found", async () => {
  const reply = await worker.call(`Text.Slugify@${"9".repeat(40)}.0.0`, INPUT);
  assert.equal(reply.status, 400);
  assert.equal(reply.json.message, "Tool 'Text_Slugify' was not found");
  assert.equal(reply.json.developer_message, `Text.Slugify version ${"9".repeat(40)}.0.0 is not available`);
});

for (const tool_id of [
  "",
  "Slugify",
  "Text_Slugify",
  "Text.Slugify@",
  "Text.Slugify@1.0",
  "Text.Slugify@1.0.0.0",
  "Text.Slugify@v1",
  "Text.Slugify@latest",
  "Text.Slugify@1.0.0-beta",
  "Text.Slugify@^1.0.0",
  "Text.Slugify@ 1",
  "Text.Slugify@1@1",
  "Text.Slugify.More",
  "Te-xt.Slugify",
  " Text.Slugify",
  "Text.Slugify\n",
  "Tëxt.Slugify",
  ".Slugify",
  "Text.",
  "@1.0.0",
]) {
  test(`X16 ${JSON.stringify(tool_id)} is not a tool id`, async () => {
    const reply = await worker.call(tool_id, INPUT);
    assert.equal(reply.status, 400);
    assert.equal(reply.json.message, "The tool id is invalid");
    assert.match(reply.json.developer_message, /Toolkit\.Tool@1\.0\.0/);
  });
}

test("X16 an unknown tool is reported before its input is validated", async () => {
  const reply = await worker.call("Calculator.Add@7", { a: "not a number" });
  assert.equal(reply.status, 400);
});
