import { ToolTest } from "toolbooth/testing";
import { expect, test } from "vitest";

test("everyone gets a greeting, but not without a name", async (t) => {
  const tools = await ToolTest.start(t);
  expect(await tools.value("Greeter.Hello", { name: "Grace" })).toBe("Hello, Grace!");
  expect(await tools.call("Greeter.Hello", { name: "" })).toHaveProperty("rejected");
});
