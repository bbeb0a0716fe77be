// Cases about the members of a request: 15 and 16.
import assert from "node:assert/strict";
import { CLOCK, only, tool, user, WEATHER } from "../ask.mjs";

const tools = [WEATHER, CLOCK];

/** Sends `body` and passes what arrived at the provider to `examine`. */
const request = (title, provider, body, examine = () => {}, more = {}) => ({
  title,
  provider,
  run: async (gateway) => {
    // A model that must call a tool does so.
    gateway.script(provider, body.tool_choice === specific || body.tool_choice === "required" ? { calls: [{ name: "clock" }] } : { text: "Done" });
    const answer = await gateway.choice(provider, body);
    await examine(gateway.arrived(provider), answer);
  },
  ...more,
});
const generation = (body) => body.generationConfig ?? body.generation_config ?? {};
const calling = (body) => (body.toolConfig ?? body.tool_config)?.functionCallingConfig ?? (body.toolConfig ?? body.tool_config)?.function_calling_config ?? {};
const system = (body) => JSON.stringify(body.system ?? body.systemInstruction ?? body.system_instruction ?? body.messages);
const JSON_SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const response_format = { type: "json_schema", json_schema: { name: "place", strict: true, schema: JSON_SCHEMA } };
const specific = { type: "function", function: { name: "clock" } };

/** The tools as they arrived: JSON of all declarations. */
const declared = (body) => JSON.stringify(body.tools);
const schema = (properties) => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });

