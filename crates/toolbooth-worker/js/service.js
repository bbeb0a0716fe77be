// Functions of tools in other Workers, which are bound to this one: docs/TOOLS.md describes the protocol.
import { ToolError } from "toolbooth";
import { read } from "./send.js";

/** The longest response, in bytes. */
const MAX_BYTES = 1 << 20;

/**
 * Has the Worker that is bound as `name` run a tool, with what the definition names and nothing else. Returns its answer: an object with
 * `value`, `error` or `refused`, after at most `timeout` milliseconds. `warn` gets the reason why there is none.
 */
export async function ask(env, name, input, { tool, user, tokens, secrets, variables, traceparent }, timeout, warn) {
  const [id, version] = tool.split("@");
  const headers = { "content-type": "application/json", ...(traceparent && { traceparent }) };
  const body = JSON.stringify({ tool: id, version, input, user, tokens, secrets, variables });
  const signal = AbortSignal.timeout(timeout);
  const unanswered = (problem, message = "The tool failed") => {
    warn("service", { tool, problem });
    return new ToolError(message);
  };
  let status, text;
  try {
    // No request leaves through the binding, so the host is only a name.
    const response = await env[name].fetch(`https://${name.toLowerCase()}.internal/call`, { method: "POST", headers, body, signal, redirect: "manual" });
    const { bytes, isCut } = await read(response, MAX_BYTES);
    if (isCut) throw unanswered("the response is too large");
    status = response.status;
    text = new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    // The text of an exception may contain input.
    throw signal.aborted ? unanswered("no response in time", "The tool did not respond in time") : unanswered("an exception");
  }
  if (status !== 200) throw unanswered(`status ${status}`);
  const answer = parsed(text);
  const members = answer && ["value", "error", "refused"].filter((member) => Object.hasOwn(answer, member));
  if (members?.length !== 1) throw unanswered("the response is not an object with value, error or refused");
  return answer;
}

/** The object that the text is, if it is one. */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
