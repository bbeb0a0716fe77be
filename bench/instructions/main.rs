//! Counts the instructions of requests with valgrind, and compares them with `counts.json`.
//!
//! Unlike a time, the count does not depend on what else a machine does, so a test can compare it. Without arguments, the
//! program runs itself under valgrind for each scenario; with the name of a scenario, it sends that one's request.
#![allow(clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

use instructions::all;

/// By how much a count may exceed the stored one.
const TOLERANCE: f64 = 0.03;

const STORED: &str = "bench/instructions/counts.json";

type Counts = BTreeMap<String, u64>;

fn main() -> ExitCode {
    if let Some(name) = env::args().nth(1) {
        let found = all().into_iter().find(|it| it.name == name);
        found.expect("the name of a scenario").run();
        return ExitCode::SUCCESS;
    }
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("instructions: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Counts all scenarios. Compares the counts with the stored ones, or stores them if `UPDATE_INSTRUCTIONS` is set.
fn compare() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stored = root.join(STORED);
    let before: Counts = fs::read(&stored)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    // Kept for callgrind_annotate.
    let outputs = root.join("target/instructions");
    fs::create_dir_all(&outputs).map_err(|error| format!("target/instructions: {error}"))?;

    let mut counts = Counts::new();
    let (mut risen, mut fallen) = (0, 0);
    println!("{:>9} {:>9} {:>7}  Request", "Stored", "Now", "Change");
    for (at, scenario) in all().into_iter().enumerate() {
        let count = count(&scenario.name, &outputs.join(format!("{at:02}.out")))?;
        let old = before.get(&scenario.name).copied().unwrap_or_default();
        // Counts are far below 2^53.
        #[allow(clippy::cast_precision_loss)]
        let change = count as f64 / old as f64 - 1.0;
        // Without a stored count, `change` is infinite.
        let mark = if change > TOLERANCE {
            risen += 1;
            "*"
        } else if change < -TOLERANCE {
            fallen += 1;
            "+"
        } else {
            " "
        };
        println!("{old:>9} {count:>9} {:>6.1}%{mark} {}", change * 100.0, scenario.name);
        counts.insert(scenario.name, count);
    }
    if env::var_os("UPDATE_INSTRUCTIONS").is_some() {
        let text = serde_json::to_string_pretty(&counts).expect("names and numbers");
        return fs::write(&stored, text + "\n").map_err(|error| format!("{STORED}: {error}"));
    }
    if let Some(name) = before.keys().find(|name| !counts.contains_key(*name)) {
        return Err(format!(
            "{STORED} has \"{name}\", which is not counted: `make instructions UPDATE=1` removes it"
        ));
    }
    if risen > 0 {
        return Err(format!(
            "{risen} counts are new, or exceed those in {STORED} by more than 3 %. If this is meant, store them with \
             `make instructions UPDATE=1`, and say in the commit why. \
             `callgrind_annotate target/instructions/<number of the row>.out` shows the functions"
        ));
    }
    if fallen > 0 {
        println!(
            "{fallen} counts have fallen by more than 3 %: keep this with `make instructions UPDATE=1`"
        );
    }
    Ok(())
}

/// The instructions of a scenario's request.
fn count(name: &str, output: &Path) -> Result<u64, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--toggle-collect=*counted*"])
        .arg(format!("--callgrind-out-file={}", output.display()))
        .args(["./instructions", name])
        // What is in memory before the request changes what an allocation costs: a path, or the environment.
        .current_dir(program.parent().unwrap_or(Path::new(".")))
        .env_clear()
        .envs(env::var_os("PATH").map(|path| ("PATH", path)));
    let run = valgrind.output().map_err(|error| {
        format!("valgrind cannot be run ({error}). Install it; on Debian: apt-get install valgrind")
    })?;
    let found = fs::read_to_string(output).ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
        line.trim().parse().ok()
    });
    match found {
        Some(count) if run.status.success() && count > 0 => Ok(count),
        _ => Err(format!("{name} failed: {}", String::from_utf8_lossy(&run.stderr))),
    }
}
