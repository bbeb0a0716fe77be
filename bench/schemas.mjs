// Twenty typical input schemas of tools, each with a valid input. A row is `[properties, required, example]`.
// No schema uses `pattern`, which may add a regex engine to the bundle.

const string = (description, more) => ({ type: "string", description, ...more });
const integer = (description, more) => ({ type: "integer", description, ...more });
const number = (description, more) => ({ type: "number", description, ...more });
const boolean = (description) => ({ type: "boolean", description });
const choice = (description, ...words) => ({ type: "string", description, enum: words });
const array = (description, items, more) => ({ type: "array", description, items, ...more });
const object = (description, properties, required = []) => ({
  type: "object",
  description,
  properties,
  required,
  additionalProperties: false,
});

const id = string("The record's id.", { minLength: 1, maxLength: 64 });
const limit = integer("How many to return.", { minimum: 1, maximum: 100 });
const unit = choice("The unit.", "metric", "imperial");
const date = string("The day.", { format: "date" });
const email = string("The address.", { format: "email" });
const point = object(
  "A place.",
  {
    latitude: number("Degrees north.", { minimum: -90, maximum: 90 }),
    longitude: number("Degrees east.", { minimum: -180, maximum: 180 }),
  },
  ["latitude", "longitude"],
);
const money = object(
  "An amount.",
  {
    cents: integer("In the smallest unit.", { minimum: 0 }),
    currency: choice("The currency.", "EUR", "USD", "JPY", "GBP"),
  },
  ["cents", "currency"],
);

const ROWS = [
  [{ id }, ["id"], { id: "a1" }],
  [{ id, version: integer("The revision.", { minimum: 0 }) }, ["id"], { id: "a1", version: 3 }],
  [
    { query: string("Words to find.", { minLength: 1 }), limit },
    ["query"],
    { query: "tea", limit: 10 },
  ],
  [
    {
      query: string("Words to find."),
      sort: choice("The order.", "newest", "oldest", "best"),
      limit,
    },
    ["query", "sort"],
    { query: "tea", sort: "best" },
  ],
  [{ from: date, to: date }, ["from", "to"], { from: "2026-01-01", to: "2026-02-01" }],
  [
    { place: point, unit },
    ["place"],
    { place: { latitude: 52.5, longitude: 13.4 }, unit: "metric" },
  ],
  [
    { from: point, to: point, avoid_tolls: boolean("Whether to avoid tolls.") },
    ["from", "to"],
    { from: { latitude: 1, longitude: 2 }, to: { latitude: 3, longitude: 4 }, avoid_tolls: true },
  ],
  [
    { price: money, note: string("A remark.", { maxLength: 200 }) },
    ["price"],
    { price: { cents: 995, currency: "EUR" }, note: "lunch" },
  ],
  [
    {
      to: array("Who gets it.", email, { minItems: 1, maxItems: 20 }),
      subject: string("The subject."),
      body: string("The text."),
    },
    ["to", "subject", "body"],
    { to: ["ada@example.org"], subject: "Tea", body: "At five?" },
  ],
  [
    {
      title: string("The title.", { minLength: 1, maxLength: 120 }),
      start: string("When.", { format: "date-time" }),
      minutes: integer("How long.", { minimum: 5, maximum: 480, multipleOf: 5 }),
    },
    ["title", "start"],
    { title: "Tea", start: "2026-01-01T17:00:00Z", minutes: 30 },
  ],
  [
    { tags: array("The tags.", string("A tag."), { uniqueItems: true, maxItems: 10 }) },
    [],
    { tags: ["a", "b"] },
  ],
  [
    {
      values: array("The numbers.", number("A number."), { minItems: 2 }),
      operation: choice("What to do.", "sum", "mean", "median", "min", "max"),
    },
    ["values", "operation"],
    { values: [1, 2.5], operation: "mean" },
  ],
  [
    {
      text: string("The text.", { maxLength: 5000 }),
      language: choice("The language.", "de", "en", "fr", "ja"),
    },
    ["text", "language"],
    { text: "tea", language: "ja" },
  ],
  [
    {
      table: string("The table."),
      where: object(
        "What to match.",
        {
          column: string("The column."),
          operator: choice("The comparison.", "=", "<", ">"),
          value: { type: ["string", "number"], description: "The value." },
        },
        ["column", "operator", "value"],
      ),
      limit,
    },
    ["table"],
    { table: "teas", where: { column: "price", operator: "<", value: 5 }, limit: 5 },
  ],
  [
    {
      items: array(
        "The lines.",
        object(
          "A line.",
          {
            sku: string("The article."),
            quantity: integer("How many.", { minimum: 1 }),
            price: money,
          },
          ["sku", "quantity"],
        ),
        { minItems: 1 },
      ),
    },
    ["items"],
    { items: [{ sku: "tea", quantity: 2, price: { cents: 450, currency: "GBP" } }] },
  ],
  [
    {
      url: string("The address.", { format: "uri" }),
      follow: boolean("Whether to follow redirects."),
      timeout: integer("Milliseconds.", { exclusiveMinimum: 0, maximum: 30000 }),
    },
    ["url"],
    { url: "https://example.org/", timeout: 500 },
  ],
  [
    {
      name: string("The name."),
      labels: {
        type: "object",
        description: "Any labels.",
        additionalProperties: { type: "string" },
        maxProperties: 16,
      },
    },
    ["name"],
    { name: "tea", labels: { kind: "green" } },
  ],
  [
    {
      user: {
        description: "An id or an address.",
        anyOf: [
          { type: "integer", minimum: 1 },
          { type: "string", format: "email" },
        ],
      },
      role: choice("The role.", "reader", "writer", "owner"),
    },
    ["user", "role"],
    { user: 7, role: "owner" },
  ],
  [
    {
      width: integer("Pixels.", { minimum: 1, maximum: 8192 }),
      height: integer("Pixels.", { minimum: 1, maximum: 8192 }),
      format: choice("The format.", "png", "jpeg", "webp"),
      quality: number("From 0 to 1.", { minimum: 0, maximum: 1 }),
    },
    ["width", "height", "format"],
    { width: 640, height: 480, format: "webp", quality: 0.8 },
  ],
  [
    {
      id,
      fields: object("What changes.", {
        title: string("The title."),
        done: boolean("Whether it is done."),
        due: { description: "The day, or null.", type: ["string", "null"], format: "date" },
        assignees: array("Who does it.", integer("A user's number.", { minimum: 1 })),
      }),
    },
    ["id", "fields"],
    { id: "a1", fields: { title: "Tea", done: false, due: null, assignees: [1, 2] } },
  ],
];

export const SCHEMAS = ROWS.map(([properties, required, example]) => {
  const { description, ...schema } = object("", properties, required);
  return { schema, example };
});