export const REQUESTS = [
  {
    number: 15,
    title: "Each member of a request is translated, or dropped by name",
    checks: [
      ...only("chat responses", request("without max_tokens", "anthropic", { max_tokens: undefined }, ({ max_tokens }) => assert.ok(max_tokens > 0))),
      ...only("chat", request("max_completion_tokens", "anthropic", { max_tokens: undefined, max_completion_tokens: 77 }, ({ max_tokens }) => assert.equal(max_tokens, 77)),
      request("max_completion_tokens", "gemini", { max_tokens: undefined, max_completion_tokens: 77 }, (body) => assert.equal(generation(body).maxOutputTokens ?? generation(body).max_output_tokens, 77))),
      ...only("chat responses", {
        title: "a temperature of 1.5 is not refused by the provider",
        provider: "anthropic",
        run: async (gateway) => {
          gateway.script("anthropic", { text: "Done" });
          await gateway.chat("anthropic", { temperature: 1.5 });
          assert.deepEqual(gateway.at("anthropic").rejections, []);
        },
      }),
      // Responses have no sequences that stop.
      ...only("chat messages", request("stop as a text", "anthropic", { stop: "END" }, (body) => assert.deepEqual(body.stop_sequences, ["END"])),
      request("stop as a list", "gemini", { stop: ["END", "FIN"] }, (body) => assert.deepEqual(generation(body).stopSequences ?? generation(body).stop_sequences, ["END", "FIN"]))),
      ...only("chat", ["anthropic"].map((provider) => ({
        title: "n: 2 is an error, not one answer",
        provider,
        run: async (gateway) => {
          gateway.script(provider, { text: "Done" });
          const { status } = await gateway.chat(provider, { n: 2 });
          assert.equal(status, 400);
        },
      }))),
      ...only("chat", request("response_format", "openai", { response_format }, (body) => assert.deepEqual(body.response_format, response_format))),
      ...only("messages responses", request("response_format", "openai", { response_format }, (body) => assert.match(JSON.stringify(body.response_format ?? body.text), /json_schema.*"city"/))),
      request("response_format", "anthropic", { response_format }, (body) => assert.match(JSON.stringify(body.output_config ?? body.output_format ?? body.tools), /"city"/)),
      request("response_format", "gemini", { response_format }, (body) => assert.match(JSON.stringify(generation(body)), /application\/json.*"city"|"city".*application\/json/)),
      request("parallel_tool_calls: false", "anthropic", { tools, parallel_tool_calls: false }, (body) => assert.equal(body.tool_choice?.disable_parallel_tool_use, true)),
      ...[["auto", "auto"], ["none", "none"], [specific, "tool"]].map(([tool_choice, type]) =>
        request(`tool_choice ${JSON.stringify(tool_choice)}`, "anthropic", { tools, tool_choice }, (body) => {
          // The default may be left out, and without tools nothing can be called.
          if (type === "none") assert.ok(body.tool_choice?.type === "none" || body.tools === undefined, JSON.stringify(body));
          else assert.equal(body.tool_choice?.type ?? "auto", type);
          if (type === "tool") assert.equal(body.tool_choice.name, "clock");
        }),
      ),
      ...[["none", "NONE"], [specific, "ANY"]].map(([tool_choice, mode]) =>
        request(`tool_choice ${JSON.stringify(tool_choice)}`, "gemini", { tools, tool_choice }, (body) => {
          if (mode === "NONE" && body.tools === undefined) return;
          assert.equal(calling(body).mode?.toUpperCase(), mode);
          if (tool_choice === specific) assert.deepEqual(calling(body).allowedFunctionNames ?? calling(body).allowed_function_names, ["clock"]);
        }),
      ),
      request('tool_choice "required"', "anthropic", { tools, tool_choice: "required" }, (body) => assert.equal(body.tool_choice?.type, "any")),
      request('tool_choice "required"', "gemini", { tools, tool_choice: "required" }, (body) => assert.equal(calling(body).mode?.toUpperCase(), "ANY")),
      ...["anthropic", "gemini"].map((provider) =>
        request("messages of the system in the middle, and of the developer", provider, {
          messages: [{ role: "system", content: "Be brief." }, user(), { role: "assistant", content: "Yes?" }, { role: "developer", content: "Answer in verse." }, user("Go on")],
        }, (body) => assert.match(system(body) + JSON.stringify(body), /Be brief[\s\S]*Answer in verse/)),
      ),
      // An empty list is valid in Anthropic's Messages and in Responses.
      request("an empty list of tools", "openai", { tools: [] }, (body) => assert.ok(!body.tools?.length)),
      request("consecutive messages of the user", "anthropic", { messages: [user("One"), user("Two")] }, (body) => assert.match(JSON.stringify(body), /One.*Two/)),
      ...["anthropic", "gemini"].map((provider) =>
        request("an image", provider, { messages: [user([{ type: "text", text: "What is this?" }, { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }])] }, (body) =>
          assert.match(JSON.stringify(body), /image\/png.*iVBORw0KGgo=|iVBORw0KGgo=.*image\/png/),
        ),
      ),
      ...only("chat", request("what the provider does not have is named", "anthropic", { seed: 1, logit_bias: { 1: 2 }, frequency_penalty: 1 }, (_, { _2api }) => {
        assert.deepEqual([...(_2api?.dropped ?? [])].sort(), ["frequency_penalty", "logit_bias", "seed"]);
      }, { own: true }),
      request("what the provider does not have is named", "gemini", { logit_bias: { 1: 2 }, parallel_tool_calls: true, tools }, (_, { _2api }) => {
        assert.ok(_2api?.dropped?.includes("logit_bias"), JSON.stringify(_2api));
      }, { own: true })),
    ],
  },
  {
    number: 16,
    title: "Schemas of tools are what the provider takes",
    checks: [
      ...["openai", "anthropic", "gemini"].map((provider) =>
        request("additionalProperties, format, bounds, a pattern and a default", provider, {
          tools: [tool("weather", schema({ city: { type: "string", pattern: "^[A-Z]", minLength: 1, default: "Rome" }, day: { type: "string", format: "date" }, days: { type: "integer", minimum: 1, exclusiveMaximum: 10, multipleOf: 1 } }))],
        }, (body) => assert.match(declared(body), /"days"/)),
      ),
      ...["openai", "anthropic", "gemini"].map((provider) =>
        request("anyOf, const, enum and a list of types", provider, {
          tools: [tool("weather", schema({ city: { anyOf: [{ type: "string" }, { type: "null" }] }, unit: { const: "celsius" }, scale: { enum: ["a", "b"] }, many: { type: ["string", "null"] } }))],
        }, (body) => assert.match(declared(body), /"scale"/)),
      ),
      ...["openai", "anthropic", "gemini"].map((provider) =>
        request("$ref to a definition", provider, {
          tools: [tool("weather", { ...schema({ city: { $ref: "#/$defs/city" } }), $defs: { city: { type: "string", description: "A city." } } })],
        }, (body) => assert.match(declared(body), /A city\./)),
      ),
      ...only("chat responses", request("a tool without parameters", "anthropic", { tools: [{ type: "function", function: { name: "clock", description: "The time." } }] }),
      request("a tool without parameters", "gemini", { tools: [{ type: "function", function: { name: "clock", description: "The time." } }] })),
      ...["openai", "anthropic", "gemini"].map((provider) =>
        request("keywords that only narrow what is valid", provider, {
          tools: [
            tool("note", schema({ meta: { type: "object", propertyNames: { type: "string" }, additionalProperties: {} } })),
            tool("send", schema({ to: { type: "string", allOf: [{ pattern: "^a" }, { pattern: "b$" }] } })),
            tool("pick", { ...schema({ size: { type: "integer", not: { const: 3 } } }), if: { required: ["size"] }, then: { minProperties: 1 } }),
          ],
        }, (body) => assert.match(declared(body), /"meta"[\s\S]*"to"[\s\S]*"size"/)),
      ),
      // A request in the provider's own format passes as it is.
      ...[["openai", "chat messages"], ["anthropic", "chat responses"], ["gemini", "chat messages responses"]].flatMap(([provider, fronts]) =>
        only(fronts, request("a union at the root", provider, {
          tools: [tool("find", { type: "object", oneOf: [schema({ id: { type: "integer" } }), schema({ title: { type: "string" } })] })],
        }, (body) => assert.match(declared(body), /"id"[\s\S]*"title"|"title"[\s\S]*"id"/))),
      ),
      request("a title and a description beside $ref", "gemini", {
        tools: [tool("weather", { ...schema({ city: { $ref: "#/$defs/city", title: "City", description: "Where." } }), $defs: { city: { type: "string" } } })],
      }, (body) => assert.match(declared(body), /Where\./)),
      {
        title: "for callers who ask for it, what cannot be expressed is an error before anything is sent",
        provider: "gemini",
        own: true,
        run: async (gateway) => {
          gateway.script("gemini", { text: "Done" });
          const request_options = { strict_schemas: true };
          const tools = [tool("weather", schema({ city: { allOf: [{ type: "string" }, { minLength: 2 }] } }))];
          const { status, json } = await gateway.chat("gemini", { tools, request_options });
          assert.equal(status, 400);
          // Anthropic's form of errors has no place for a code.
          const error = gateway.front.error(json);
          assert.match(error.message, /allOf/);
          if (gateway.front.name === "chat") {
            const { type, code, incompatible_features } = error;
            assert.deepEqual({ type, code, incompatible_features }, { type: "semantic_error", code: "tool_schema_incompatible", incompatible_features: ["allOf"] });
          }
          assert.equal(gateway.at("gemini").journal.length, 0);
        },
      },
    ],
  },
];
