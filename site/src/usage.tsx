// The page of `GET /usage`: the budgets of callers, what is left of them, and what was used on each day.
import { render } from "preact";
import { useState } from "preact/hooks";
import { credential, judge, onCredential } from "./credential.ts";
import { at } from "./json.ts";
import { Credentials, GetKey, SignInButton, useMissingScopes, whyClosed } from "./key.tsx";
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

/** A unit that no budget counts is left out. */
type Day = { day: string } & Partial<Record<Unit, number>>;

interface Caller {
  name: string;
  kind: Kind;
  budgets: Budget[];
  days: Day[];
}

type Kind = "team" | "person" | "key" | "tenant";
/** What members use counts for them and for their team: figures of different kinds are never added. */
const KINDS: Record<Kind, string> = { team: "Teams", person: "People", key: "API keys", tenant: "Tenants" };
const kinds = Object.keys(KINDS) as Kind[];

const UNITS: Record<Unit, string> = { usd: "US dollars", requests: "Chat requests", tool_calls: "Calls of tools" };
const WINDOWS: Record<string, string> = { "1m": "minute", "1h": "hour", "1d": "day", "30d": "30 days" };
const ALL_UNITS = Object.keys(UNITS) as Unit[];
const DAYS = 31;
const DAY = 86_400_000;

/** Dollars to the cent from 100 on, below with what chats cost: an answer is often a part of a cent. */
const dollars = (digits: number) => new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: digits });
const [cents, parts, small] = [dollars(2), dollars(4), dollars(6)];
const whole = new Intl.NumberFormat("en");
const amount = (unit: Unit, value: number) => (unit !== "usd" ? whole : value >= 100 ? cents : value >= 1 ? parts : small).format(value);
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
  if (found.every(({ budgets, days }) => budgets.length + days.length === 0)) {
    return <><p class="notice">There is no budget that you may see. <a href="/docs/configuration#budgets">How operators set budgets</a></p><MoreUsage /></>;
  }
  const idOf = ({ kind, name }: Caller) => `${kind}:${name}`;
  const shown = found.filter((caller) => chosen === "" || idOf(caller) === chosen);
  const rows = shown.flatMap((caller) => caller.budgets.map((budget) => <Row key={`${idOf(caller)} ${budget.unit} ${budget.window}`} caller={caller} {...budget} />));
  return (
    <>
      {found.length > 1 && (
        <p class="row">
          <label for="caller">Caller</label>
          <select id="caller" value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">All</option>
            {kinds.map((kind) => ({ kind, callers: found.filter((caller) => caller.kind === kind) })).map(({ kind, callers }) => callers.length > 0 && (
              <optgroup key={kind} label={KINDS[kind]}>{callers.map((caller) => <option key={idOf(caller)} value={idOf(caller)}>{caller.name} ({kind})</option>)}</optgroup>
            ))}
          </select>
        </p>
      )}
      <section aria-labelledby="budgets">
        <h2 id="budgets">Budgets</h2>
        {rows.length === 0 ? <p class="soft">{chosen === "" ? "No budget limits these callers." : "This caller has no budget of its own."}</p> : (
          <div class="table stacked" tabIndex={0} role="region" aria-label="Budgets of each caller">
            <table class="budgets">
              <thead><tr><th scope="col">Caller</th><th scope="col">Budget</th><th scope="col">Used</th><th scope="col">Reserved</th><th scope="col">Left</th><th scope="col">Resets (UTC)</th></tr></thead>
              <tbody>{rows}</tbody>
            </table>
          </div>
        )}
      </section>
      <Days callers={shown} />
      <MoreUsage />
    </>
  );
}

/** Asks for the scopes with which a person sees more than their own use. */
function MoreUsage() {
  const missing = useMissingScopes();
  const buttons = Object.entries(USAGE_SCOPES).filter(([scope]) => missing.includes(scope));
  return buttons.length === 0 ? null : <div class="row">{buttons.map(([scope, label]) => <SignInButton key={scope} class="secondary" label={label} scopes={[scope]} />)}</div>;
}

const USAGE_SCOPES: Record<string, string> = { "usage:team": "Show the use of your team", usage: "Show the use of all callers" };

function Row({ caller: { name, kind }, window, unit, limit, used, reserved, resets_at }: Budget & { caller: Caller }) {
  const left = Math.max(0, limit - used - reserved);
  return (
    <tr>
      <th scope="row"><bdi>{name}</bdi> <span class="badge">{kind}</span></th>
      <td data-label="Budget">{amount(unit, limit)} {unit !== "usd" && UNITS[unit].toLowerCase()} per {WINDOWS[window] ?? window}</td>
      <td data-label="Used"><span><meter min={0} max={limit} high={limit * 0.9} optimum={0} value={used} aria-label={`${name}: used`} /> {amount(unit, used)}</span></td>
      <td data-label="Reserved">{amount(unit, reserved)}</td>
      <td data-label="Left" class={left === 0 ? "spent" : undefined}>{amount(unit, left)}</td>
      <td data-label="Resets (UTC)"><time dateTime={resets_at}>{time.format(new Date(resets_at))}</time></td>
    </tr>
  );
}

