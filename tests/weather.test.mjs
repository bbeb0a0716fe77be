// The weather tools with a stand-in for Open-Meteo: what they send, how they read responses, and that every
// upstream failure is a tool error (X10, X25) that tells whether to retry.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { openMeteo } from "./support/open-meteo.mjs";
import { SAMPLES, start } from "./support/worker.mjs";

let upstream, worker;
before(async () => {
  upstream = await openMeteo();
  const vars = { WEATHER_FORECAST_URL: upstream.base, WEATHER_GEOCODING_URL: upstream.base };
  worker = await start(SAMPLES, { vars });
});
beforeEach(() => upstream.requests.splice(0));
after(async () => {
  await worker.close();
  await upstream.close();
});

const BERLIN = { city: "Berlin", country: "Germany", latitude: 52.52437, longitude: 13.41053 };
const NOW = { time: "2026-11-21T01:00", conditions: "overcast", humidity_percent: 87, wind_speed_kmh: 9.4 };
const day = (date, min, max, conditions, precipitation_mm) => ({ date, min, max, conditions, precipitation_mm });

for (const [tool, input, value] of [
  ["Weather.Current", { city: "Berlin" }, { ...BERLIN, units: "celsius", temperature: 4.1, ...NOW }],
  ["Weather.Current", { city: "Berlin", units: "fahrenheit" }, { ...BERLIN, units: "fahrenheit", temperature: 39.38, ...NOW }],
  ["Weather.Current", { city: "Berlin", units: "kelvin" }, { ...BERLIN, units: "kelvin", temperature: 277.25, ...NOW }],
  ["Weather.Current@1", { city: " Berlin , de " }, { ...BERLIN, units: "celsius", temperature: 4.1, ...NOW }],
  ["Weather.Forecast", { city: "Berlin" }, {
    ...BERLIN,
    units: "celsius",
    days: [day("2026-11-21", 1.5, 6.2, "rain", 2.4), day("2026-11-22", -0.3, 3, "snowfall", 0.8)],
  }],
  ["Weather.Forecast", { city: "Berlin", units: "fahrenheit", days: 2 }, {
    ...BERLIN,
    units: "fahrenheit",
    days: [day("2026-11-21", 34.7, 43.16, "rain", 2.4), day("2026-11-22", 31.46, 37.4, "snowfall", 0.8)],
  }],
]) {
  test(`${tool} ${JSON.stringify(input)}`, async () => {
    const { status, json } = await worker.call(tool, input);
    assert.equal(status, 200);
    assert.equal(json.success, true);
    assert.deepEqual(json.value, value);
  });
}

for (const [city, additional_prompt_content] of [
  ["Berlyn", "cities: Berlin, Germany; Bern, Switzerland"],
  ["Berlin, Italy", "cities: Berlin, Germany; Berlin, United States"],
  ["Xyzzy", undefined],
]) {
  test(`X25 ${city} is unknown: the prompt offers ${additional_prompt_content ?? "nothing"}`, async () => {
    const { status, json } = await worker.call("Weather.Current", { city });
    assert.equal(status, 200);
    assert.equal(json.success, false);
    assert.deepEqual(json.error, {
      message: "City not found",
      developer_message: "Open-Meteo's geocoding API returned no match.",
      can_retry: additional_prompt_content !== undefined,
      ...(additional_prompt_content && { additional_prompt_content }),
    });
  });
}

const BUSY = "The weather service received too many requests";
const BROKEN = "The weather service had an internal error";
const UNREADABLE = "The weather service returned an invalid response";
const REFUSED = "The weather service rejected the request";
const AWAY = "The weather service could not be reached";

