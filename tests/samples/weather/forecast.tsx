// The forecast as a chart.
import { useState } from "preact/hooks";
import type { ViewProps } from "toolbooth/view";
import { Days } from "../../../toolkits/weather/days";
import type { Input, Output } from "./forecast.types.js";

const UNITS = { celsius: "°C", fahrenheit: "°F", kelvin: "K" };

export default function Forecast({ view, input, result, error, host }: ViewProps<Input, Output>) {
  const [chosen, setChosen] = useState<Output>();
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const forecast = chosen ?? result;
  if (!forecast) return <main>{error ? <p role="alert">{error}</p> : <p class="soft" role="status">Loading the forecast{input?.city ? ` for ${input.city}` : ""}…</p>}</main>;
  const { city, country, units, days } = forecast;
  const show = async (days: number) => {
    setBusy(true);
    setFailure(undefined);
    try {
      setChosen(await view.callTool<Output>("Weather_Forecast", { city: input?.city ?? `${city}, ${country}`, units, days }));
    } catch (error) {
      setFailure(error instanceof Error ? error.message : "The forecast could not be loaded");
    }
    setBusy(false);
  };
  return <Days title={city} subtitle={country} unit={UNITS[units]} locale={host.locale} show={(days) => void show(days)} {...{ days, isBusy, failure }} />;
}
