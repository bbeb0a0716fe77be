//! The tool of the realistic call: prices an order. bench/workers/tools/order.mjs is the JavaScript version.

use serde::{Deserialize, Serialize};
use toolbooth::{Context, ToolError};

#[derive(Deserialize)]
pub(crate) struct Order {
    reference: String,
    currency: String,
    #[serde(default)]
    coupon: String,
    priority: u64,
    gift: bool,
    notes: Vec<String>,
    customer: Customer,
    shipping: Shipping,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Customer {
    name: String,
    #[serde(default)]
    company: String,
    email: String,
    address: Address,
}

#[derive(Deserialize)]
struct Address {
    street: String,
    city: String,
    postcode: String,
    country: String,
}

#[derive(Deserialize)]
struct Shipping {
    method: Method,
    insured: bool,
    grams: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    Letter,
    Parcel,
    Express,
}

#[derive(Deserialize)]
struct Line {
    sku: String,
    title: String,
    quantity: u64,
    cents: u64,
    discount: f64,
    tax: Tax,
    tags: Vec<String>,
    extra: Option<Extra>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tax {
    None,
    Reduced,
    Standard,
}

#[derive(Deserialize)]
struct Extra {
    engraving: String,
    cents: u64,
}

#[derive(Serialize)]
pub(crate) struct Price {
    net: u64,
    tax: u64,
    shipping: u64,
    letters: usize,
}

/// Calculates the price of an order.
pub(crate) async fn price(order: Order, _: &Context<'_>) -> Result<Price, ToolError> {
    let (mut net, mut tax) = (0, 0);
    let mut letters = letters(&order);
    for line in &order.lines {
        let cents = rest(line.quantity * line.cents, line.discount)
            + line.extra.as_ref().map_or(0, |extra| extra.cents);
        net += cents;
        tax += cents * line.tax.percent() / 100;
        letters += line.letters();
    }
    let Shipping { method, insured, grams } = order.shipping;
    let insurance = if insured { net / 100 } else { 0 };
    let wrapping = if order.gift { 250 } else { 0 };
    let shipping = method.cents() + grams / 10 + order.priority * 100 + insurance + wrapping;
    Ok(Price { net, tax, shipping, letters })
}

/// The price after a discount, in whole cents.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn rest(cents: u64, discount: f64) -> u64 {
    (cents as f64 * (1.0 - discount)).floor() as u64
}

fn letters(order: &Order) -> usize {
    let Customer { name, company, email, address } = &order.customer;
    let Address { street, city, postcode, country } = address;
    let own = [&order.reference, &order.currency, &order.coupon];
    let texts = [name, company, email, street, city, postcode, country];
    length(own) + length(texts) + length(&order.notes)
}

fn length<'a>(texts: impl IntoIterator<Item = &'a String>) -> usize {
    texts.into_iter().map(String::len).sum()
}

impl Line {
    fn letters(&self) -> usize {
        let engraving = self.extra.as_ref().map_or(0, |extra| extra.engraving.len());
        length([&self.sku, &self.title]) + length(&self.tags) + engraving
    }
}

impl Method {
    fn cents(&self) -> u64 {
        match self {
            Self::Letter => 350,
            Self::Parcel => 590,
            Self::Express => 1490,
        }
    }
}

impl Tax {
    fn percent(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Reduced => 7,
            Self::Standard => 19,
        }
    }
}