for (const [city, message, retry_after_ms, developer_message] of [
  ["canary-429", BUSY, 7000],
  ["canary-429-date", BUSY, 0],
  ["canary-429-bare", BUSY, 60000],
  ["canary-500", BROKEN, 2000, "Open-Meteo returned 500."],
  ["canary-503", BROKEN, 120000, "Open-Meteo returned 503."],
  ["canary-400", REFUSED, undefined, "Open-Meteo returned 400."],
  ["canary-404", REFUSED, undefined, "Open-Meteo returned 404."],
  ["canary-html", UNREADABLE, 2000],
  ["canary-cut", UNREADABLE, 2000],
  ["canary-form", UNREADABLE, 2000],
  ["canary-empty", UNREADABLE, 2000],
  ["canary-huge", "The weather service's response was too large", 2000],
  ["canary-reset", AWAY, 2000],
  ["canary-half", AWAY, 2000],
  ["canary-nowhere", REFUSED, undefined, "Open-Meteo returned 400."],
  // This case takes five seconds, the tools' timeout.
  ["canary-never", "The weather service did not respond in time", 2000],
]) {
  test(`X25 upstream failure ${city.slice(7)}: ${message}`, async () => {
    const seen = (await worker.logs()).length;
    const { status, json } = await worker.call("Weather.Current", { city });
    assert.equal(status, 200);
    assert.equal(json.success, false);
    assert.deepEqual(json.error, {
      message,
      ...(developer_message && { developer_message }),
      can_retry: retry_after_ms !== undefined,
      ...(retry_after_ms !== undefined && { retry_after_ms }),
    });
    // Without a response, the library logs why.
    const event = /canary-(huge|reset|half|never)/.test(city) ? "http" : "open_meteo";
    const logged = (await worker.logs()).slice(seen);
    assert.deepEqual(logged.map(({ level, message }) => [level, JSON.parse(message).event]), [["warn", event]]);
  });
}

test("X25 nothing listens at the upstream's address", async () => {
  // By default the Worker of the tests uses a closed port.
  const alone = await start(SAMPLES);
  try {
    const { status, json } = await alone.call("Weather.Forecast", { city: "canary" });
    assert.equal(status, 200);
    assert.deepEqual(json.error, { message: AWAY, can_retry: true, retry_after_ms: 2000 });
  } finally {
    await alone.close();
  }
});

const AT_BERLIN = "latitude=52.52437&longitude=13.41053";
const search = (name) => `/v1/search?name=${name}&count=5&language=en&format=json`;
for (const [tool, input, urls] of [
  ["Weather.Current", { city: "Berlin" }, [
    search("Berlin"),
    `/v1/forecast?${AT_BERLIN}&current=temperature_2m,relative_humidity_2m,wind_speed_10m,weather_code&timezone=auto`,
  ]],
  ["Weather.Forecast", { city: "Berlin, Germany", days: 2, units: "kelvin" }, [
    search("Berlin"),
    `/v1/forecast?${AT_BERLIN}&daily=temperature_2m_min,temperature_2m_max,weather_code,precipitation_sum&forecast_days=2&timezone=auto`,
  ]],
  ["Weather.Current", { city: "São Paulo" }, [search("S%C3%A3o%20Paulo"), search("S%C3%A3o%20P")]],
  ["Weather.Current", { city: "a&count=99#b?c=d%20+/" }, [
    search("a%26count%3D99%23b%3Fc%3Dd%2520%2B%2F"),
    search("a%26count%3D99%23"),
  ]],
  ["Weather.Current", { city: "京都" }, [search("%E4%BA%AC%E9%83%BD"), search("%E4%BA%AC%E9%83%BD")]],
]) {
  test(`${tool} ${JSON.stringify(input)} requests ${urls[0]}`, async () => {
    await worker.call(tool, input);
    assert.deepEqual(upstream.requests.map(({ method, url }) => [method, url]), urls.map((url) => ["GET", url]));
  });
}

test("the caller's credentials are not passed on", async () => {
  const headers = { authorization: "Bearer canary", cookie: "canary=1", "oxp-api-key": "canary" };
  const context = { authorization: [{ id: "x", token: "canary" }], secrets: [{ id: "x", value: "canary" }] };
  await worker.post({ tool_id: "Weather.Current", input: { city: "Berlin" }, context }, { headers });
  assert.equal(upstream.requests.length, 2);
  assert.ok(!JSON.stringify(upstream.requests).includes("canary"));
});

test("parallel calls that wait keep their ids and responses apart", async () => {
  const rows = [["Berlin", true], ["Xyzzy", false], ["canary-429", false], ["Berlyn", false], ["canary-500", false]];
  await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const [city, success] = rows[n % rows.length];
      const { json } = await worker.call("Weather.Current", { city }, { call_id: `call-${n}` });
      assert.deepEqual([json.call_id, json.success], [`call-${n}`, success]);
      if (success) assert.equal(json.value.city, city);
    }),
  );
});
