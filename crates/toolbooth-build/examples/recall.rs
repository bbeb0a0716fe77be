//! Measures the search: reads lines of `{"definition", "query"}`, and prints how many queries find their tool among the first 5.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "it runs by hand"
)]

use std::io::{self, BufRead};
use std::time::Instant;

use serde_json::Value;
use toolbooth_build::{Source, search_index};

fn main() {
    let mut source = Source::default();
    let mut queries = Vec::new();
    for line in io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
        let id = line["definition"]["id"].as_str().expect("an id").to_owned();
        let (toolkit, rest) = id.split_once('.').expect("a toolkit");
        let path = format!("{}/{rest}.json", toolkit.to_lowercase());
        source.files.insert(path, line["definition"].to_string());
        queries.push((id, line["query"].as_str().expect("a query").to_owned()));
    }
    let (index, ids) = search_index(&source);
    let start = Instant::now();
    let finds = |(id, query): &&(String, String)| {
        index.find(query, 5, &|_| true).iter().any(|at| ids[*at] == *id)
    };
    let found = queries.iter().filter(finds).count();
    let each = start.elapsed().as_micros() / queries.len() as u128;
    let bytes: usize = index.words.iter().map(|(word, tools)| word.len() + tools.len()).sum();
    println!(
        "{found} of {} queries ({:.1} %) find their tool among 5 of {}; {each} µs each; {} words, {bytes} bytes",
        queries.len(),
        found as f64 * 100.0 / queries.len() as f64,
        ids.len(),
        index.words.len(),
    );
}
