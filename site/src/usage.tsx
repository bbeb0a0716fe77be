// The page of `GET /usage`: the budgets of callers, what is left of them, and what was used on each day.
import { render } from "preact";
import { useState } from "preact/hooks";
import { credential, judge, onCredential } from "./credential.ts";
import { at } from "./json.ts";
import { Credentials, GetKey, whyClosed } from "./key.tsx";
import { Tabs, Unreachable } from "./parts.tsx";
import { send } from "./server.ts";

type Unit = "usd" | "requests" | "tool_calls";

interface Budget {
  window: string;
  unit: Unit;
  limit: number;
  used: number;
  reserved: number;
  resets_at: string;
}

type Day = { day: string } & Record<Unit, number>;

interface Caller {
  name: string;
  kind: "key" | "person" | "tenant" | "team";
  budgets: Budget[];
  days: Day[];
}

const UNITS: Record<Unit, string> = { usd: "US dollars", requests: "Chat requests", tool_calls: "Calls of tools" };
const WINDOWS: Record<string, string> = { "1m": "minute", "1h": "hour", "1d": "day", "30d": "30 days" };
const DAYS = 31;
const DAY = 86_400_000;

const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const cents = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 6 });
const whole = new Intl.NumberFormat("en");
const amount = (unit: Unit, value: number) => (unit !== "usd" ? whole : value >= 1 ? dollars : cents).format(value);
const time = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });

/** All callers, page by page; a status if the server does not show them. */
async function load(): Promise<Caller[] | number> {
  const callers: Caller[] = [];
  const used = credential();
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { json, status } = await send(`/usage${after && `?after=${encodeURIComponent(after)}`}`);
    if (status !== 200) return status;
    if (used) judge(used, "accepted");
    callers.push(...(at(json, "/callers") as unknown as Caller[]));
    const next = at(json, "/next");
    after = typeof next === "string" ? next : undefined;
  }
  return callers;
}

function Usage({ found }: { found: Caller[] | number | "unreachable" | undefined }) {
  const [chosen, choose] = useState("");
  if (found === undefined) return <p class="soft" role="status">Loading…</p>;
  if (found === "unreachable") return <Unreachable retry={show} />;
  if (found === 401) return <div class="notice"><p>{whyClosed(credential()).problem}.</p><GetKey /></div>;
  if (found === 404) return <p class="notice">This server counts no budgets.</p>;
  if (found === 429) return <p class="notice">Too many requests. Wait a minute and reload the page.</p>;
  if (typeof found === "number") return <p class="notice">The server cannot tell what was used now. Its log has the reason.</p>;
  if (found.every(({ budgets, days }) => budgets.length + days.length === 0)) return <p class="notice">There is no budget that you may see. <a href="/docs/configuration#budgets">How operators set budgets</a></p>;
  const names = found.map(({ kind, name }) => `${kind}:${name}`);
  const shown = found.filter((_, index) => chosen === "" || names[index] === chosen);
  return (
    <>
      {found.length > 1 && (
        <p class="row">
          <label for="caller">Caller</label>
          <select id="caller" value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">All</option>
            {found.map(({ name, kind }, index) => <option key={names[index]} value={names[index]}>{name} ({kind})</option>)}
          </select>
        </p>
      )}
      <section aria-labelledby="budgets">
        <h2 id="budgets">Budgets</h2>
        <div class="table" tabIndex={0} role="region" aria-label="Budgets of each caller">
          <table class="budgets">
            <thead><tr><th scope="col">Caller</th><th scope="col">Budget</th><th scope="col">Used</th><th scope="col">Reserved</th><th scope="col">Left</th><th scope="col">Resets (UTC)</th></tr></thead>
            <tbody>
              {shown.flatMap(({ name, kind, budgets }) => budgets.map((budget) => <Row key={`${kind}:${name} ${budget.unit} ${budget.window}`} name={name} {...budget} />))}
            </tbody>
          </table>
        </div>
      </section>
      <Days callers={shown} />
    </>
  );
}

