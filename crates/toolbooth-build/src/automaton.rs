//! Makes automata of patterns.

use std::collections::{HashMap, HashSet};

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use toolbooth::schema::Automaton;

use crate::plan::leak;

/// The largest automaton that is compiled in, in bytes. Beyond, a pattern is left to an engine.
const LARGEST: usize = 64 << 10;
/// The memory that may be taken for finding out.
const ROOM: usize = 2 << 20;

/// A state: where each of the bytes leads that stand for a range, and whether the text may end.
struct State {
    targets: Vec<usize>,
    ending: bool,
}

/// The automaton that finds a pattern, which is in the syntax of the `regex` crate. None if the
/// pattern asks for what automata cannot do (whether a letter beyond ASCII is part of a word), or
/// for too many states.
pub(crate) fn build(pattern: &str) -> Option<Automaton> {
    let config = dense::Config::new()
        .accelerate(false)
        .start_kind(StartKind::Unanchored)
        .dfa_size_limit(Some(ROOM))
        .determinize_size_limit(Some(ROOM));
    let dfa = dense::Builder::new()
        .configure(config)
        .thompson(thompson::Config::new().nfa_size_limit(Some(ROOM)))
        .build(pattern)
        .ok()?;
    let classes = dfa.byte_classes();
    let begins = |byte: &u8| *byte == 0 || classes.get(*byte) != classes.get(*byte - 1);
    let firsts: Vec<u8> = (0..=u8::MAX).filter(begins).collect();
    let begin = dfa.start_state(&start::Config::new()).ok()?;
    let (states, start) = reachable(&dfa, begin, &firsts);
    table(&states, start, &firsts).filter(|automaton| automaton.size() <= LARGEST)
}

/// All states that can be reached, the first being that of no way back, the second that of having
/// found the pattern: what comes after does not matter. Gives the state to begin in, too.
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

/// Groups states that cannot be told apart: at first by whether the text may end, then by where
/// they lead, until nothing more is found. Gives the group of each state.
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

/// Writes the states as tables. None if there are too many of them.
fn table(states: &[State], start: usize, firsts: &[u8]) -> Option<Automaton> {
    let groups = groups(states);
    // One state stands for its group: those of no way back and of having found it, those in which
    // the text may end, the others.
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
