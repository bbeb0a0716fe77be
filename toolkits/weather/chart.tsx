// The forecast of a place as a chart.
import { useState } from "preact/hooks";
import type { ViewProps } from "toolbooth/view";
import { Days } from "./days";

interface Input {
  latitude: number;
  longitude: number;
  temperature_unit: string;
  wind_speed_unit: string;
}

/** What Open-Meteo returns, a list for each property of a day. It may be incomplete. */
interface Output {
  timezone?: string;
  daily_units?: { temperature_2m_max?: string };
  daily?: Partial<Record<"weather_code" | "temperature_2m_max" | "temperature_2m_min" | "precipitation_sum", (number | null)[]>> & { time?: string[] };
}

/** The conditions by the codes of the WMO: each name is for the codes from its own up to the next. */
const CONDITIONS: [number, string][] = [
  [0, "clear"],
  [1, "mainly clear"],
  [2, "partly cloudy"],
  [3, "overcast"],
  [45, "fog"],
  [51, "drizzle"],
  [61, "rain"],
  [71, "snow"],
  [80, "rain showers"],
  [85, "snow showers"],
  [95, "thunderstorm"],
];

const conditionsOf = (code: number | null | undefined) => (code === null || code === undefined ? "" : (CONDITIONS.findLast(([from]) => from <= code)?.[1] ?? ""));

export default function Forecast({ view, input, result, error, host }: ViewProps<Input, Output>) {
  const [chosen, setChosen] = useState<Output>();
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const forecast = chosen ?? result;
  if (!forecast) return <main>{error ? <p role="alert">{error}</p> : <p class="soft" role="status">Loading the forecast…</p>}</main>;
  const { daily = {}, daily_units = {}, timezone = "" } = forecast;
  const days = (daily.time ?? []).flatMap((date, at) => {
    const [min, max] = [daily.temperature_2m_min?.[at], daily.temperature_2m_max?.[at]];
    if (typeof min !== "number" || typeof max !== "number") return [];
    return [{ date, min, max, conditions: conditionsOf(daily.weather_code?.[at]), precipitation_mm: daily.precipitation_sum?.[at] ?? 0 }];
  });
  if (days.length === 0) return <main><p class="soft">There is no forecast for this place.</p></main>;
  const show = async (days: number) => {
    setBusy(true);
    setFailure(undefined);
    try {
      setChosen(await view.callTool<Output>("Weather_GetForecast", { ...input, days }));
    } catch (error) {
      setFailure(error instanceof Error ? error.message : "The forecast could not be loaded");
    }
    setBusy(false);
  };
  const place = timezone.split("/").at(-1)?.replaceAll("_", " ") ?? timezone;
  const at = input?.latitude === undefined ? "" : `${input.latitude}°, ${input.longitude}°`;
  return <Days title={`Time zone of ${place}`} subtitle={at} unit={daily_units.temperature_2m_max ?? "°C"} locale={host.locale} show={(days) => void show(days)} {...{ days, isBusy, failure }} />;
}
