// Answers of OpenAI's Responses.
import { pieces } from "./stand-in.mjs";

/** Each tool that a request declares: in `tools`, in its namespaces, and in the items that add tools. */
function declared(body) {
  const added = Array.isArray(body.input) ? body.input.flatMap(({ type, tools }) => (["additional_tools", "tool_search_output"].includes(type) ? tools : [])) : [];
  return [...(body.tools ?? []), ...added].flatMap((tool) => (tool.type === "namespace" ? tool.tools.map((one) => ({ ...one, namespace: tool.name })) : [tool]));
}

/** The items of an answer. */
function output(turn, body, state) {
  const found = [];
  if (turn.thinking !== undefined) {
    const encrypted_content = Buffer.from(`reasoning of ${turn.seed}: ${turn.thinking}`).toString("base64");
    state.issued.set(encrypted_content, turn.thinking);
    found.push({ type: "reasoning", id: `rs_${turn.seed}`, summary: [{ type: "summary_text", text: turn.thinking }], encrypted_content });
  }
  if (turn.text.length > 0) {
    const content = [{ type: "output_text", text: turn.text.join(""), annotations: [], logprobs: [] }];
    found.push({ type: "message", id: `msg_${turn.seed}`, status: "completed", role: "assistant", content });
  }
  for (const { id, name, namespace, input = {}, text } of turn.calls) {
    const type = name === "tool_search" ? "tool_search" : declared(body).find((tool) => tool.name === name && tool.namespace === namespace)?.type;
    const call = { call_id: `call_${id}`.slice(0, 40), ...(namespace && { namespace }) };
    if (type === "tool_search") found.push({ type: "tool_search_call", id: `tsc_${id}`, call_id: call.call_id, status: "completed", execution: "client", arguments: input });
    else if (type === "custom") found.push({ type: "custom_tool_call", id: `ctc_${id}`, status: "completed", ...call, name, input: text ?? "" });
    else found.push({ type: "function_call", id: `fc_${id}`, status: "completed", ...call, name, arguments: text ?? JSON.stringify(input) });
  }
  return found;
}

function reply(turn, { body, state }) {
  const status = turn.finish ? "incomplete" : "completed";
  const response = {
    id: `resp_${turn.seed}`, object: "response", created_at: 1700000000, completed_at: status === "completed" ? 1700000001 : null, status, background: false,
    error: null, incomplete_details: turn.finish ? { reason: turn.finish } : null, instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null, max_tool_calls: null, model: body.model, output: output(turn, body, state),
    parallel_tool_calls: body.parallel_tool_calls ?? true, previous_response_id: null, prompt_cache_key: body.prompt_cache_key ?? null, reasoning: body.reasoning ?? { effort: null, summary: null },
    safety_identifier: null, service_tier: "default", store: body.store ?? true, temperature: body.temperature ?? 1, text: body.text ?? { format: { type: "text" } },
    tool_choice: body.tool_choice ?? "auto", tools: body.tools ?? [], top_logprobs: 0, top_p: body.top_p ?? 1, truncation: body.truncation ?? "disabled", user: null, metadata: body.metadata ?? {},
    usage: {
      input_tokens: 10, input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15, ...turn.usage,
    },
  };
  return body.stream ? { stream: true, events: events(response, turn, body) } : { body: response };
}

function* events({ output, usage, status, incomplete_details, completed_at, ...common }, turn, body) {
  let sequence_number = 0;
  const event = (type, rest) => ({ event: type, data: JSON.stringify({ type, sequence_number: sequence_number++, ...rest }) });
  // Deltas are padded, so that their length says nothing about the text.
  const padding = body.stream_options?.include_obfuscation === false ? {} : { obfuscation: "kT5x" };
  const begun = { ...common, status: "in_progress", completed_at: null, incomplete_details: null, output: [], usage: null };
  yield event("response.created", { response: begun });
  yield event("response.in_progress", { response: begun });
  for (const [output_index, item] of output.entries()) {
    const at = { item_id: item.id, output_index };
    const empty = { reasoning: { summary: [], encrypted_content: "" }, message: { status: "in_progress", content: [] }, function_call: { status: "in_progress", arguments: "" }, custom_tool_call: { status: "in_progress", input: "" } };
    yield event("response.output_item.added", { output_index, item: { ...item, ...empty[item.type] } });
    // Parts of what a model writes: each has deltas and then, in `done`, the whole.
    const parts = function* (name, place, deltas, whole) {
      if (turn.deltas !== false) for (const delta of deltas) yield event(`response.${name}.delta`, { ...at, ...place, delta, ...padding });
      yield event(`response.${name}.done`, { ...at, ...place, ...whole });
    };
    if (item.type === "reasoning") {
      for (const [summary_index, part] of item.summary.entries()) {
        const place = { summary_index };
        yield event("response.reasoning_summary_part.added", { ...at, ...place, part: { ...part, text: "" } });
        yield* parts("reasoning_summary_text", place, pieces(part.text), { text: part.text });
        yield event("response.reasoning_summary_part.done", { ...at, ...place, part });
      }
    }
    if (item.type === "message") {
      const [part] = item.content;
      const place = { content_index: 0 };
      yield event("response.content_part.added", { ...at, ...place, part: { ...part, text: "" } });
      for (const delta of turn.text) yield event("response.output_text.delta", { ...at, ...place, delta, logprobs: [], ...padding });
      yield event("response.output_text.done", { ...at, ...place, text: part.text, logprobs: [] });
      yield event("response.content_part.done", { ...at, ...place, part });
    }
    if (item.type === "function_call") yield* parts("function_call_arguments", {}, pieces(item.arguments), { name: item.name, arguments: item.arguments });
    if (item.type === "custom_tool_call") yield* parts("custom_tool_call_input", {}, pieces(item.input), { input: item.input });
    yield event("response.output_item.done", { output_index, item });
  }
  yield event(`response.${status}`, { response: { ...common, status, completed_at, incomplete_details, output, usage } });
}

export const responses = {
  rules: "responses",
  reply,
  failure: (message, sequence_number) => ({ event: "error", data: JSON.stringify({ type: "error", code: "server_error", message, param: null, sequence_number }) }),
};