function Row({ name, window, unit, limit, used, reserved, resets_at }: Budget & { name: string }) {
  const left = Math.max(0, limit - used - reserved);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{amount(unit, limit)} {unit !== "usd" && UNITS[unit].toLowerCase()} per {WINDOWS[window] ?? window}</td>
      <td><meter min={0} max={limit} high={limit * 0.9} optimum={0} value={used} aria-label={`${name}: used`} /> {amount(unit, used)}</td>
      <td>{amount(unit, reserved)}</td>
      <td class={left === 0 ? "spent" : undefined}>{amount(unit, left)}</td>
      <td><time dateTime={resets_at}>{time.format(new Date(resets_at))}</time></td>
    </tr>
  );
}

/** What the callers have used on each of the last days. */
function Days({ callers }: { callers: Caller[] }) {
  const [unit, choose] = useState<Unit>();
  const sums = new Map<string, Record<Unit, number>>();
  for (const { day, ...units } of callers.flatMap(({ days }) => days)) {
    const sum = sums.get(day) ?? { usd: 0, requests: 0, tool_calls: 0 };
    for (const one of Object.keys(UNITS) as Unit[]) sum[one] += units[one];
    sums.set(day, sum);
  }
  const today = Math.floor(Date.now() / DAY) * DAY;
  const days = Array.from({ length: DAYS }, (_, index) => new Date(today - (DAYS - 1 - index) * DAY).toISOString().slice(0, 10));
  const units = (Object.keys(UNITS) as Unit[]).filter((one) => [...sums.values()].some((sum) => sum[one] > 0));
  const [first] = units;
  if (first === undefined) return null;
  const current = unit !== undefined && units.includes(unit) ? unit : first;
  const values = days.map((day) => sums.get(day)?.[current] ?? 0);
  return (
    <section aria-labelledby="days">
      <h2 id="days">The last {DAYS} days</h2>
      <Tabs names={units} chosen={current} label="Unit" panel="plot" titles={UNITS} choose={choose} />
      <div id="plot" role="tabpanel" aria-label={UNITS[current]}>
        <Plot days={days} values={values} unit={current} />
        <details>
          <summary>As a table</summary>
          <table class="budgets">
            <thead><tr><th scope="col">Day (UTC)</th><th scope="col">{UNITS[current]}</th></tr></thead>
            <tbody>{days.map((day, index) => <tr key={day}><th scope="row">{day}</th><td>{amount(current, values[index] ?? 0)}</td></tr>)}</tbody>
          </table>
        </details>
      </div>
    </section>
  );
}

const HEIGHT = 120;
const STEP = 20;

function Plot({ days, values, unit }: { days: string[]; values: number[]; unit: Unit }) {
  const most = Math.max(...values);
  const sum = values.reduce((one, other) => one + other, 0);
  const bar = (value: number) => (value === 0 ? 0 : Math.max(2, (value / most) * HEIGHT));
  return (
    <figure class="plot">
      <svg viewBox={`0 0 ${days.length * STEP} ${HEIGHT + 2}`} role="img" aria-label={`${UNITS[unit]} from ${days[0]} to ${days.at(-1)}: ${amount(unit, sum)} in all, at most ${amount(unit, most)} on a day`}>
        <line x1={0} x2={days.length * STEP} y1={HEIGHT + 1} y2={HEIGHT + 1} />
        {days.map((day, index) => (
          <rect key={day} x={index * STEP + 2} y={HEIGHT - bar(values[index] ?? 0)} width={STEP - 4} height={bar(values[index] ?? 0)}>
            <title>{`${day}: ${amount(unit, values[index] ?? 0)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption><span>{days[0]}</span><span>At most {amount(unit, most)} on a day, {amount(unit, sum)} in all</span><span>{days.at(-1)}</span></figcaption>
    </figure>
  );
}

const app = document.getElementById("usage");
let loads = 0;

async function show() {
  if (!app) return;
  const number = (loads += 1);
  render(<Usage found={undefined} />, app);
  const found = await load().catch(() => "unreachable" as const);
  if (number === loads) render(<Usage found={found} />, app);
}

const place = document.getElementById("credentials");
if (place) {
  place.replaceChildren();
  render(<Credentials />, place);
}
app?.replaceChildren();
onCredential((change) => change === "credential" && void show());
void show();
