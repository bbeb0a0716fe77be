//! A report about many pages: a call that takes minutes, and runs as a task in steps.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolbooth::address::base_address;
use toolbooth::host::HttpRequest;
use toolbooth::tool::Variable;
use toolbooth::{Context, ToolError};

use crate::types::report::words;

/// The address of the pages: `<PAGES_URL>/1` and so on.
pub(crate) const PAGES_URL: Variable =
    Variable::new("PAGES_URL", "https://pages.example", base_address);

/// How many pages a step reads. Each is a subrequest, of which a request of a Worker may have 50 on the free plan.
const PAGES_PER_STEP: u32 = 10;

/// What the steps have found so far. The checkpoint after each step has it, and nothing else is kept.
#[derive(Default, Deserialize, Serialize)]
struct Report {
    /// How many pages were tried.
    tried: u32,
    pages: u32,
    words: u64,
    longest: u32,
    words_of_longest: u64,
    missing: Vec<u32>,
}

impl Report {
    fn add(&mut self, page: u32, words: Option<u64>) {
        self.tried = page;
        let Some(words) = words else { return self.missing.push(page) };
        self.pages += 1;
        self.words += words;
        if words > self.words_of_longest {
            (self.longest, self.words_of_longest) = (page, words);
        }
    }
}

/// Counts the words of pages.
pub(crate) async fn words(
    input: words::Input,
    context: &Context<'_>,
) -> Result<words::Output, ToolError> {
    let task = context.task()?;
    let all = input.pages;
    let mut report: Report = task.resumed().unwrap_or_default();
    let end = all.min(report.tried + PAGES_PER_STEP);
    for page in report.tried + 1..=end {
        report.add(page, count_words(page, context).await);
    }
    if end < all {
        context.progress(f64::from(end), Some(f64::from(all)), "pages are read");
        let pause = Duration::from_secs(input.pause_seconds.into());
        return Err(task.pause(pause, &report));
    }
    let Report { pages, words, longest, missing, .. } = report;
    Ok(words::Output {
        pages: pages.into(),
        words: i64::try_from(words).unwrap_or(i64::MAX),
        longest: longest.into(),
        missing: missing.into_iter().map(i64::from).collect(),
    })
}

/// The number of words of a page; `None` if it cannot be read.
async fn count_words(page: u32, context: &Context<'_>) -> Option<u64> {
    let url = format!("{}/{page}", context.variable("PAGES_URL"));
    let response = context.send(HttpRequest::get(url)).await.ok()?;
    let text = str::from_utf8(&response.body).ok().filter(|_| response.status == 200)?;
    Some(text.split_whitespace().count() as u64)
}