/** What callers of one kind have used on each of the last days. A day without use is 0 if the unit is counted. */
interface Series {
  kind: Kind;
  /** How many callers it is of. */
  callers: number;
  /** Undefined if no budget counts the unit. */
  values: Partial<Record<Unit, number[]>>;
}

function seriesOf(kind: Kind, callers: Caller[], days: string[]): Series {
  const values: Series["values"] = {};
  for (const unit of ALL_UNITS) {
    const isCounted = callers.some((caller) => caller.budgets.some((budget) => budget.unit === unit) || caller.days.some((day) => day[unit] !== undefined));
    if (!isCounted) continue;
    const used = Map.groupBy(callers.flatMap((caller) => caller.days), ({ day }) => day);
    values[unit] = days.map((day) => (used.get(day) ?? []).reduce((sum, one) => sum + (one[unit] ?? 0), 0));
  }
  return { kind, callers: callers.length, values };
}

/** What the callers have used on each of the last days, for each kind of caller. */
function Days({ callers }: { callers: Caller[] }) {
  const [unit, choose] = useState<Unit>();
  const today = Math.floor(Date.now() / DAY) * DAY;
  const days = Array.from({ length: DAYS }, (_, index) => new Date(today - (DAYS - 1 - index) * DAY).toISOString().slice(0, 10));
  const all = kinds.map((kind) => seriesOf(kind, callers.filter((caller) => caller.kind === kind && caller.days.length > 0), days)).filter((one) => one.callers > 0);
  if (all.length === 0) return null;
  const used = (one: Unit) => all.some(({ values }) => values[one]?.some((value) => value > 0));
  const current = unit ?? ALL_UNITS.find(used) ?? "usd";
  const counted = all.filter(({ values }) => values[current] !== undefined);
  const others = all.filter((one) => !counted.includes(one)).map(({ kind }) => KINDS[kind]);
  return (
    <section aria-labelledby="days">
      <h2 id="days">The last {DAYS} days</h2>
      {all.length > 1 && <p class="soft">What members of a team use counts for them and for the team, so these figures are not added up.</p>}
      <Tabs names={ALL_UNITS} chosen={current} label="Unit" panel="plot" titles={UNITS} choose={choose} />
      <div id="plot" role="tabpanel" aria-label={UNITS[current]}>
        {counted.map(({ kind, values }) => <Plot key={kind} title={all.length > 1 ? KINDS[kind] : undefined} days={days} values={values[current] ?? []} unit={current} />)}
        {others.length > 0 && <p class="soft">{UNITS[current]}{all.length > 1 && ` of ${others.join(", ")}`}: not counted. Only what a budget counts is known.</p>}
        {counted.length > 0 && (
          <details>
            <summary>As a table</summary>
            <div class="table" tabIndex={0} role="region" aria-label={`${UNITS[current]} on each day`}>
              <table class="budgets">
                <thead><tr><th scope="col">Day (UTC)</th>{counted.map(({ kind }) => <th key={kind} scope="col">{all.length > 1 ? KINDS[kind] : UNITS[current]}</th>)}</tr></thead>
                <tbody>{days.map((day, index) => <tr key={day}><th scope="row">{day}</th>{counted.map(({ kind, values }) => <td key={kind}>{amount(current, values[current]?.[index] ?? 0)}</td>)}</tr>)}</tbody>
              </table>
            </div>
          </details>
        )}
      </div>
    </section>
  );
}

const HEIGHT = 120;
const STEP = 20;

function Plot({ title, days, values, unit }: { title: string | undefined; days: string[]; values: number[]; unit: Unit }) {
  const most = Math.max(...values);
  const sum = values.reduce((one, other) => one + other, 0);
  const bar = (value: number) => (value === 0 ? 0 : Math.max(2, (value / most) * HEIGHT));
  const width = days.length * STEP;
  return (
    <figure class="plot">
      {title !== undefined && <h3>{title}</h3>}
      <p class="scale" aria-hidden="true">{most > 0 && amount(unit, most)}</p>
      <svg viewBox={`0 0 ${width} ${HEIGHT + 2}`} role="img" aria-label={`${UNITS[unit]}${title === undefined ? "" : ` of ${title}`} from ${days[0]} to ${days.at(-1)}: ${amount(unit, sum)} in all, at most ${amount(unit, most)} on a day`}>
        {most > 0 && <line class="most" x1={0} x2={width} y1={0.5} y2={0.5} />}
        <line x1={0} x2={width} y1={HEIGHT + 1} y2={HEIGHT + 1} />
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
