//! The parameters of a query (`application/x-www-form-urlencoded`), of lists and of calls alike:
//! each stands there at most once, and one that is mistyped is told.

use crate::text::excerpt;

/// Hands every parameter to `take`, by its name out of `known` and its value.
///
/// # Errors
/// A parameter that there is not or that stands there twice, and what `take` finds wrong.
pub(super) fn each(
    query: &str,
    known: &[&'static str],
    mut take: impl FnMut(&'static str, &str) -> Result<(), String>,
) -> Result<(), String> {
    let mut seen = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let Some(&known) = known.iter().find(|one| **one == name) else {
            return Err(format!(
                "\"{}\" is not a parameter; the parameters are {}",
                excerpt(&name),
                known.join(", ")
            ));
        };
        if seen.contains(&known) {
            return Err(format!("{known} is there more than once"));
        }
        seen.push(known);
        take(known, &value)?;
    }
    Ok(())
}

/// Whether a parameter of two values has the first.
///
/// # Errors
/// What it may be.
pub(super) fn either(name: &str, value: &str, [yes, no]: [&str; 2]) -> Result<bool, String> {
    match value {
        value if value == yes => Ok(true),
        value if value == no => Ok(false),
        _ => Err(format!("{name} must be {yes} or {no}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters() {
        let long = "é".repeat(200);
        for (query, expected) in [
            ("", Ok("")),
            ("&&", Ok("")),
            ("b=1&a=%20x+y", Ok("b:1,a: x y,")),
            ("a", Ok("a:,")),
            ("a=1&c=2", Err("\"c\" is not a parameter; the parameters are a, b".to_owned())),
            ("A=1", Err("\"A\" is not a parameter; the parameters are a, b".to_owned())),
            ("=1", Err("\"\" is not a parameter; the parameters are a, b".to_owned())),
            (
                "%00%22=1",
                Err("\"\u{fffd}’\" is not a parameter; the parameters are a, b".to_owned()),
            ),
            ("a=1&a=1", Err("a is there more than once".to_owned())),
            ("b=no", Err("no".to_owned())),
            (
                &format!("{long}=1"),
                Err(format!("{:?} is not a parameter; the parameters are a, b", excerpt(&long))),
            ),
        ] {
            let mut told = String::new();
            let read = each(query, &["a", "b"], |name, value| {
                told.push_str(&format!("{name}:{value},"));
                if value == "no" { Err(value.to_owned()) } else { Ok(()) }
            });
            assert_eq!(read.map(|()| told.as_str()), expected, "{query}");
        }
        assert_eq!(either("a", "x", ["x", "y"]), Ok(true));
        assert_eq!(either("a", "y", ["x", "y"]), Ok(false));
        assert_eq!(either("a", "X", ["x", "y"]), Err("a must be x or y".to_owned()));
    }
}
