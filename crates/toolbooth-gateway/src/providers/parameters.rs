//! Reads query parameters (`application/x-www-form-urlencoded`), for lists and for calls: unknown and repeated ones
//! are errors, so that a typing mistake does not go unnoticed.

use toolbooth::schema::text::excerpt;

/// Calls `take` with the name and value of every parameter. The name is one of `known`, and none is repeated.
pub(super) fn for_each(
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
            return Err(format!("{known} appears more than once"));
        }
        seen.push(known);
        take(known, &value)?;
    }
    Ok(())
}

/// Whether a parameter that has two possible values has the first.
pub(super) fn choice(name: &str, value: &str, [yes, no]: [&str; 2]) -> Result<bool, String> {
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
    fn unknown_and_repeated_parameters_are_errors() {
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
            ("a=1&a=1", Err("a appears more than once".to_owned())),
            ("b=no", Err("no".to_owned())),
            (
                &format!("{long}=1"),
                Err(format!("{:?} is not a parameter; the parameters are a, b", excerpt(&long))),
            ),
        ] {
            let mut taken = String::new();
            let read = for_each(query, &["a", "b"], |name, value| {
                taken.push_str(&format!("{name}:{value},"));
                if value == "no" { Err(value.to_owned()) } else { Ok(()) }
            });
            assert_eq!(read.map(|()| taken.as_str()), expected, "{query}");
        }
    }

    #[test]
    fn a_choice_has_two_values() {
        assert_eq!(choice("a", "x", ["x", "y"]), Ok(true));
        assert_eq!(choice("a", "y", ["x", "y"]), Ok(false));
        assert_eq!(choice("a", "X", ["x", "y"]), Err("a must be x or y".to_owned()));
    }
}
