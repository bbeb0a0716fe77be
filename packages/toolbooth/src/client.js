// The client of 2api.ai's page "Tool Calling" (4.2), around OpenAI's package, which the program that uses it installs.
import OpenAI from "openai";

/**
 * A client of the chat gateway at `baseURL`; further options are those of OpenAI's client.
 * Without `baseURL` and `apiKey`, the variables TOOLBOOTH_URL and TOOLBOOTH_KEY count, or else the server of `toolbooth dev`.
 */
export class Client {
  constructor({ baseURL, apiKey, model = "openai/gpt-5", ...options } = {}) {
    const { TOOLBOOTH_URL, TOOLBOOTH_KEY } = globalThis.process?.env ?? {};
    baseURL ??= TOOLBOOTH_URL ?? "http://localhost:8787/v1";
    apiKey ??= TOOLBOOTH_KEY ?? "development-key";
    this.model = model;
    this.openai = new OpenAI({ baseURL, apiKey, ...options });
  }

  /** Asks the model. `more` has further members of the request, such as `tool_choice`, or a different `model`. */
  async chat(messages, tools, more = {}) {
    const completion = await this.openai.chat.completions.create({ model: this.model, messages, ...(tools && { tools }), ...more });
    const [{ message, finish_reason }] = completion.choices;
    return { content: message.content, tool_calls: message.tool_calls, finish_reason, completion };
  }
}
