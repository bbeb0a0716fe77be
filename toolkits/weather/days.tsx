// Days of weather as a chart: a column for each, with the range of its temperatures.
import "./days.css";

export interface Day {
  /** `YYYY-MM-DD`, in the time zone of the place. */
  date: string;
  min: number;
  max: number;
  conditions: string;
  precipitation_mm: number;
}

export interface DaysProps {
  title: string;
  subtitle: string;
  days: Day[];
  /** That of temperatures, such as °C. */
  unit: string;
  locale: string | undefined;
  isBusy: boolean;
  /** Why more days could not be loaded. */
  failure: string | undefined;
  /** Shows as many days. */
  show(days: number): void;
}

const LENGTHS = [3, 7, 14];

export function Days({ title, subtitle, days, unit, locale, isBusy, failure, show }: DaysProps) {
  const [lowest, highest] = [Math.min(...days.map(({ min }) => min)), Math.max(...days.map(({ max }) => max))];
  return (
    <main aria-busy={isBusy}>
      <header>
        <div>
          <h1>{title}</h1>
          <p class="soft">{subtitle}</p>
        </div>
        <div role="group" aria-label="Length of the forecast" class="lengths">
          {LENGTHS.map((length) => (
            <button key={length} type="button" aria-pressed={days.length === length} aria-disabled={isBusy} onClick={() => isBusy || show(length)}>
              {length} days
            </button>
          ))}
        </div>
      </header>
      {failure && <p role="alert">{failure}</p>}
      <ol class="days" tabIndex={0} aria-label={`Forecast for ${days.length} days`}>
        {days.map((day) => <Column key={day.date} {...{ day, unit, lowest, highest, locale }} />)}
      </ol>
      <p class="soft source">Weather by Open-Meteo</p>
    </main>
  );
}

const CLOUD = "M7 17a4 4 0 0 1-.5-7.97 5.5 5.5 0 0 1 10.6 1.02A3.5 3.5 0 0 1 17 17z";
const SMALL_CLOUD = "M7 14a4 4 0 0 1-.5-7.97 5.5 5.5 0 0 1 10.6 1.02A3.5 3.5 0 0 1 17 14z";
const SUN = "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10M12 1.5v2.5M12 20v2.5M1.5 12H4M20 12h2.5M4.6 4.6l1.8 1.8M17.6 17.6l1.8 1.8M4.6 19.4l1.8-1.8M17.6 6.4l1.8-1.8";

/** The pictures of the weather, by words of the conditions: a path in the colours of the sun or the clouds, and one in that of the rain. The first that fits counts. */
const PICTURES: { words: RegExp; is: "sun" | "cloud"; shape: string; below: string }[] = [
  { words: /thunder/, is: "cloud", shape: SMALL_CLOUD, below: "M13 14.5l-3 4h4l-3 4" },
  { words: /snow/, is: "cloud", shape: SMALL_CLOUD, below: "M8 18v.01M12 18v.01M16 18v.01M10 21.5v.01M14 21.5v.01" },
  { words: /rain|drizzle|shower/, is: "cloud", shape: SMALL_CLOUD, below: "M8 17l-1.5 4M12.5 17l-1.5 4M17 17l-1.5 4" },
  { words: /fog/, is: "cloud", shape: "M4 8h16M6 12h14M4 16h13M8 20h10", below: "" },
  { words: /clear|sun/, is: "sun", shape: SUN, below: "" },
  { words: /./, is: "cloud", shape: CLOUD, below: "" },
];

function Picture({ conditions }: { conditions: string }) {
  const picture = PICTURES.find(({ words }) => words.test(conditions));
  return (
    <svg viewBox="0 0 24 24" class="picture" aria-hidden="true">
      <path class={picture?.is} d={picture?.shape} />
      <path class="fall" d={picture?.below} />
    </svg>
  );
}

interface ColumnProps {
  day: Day;
  unit: string;
  /** The range of all days. */
  lowest: number;
  highest: number;
  locale: string | undefined;
}

function Column({ day, unit, lowest, highest, locale }: ColumnProps) {
  // The date of a day is the same everywhere.
  const date = new Date(`${day.date}T00:00:00Z`);
  const write = (options: Intl.DateTimeFormatOptions) => date.toLocaleDateString(locale, { ...options, timeZone: "UTC" });
  const range = highest - lowest || 1;
  const place = { top: `${((highest - day.max) / range) * 100}%`, bottom: `${((day.min - lowest) / range) * 100}%` };
  const degrees = (value: number) => <>{Math.round(value)}<span class="visually-hidden"> {unit}</span><span aria-hidden="true">{unit === "K" ? "" : "°"}</span></>;
  return (
    <li>
      <p class="weekday">{write({ weekday: "short" })}</p>
      <p class="soft date">{write({ day: "numeric", month: "short" })}</p>
      <Picture conditions={day.conditions} />
      <p class="conditions">{day.conditions}</p>
      <p class="high"><span class="visually-hidden">High </span>{degrees(day.max)}</p>
      <div class="track" aria-hidden="true"><div class="range" style={place} /></div>
      <p class="low soft"><span class="visually-hidden">Low </span>{degrees(day.min)}</p>
      <p class="rain">{day.precipitation_mm > 0 ? `${day.precipitation_mm.toLocaleString(locale)} mm` : <span class="soft">dry</span>}</p>
    </li>
  );
}
