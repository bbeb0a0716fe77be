//! Weather tools, with data from Open-Meteo.

mod open_meteo;
#[cfg(test)]
pub(crate) mod stand_in;
#[cfg(test)]
mod tests;

use toolbooth::address::base_address;
use toolbooth::tool::Variable;
use toolbooth::{Context, ToolError};

use crate::types::weather::{current, current::Units, forecast};
use open_meteo::{Place, Series};

/// The base URL of Open-Meteo's forecast API.
pub(crate) const FORECAST_URL: Variable =
    Variable::new("WEATHER_FORECAST_URL", "https://api.open-meteo.com/v1", base_address);
/// The base URL of Open-Meteo's geocoding API.
pub(crate) const GEOCODING_URL: Variable =
    Variable::new("WEATHER_GEOCODING_URL", "https://geocoding-api.open-meteo.com/v1", base_address);

/// Converts from degrees Celsius, Open-Meteo's unit, and rounds to two decimals.
fn convert(celsius: f64, units: Units) -> f64 {
    let value = match units {
        Units::Celsius => celsius,
        Units::Fahrenheit => celsius * 1.8 + 32.0,
        Units::Kelvin => celsius + 273.15,
    };
    (value * 100.0).round() / 100.0
}

/// The weather in a city now.
pub(crate) async fn current(
    input: current::Input,
    context: &Context<'_>,
) -> Result<current::Output, ToolError> {
    let place = open_meteo::find_city(context, &input.city).await?;
    let now = open_meteo::current(context, &place).await?;
    let Place { city, country, latitude, longitude } = place;
    Ok(current::Output {
        city,
        country,
        latitude,
        longitude,
        units: input.units,
        time: now.time,
        temperature: convert(now.temperature_2m, input.units),
        conditions: conditions(now.weather_code).to_owned(),
        humidity_percent: now.relative_humidity_2m,
        wind_speed_kmh: now.wind_speed_10m,
    })
}

/// The weather in a city on the next days.
pub(crate) async fn forecast(
    input: forecast::Input,
    context: &Context<'_>,
) -> Result<forecast::Output, ToolError> {
    let place = open_meteo::find_city(context, &input.city).await?;
    let Series { time, temperature_2m_min, temperature_2m_max, weather_code, precipitation_sum } =
        open_meteo::daily(context, &place, input.days).await?;
    let degrees = |celsius: f64| convert(celsius, input.units);
    let days = time
        .into_iter()
        .zip(temperature_2m_min.into_iter().zip(temperature_2m_max))
        .zip(weather_code.into_iter().zip(precipitation_sum))
        .map(|((date, (min, max)), (code, precipitation_mm))| forecast::Day {
            date,
            min: degrees(min),
            max: degrees(max),
            conditions: conditions(code).to_owned(),
            precipitation_mm,
        })
        .collect();
    let Place { city, country, latitude, longitude } = place;
    Ok(forecast::Output { city, country, latitude, longitude, units: input.units, days })
}

/// The codes of WMO table 4677 that Open-Meteo uses.
fn conditions(code: u8) -> &'static str {
    match code {
        0 => "clear sky",
        1 => "mainly clear",
        2 => "partly cloudy",
        3 => "overcast",
        45 | 48 => "fog",
        51 | 53 | 55 => "drizzle",
        56 | 57 => "freezing drizzle",
        61 | 63 | 65 => "rain",
        66 | 67 => "freezing rain",
        71 | 73 | 75 => "snowfall",
        77 => "snow grains",
        80..=82 => "rain showers",
        85 | 86 => "snow showers",
        95 => "thunderstorm",
        96 | 99 => "thunderstorm with hail",
        _ => "unknown",
    }
}
