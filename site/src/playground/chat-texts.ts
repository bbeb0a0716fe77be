// What the chat says about models and their answers, and with what it can begin.
import { isObject, stringify } from "../json.ts";
import type { Details, Model, Tool } from "../server.ts";
import type { Took } from "./conversation.ts";
import { isPlain } from "./shape.ts";

/** Chats with tools read far more than they write. */
const READ = 4;

/** The cheapest of the models whose price is known, otherwise the first one. */
export function cheapest(models: Model[]): string {
  const costOf = ({ price }: Model) => (price ? price.input * READ + price.output : Infinity);
  // A sort keeps the order of those that cost the same.
  return models.toSorted((one, other) => costOf(one) - costOf(other) || 0)[0]?.name ?? "";
}

/** Questions to begin with: examples of tools that only read. */
export function questions(tools: Tool[], details: Map<string, Details>): string[] {
  const asked = tools.flatMap((tool) => {
    const { title, readOnly, examples = [] } = details.get(tool.name) ?? {};
    const input = examples.find((example) => example.succeeds)?.input;
    if (!readOnly || title === undefined || tool.requirements || !isObject(input)) return [];
    const values = Object.entries(input).filter(([, value]) => isPlain(value));
    return [`${title}${values.length > 0 ? `: ${values.map(([name, value]) => `${name} ${typeof value === "string" ? value : stringify(value)}`).join(", ")}` : ""}`];
  });
  // Versions of a tool have the same.
  return [...new Set(["What can you do here?", ...asked.filter((text) => text.length <= 80)])].slice(0, 4);
}

const digits = new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 0, maximumFractionDigits: 6 });
const dollars = (value: number): string => digits.format(value);
const whole = new Intl.NumberFormat("en");

/** What an answer took. Without its cost, that of its tokens at the price of its model, which is less if the provider has cached some of them. */
export function tookText({ model, duration, tokens, cost }: Took, models: Model[]): string {
  const price = models.find(({ name }) => name === model)?.price;
  const estimated = tokens && price ? (tokens.input * price.input + tokens.output * price.output) / 1e6 : undefined;
  return [
    model,
    tokens && `${whole.format(tokens.input)} tokens read, ${whole.format(tokens.output)} written`,
    cost !== undefined ? dollars(cost) : estimated !== undefined && `about ${dollars(estimated)}`,
    `${(duration / 1000).toFixed(1)} s`,
  ].filter(Boolean).join(" · ");
}

/** What a model costs, if that is known. */
export function withPrice(model: string, models: Model[]): string | undefined {
  const price = models.find(({ name }) => name === model)?.price;
  return price && `${dollars(price.input)} for a million tokens that it reads, ${dollars(price.output)} for those that it writes.`;
}
