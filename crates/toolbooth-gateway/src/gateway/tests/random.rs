//! Random conversations through every front to every provider, and random answers back, however streams are cut.
//!
//! `PROPTEST_CASES` says how many there are. A conversation that failed becomes a row of the tests that show the fault alone.

mod answers;
mod ask_chat;
mod ask_messages;
mod ask_responses;
mod got;
mod hear;
mod hear_events;
mod marks;
mod requests;
mod rows;
mod say;
mod speak;
mod speak_messages;
mod speak_responses;
mod talk;
mod world;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::gateway::tests::golden::provider;
use world::{Front, MODELS, World};

/// Runs a test with values of a strategy: without `PROPTEST_CASES`, `count` that are always the same.
fn all<S: Strategy>(strategy: &S, count: u32, test: impl Fn(S::Value) -> Vec<String>) {
    let is_asked = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = match is_asked {
        true => TestRunner::new(config),
        false => {
            let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            TestRunner::new_with_rng(Config { cases: count, ..config }, rng)
        }
    };
    let result = runner.run(strategy, |value| match test(value).as_slice() {
        [] => Ok(()),
        problems => Err(TestCaseError::fail(problems.join("\n"))),
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

fn fronts() -> impl Strategy<Value = Front> {
    select(&Front::ALL[..])
}

fn models() -> impl Strategy<Value = &'static str> {
    select(MODELS).prop_map(|(model, _)| model)
}

#[test]
fn any_conversation_reaches_every_provider() {
    let world = World::new(provider::answer);
    all(&(talk::talk(), fronts(), models()), 1200, |(talk, front, model)| {
        let problems = requests::problems(&world, front, model, &talk);
        let about = || format!("{front:?} to {model}: {}", requests::write(front, &talk).0);
        let about = (!problems.is_empty()).then(about);
        problems.into_iter().chain(about).collect()
    });
}

#[test]
fn any_answer_reaches_every_client_and_goes_back() {
    let world = World::new(answers::speaker);
    let answers = proptest::collection::vec(say::answer(), 1..4);
    all(&(answers, fronts(), models(), 0..4_usize), 400, |(answers, front, model, tools)| {
        answers::problems(&world, front, model, &answers, tools)
    });
}
