// The examples of OXP's call page, requests and responses verbatim. A response is compared byte by byte,
// with its JSON on one line and without `duration`.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SAMPLES, start } from "./support/worker.mjs";

const EXAMPLES = [
  {
    name: "Successful Execution",
    request: `{
      "call_id": "123e4567-e89b-12d3-a456-426614174000",
      "tool_id": "Calculator.Add@1.0.0",
      "input": { "a": 10, "b": 5 }
    }`,
    status: 200,
    response: `{
      "call_id": "123e4567-e89b-12d3-a456-426614174000",
      "duration": 2,
      "success": true,
      "value": 15
    }`,
  },
  {
    name: "Server Error",
    request: `{
      "call_id": "123e4567-e89b-12d3-a456-426614174000",
      "tool_id": "Calculator.Add@2.0.0"
    }`,
    status: 400,
    response: `{
      "message": "Tool 'Calculator_Add' was not found",
      "developer_message": "Calculator.Add version 2.0.0 is not available"
    }`,
  },
  {
    name: "Input Validation Error",
    request: `{
      "call_id": "123e4567-e89b-12d3-a456-426614174000",
      "tool_id": "Calculator.Add@1.0.0",
      "input": { "a": 10, "b": "infinity" }
    }`,
    status: 422,
    response: `{
      "message": "Some input parameters are invalid",
      "parameter_errors": { "b": "Must be a number" }
    }`,
  },
  {
    name: "Tool Execution Error",
    request: `{
      "call_id": "723e4567-e89b-12d3-a456-426614174006",
      "tool_id": "Doorbell.Ring@0.1.0",
      "input": { "doorbell_id": "doorbell1" }
    }`,
    status: 200,
    response: `{
      "call_id": "723e4567-e89b-12d3-a456-426614174006",
      "duration": 60,
      "success": false,
      "error": {
        "message": "Doorbell ID not found",
        "developer_message": "The doorbell with ID 'doorbell1' does not exist.",
        "can_retry": true,
        "additional_prompt_content": "ids: doorbell42,doorbell84",
        "retry_after_ms": 500
      }
    }`,
  },
];

const withoutDuration = (text) => text.replace(/"duration":\d+,/, '"duration":0,');

let worker;
before(async () => (worker = await start(SAMPLES)));
after(() => worker.close());

for (const path of ["/call", "/tools/call", "/oxp/call", "/oxp/tools/call"]) {
  for (const { name, request, status, response } of EXAMPLES) {
    test(`seed: ${name} at ${path}`, async () => {
      const reply = await worker.post(request, {
        path,
        headers: { authorization: "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..." },
      });
      assert.equal(reply.status, status);
      assert.equal(reply.headers["content-type"], "application/json");
      assert.equal(reply.headers["oxp-version"], "1.0");
      assert.equal(withoutDuration(reply.text), withoutDuration(JSON.stringify(JSON.parse(response))));
    });
  }
}
