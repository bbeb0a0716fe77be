//! Builds the automaton of a pattern.

use std::collections::{HashMap, HashSet};

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;

use super::Automaton;
use crate::compile::leak;

/// The largest automaton, in bytes. Larger ones are left to the `regex` crate.
const MAX_SIZE: usize = 64 << 10;
/// The most memory that building one may take, in bytes.
const MAX_MEMORY: usize = 2 << 20;

/// A state: its target for each class of bytes, and whether the string may end in it.
struct State {
    targets: Vec<usize>,
    ending: bool,
}

impl Automaton {
    /// The automaton of a pattern in the syntax of the `regex` crate. `None` if an automaton cannot find it
    /// (Unicode word boundaries), or if it would have too many states.
    pub(crate) fn build(pattern: &str) -> Option<Self> {
        let config = dense::Config::new()
            .accelerate(false)
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(MAX_MEMORY))
            .determinize_size_limit(Some(MAX_MEMORY));
        let dfa = dense::Builder::new()
            .configure(config)
            .thompson(thompson::Config::new().nfa_size_limit(Some(MAX_MEMORY)))
            .build(pattern)
            .ok()?;
        let classes = dfa.byte_classes();
        let begins = |byte: &u8| *byte == 0 || classes.get(*byte) != classes.get(*byte - 1);
        let firsts: Vec<u8> = (0..=u8::MAX).filter(begins).collect();
        let begin = dfa.start_state(&start::Config::new()).ok()?;
        let (states, start) = reachable(&dfa, begin, &firsts);
        table(&states, start, &firsts).filter(|automaton| automaton.size() <= MAX_SIZE)
    }
}

/// All states that can be reached, and the index of the first. State 0 can no longer match, state 1 has matched:
/// the rest of the string does not matter.
fn reachable(dfa: &dense::DFA<Vec<u32>>, begin: StateID, firsts: &[u8]) -> (Vec<State>, usize) {
    let sink = |state, ending| State { targets: vec![state; firsts.len()], ending };
    let mut states = vec![sink(0, false), sink(1, true)];
    let mut numbers: HashMap<StateID, usize> = HashMap::new();
    let mut waiting = Vec::new();
    let mut number = |id: StateID, waiting: &mut Vec<StateID>| {
        if dfa.is_match_state(id) {
            return 1;
        }
        if dfa.is_dead_state(id) {
            return 0;
        }
        let next = numbers.len() + 2;
        *numbers.entry(id).or_insert_with(|| {
            waiting.push(id);
            next
        })
    };
    let start = number(begin, &mut waiting);
    let mut done = 0;
    while let Some(id) = waiting.get(done).copied() {
        let targets =
            firsts.iter().map(|byte| number(dfa.next_state(id, *byte), &mut waiting)).collect();
        let ending = dfa.is_match_state(dfa.next_eoi_state(id));
        states.push(State { targets, ending });
        done += 1;
    }
    (states, start)
}

/// Minimizes: groups equivalent states, first by whether the string may end, then by their targets' groups, until
/// nothing changes. Returns the group of each state.
fn groups(states: &[State]) -> Vec<usize> {
    let mut groups: Vec<usize> = states.iter().map(|state| usize::from(state.ending)).collect();
    let mut count = 0;
    loop {
        let mut known = HashMap::new();
        let target = |target: &usize| groups.get(*target).copied().unwrap_or_default();
        let next = states.iter().zip(&groups).map(|(state, group)| {
            let seen = (*group, state.targets.iter().map(target).collect::<Vec<_>>());
            let number = known.len();
            *known.entry(seen).or_insert(number)
        });
        groups = next.collect();
        if known.len() == count {
            return groups;
        }
        count = known.len();
    }
}

/// The tables of the states; `None` if there are too many.
fn table(states: &[State], start: usize, firsts: &[u8]) -> Option<Automaton> {
    let groups = groups(states);
    // One state represents its group, in this order: the two fixed states, those in which the string may end,
    // the others.
    let mut seen = HashSet::new();
    let firsts_of_groups = groups.iter().zip(states).filter(|(group, _)| seen.insert(**group));
    let mut chosen: Vec<(usize, &State)> =
        firsts_of_groups.map(|(group, state)| (*group, state)).collect();
    chosen.get_mut(2..)?.sort_by_key(|(_, state)| !state.ending);
    let numbers: HashMap<usize, u16> = chosen
        .iter()
        .enumerate()
        .map(|(number, (group, _))| Some((*group, u16::try_from(number).ok()?)))
        .collect::<Option<_>>()?;
    let number = |state: usize| numbers.get(groups.get(state)?).copied();
    let ending = chosen.iter().skip(2).filter(|(_, state)| state.ending).count() + 2;

    let (mut offsets, mut lasts, mut targets) = (vec![0], Vec::new(), Vec::<u16>::new());
    for (_, state) in &chosen {
        for (at, target) in state.targets.iter().enumerate() {
            let target = number(*target)?;
            let last = firsts.get(at + 1).map_or(u8::MAX, |next| next - 1);
            let fresh = offsets.last().is_some_and(|offset| *offset as usize == targets.len());
            match (lasts.last_mut(), targets.last()) {
                (Some(end), Some(before)) if !fresh && *before == target => *end = last,
                _ => {
                    lasts.push(last);
                    targets.push(target);
                }
            }
        }
        offsets.push(u32::try_from(targets.len()).ok()?);
    }
    Some(Automaton {
        start: number(start)?,
        ending: u16::try_from(ending).ok()?,
        offsets: leak(offsets),
        lasts: leak(lasts),
        targets: leak(targets),
    })
}
