//! The variables, secrets and bindings that tools declare.

use std::sync::Arc;

use super::reader::VariableReader;
use crate::catalog::Tool;
use crate::host::Platform;
use crate::secret::Secret;
use crate::tool::http::GrantedTokens;

/// A variable or a secret of the operator that tools read. The definitions of these tools list its name.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    name: &'static str,
    /// `None` if the operator must set it.
    default: Option<&'static str>,
    is_secret: bool,
    /// Whether an empty text is a value, and not a secret that was forgotten.
    may_be_empty: bool,
    /// Whether tools run without it.
    is_optional: bool,
    check: fn(&str) -> Result<(), &'static str>,
}

impl Variable {
    /// A variable with a default. `check` checks a value; its error completes the sentence that begins with the
    /// name, such as `must be a whole number`.
    pub const fn new(
        name: &'static str,
        default: &'static str,
        check: fn(&str) -> Result<(), &'static str>,
    ) -> Self {
        Self {
            name,
            default: Some(default),
            is_secret: false,
            may_be_empty: false,
            is_optional: false,
            check,
        }
    }

    /// A variable that the operator must set.
    pub const fn required(name: &'static str, check: fn(&str) -> Result<(), &'static str>) -> Self {
        Self {
            name,
            default: None,
            is_secret: false,
            may_be_empty: false,
            is_optional: false,
            check,
        }
    }

    /// A secret that the operator must set, such as the API key of a service. A secret that callers send is
    /// declared in `requirements.secrets` of the definition instead.
    pub const fn secret(name: &'static str) -> Self {
        Self {
            name,
            default: None,
            is_secret: true,
            may_be_empty: false,
            is_optional: false,
            check: |_| Ok(()),
        }
    }

    /// The same, but an empty text is a value of it: that of a password (RFC 7617, 2). It still must be set.
    #[must_use]
    pub const fn or_empty(self) -> Self {
        Self { may_be_empty: true, ..self }
    }

    /// The same, but tools run without it: it is empty for them.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// The name, as in `wrangler.toml`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The first of these texts that it accepts, unless it has a default. For tests.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn needed<const N: usize>(&self, texts: [String; N]) -> Option<String> {
        let is_needed = self.default.is_none() && !self.is_optional;
        let mut texts = texts.into_iter().filter(|_| is_needed);
        texts.find(|text| (self.check)(text).is_ok())
    }

    /// Whether it is a secret.
    pub const fn is_secret(&self) -> bool {
        self.is_secret
    }
}

/// The values of the variables and secrets that tools declare. Invalid ones are absent.
#[derive(Debug, Clone, Default)]
pub struct ToolVariables {
    texts: Vec<(&'static str, String)>,
    secrets: Vec<(&'static str, Secret)>,
    problems: Vec<VariableProblem>,
    granted: Arc<GrantedTokens>,
}

/// What is wrong with a variable.
#[derive(Debug, Clone, Copy)]
struct VariableProblem {
    name: &'static str,
    /// Completes the sentence that begins with the name.
    text: &'static str,
    /// Whether it is not set; otherwise it is invalid.
    is_missing: bool,
}

impl ToolVariables {
    pub(super) fn read<'v>(
        reader: &VariableReader<'_>,
        declared: impl IntoIterator<Item = &'v Variable>,
    ) -> Self {
        let mut read = Self::default();
        for &Variable { name, default, is_secret, may_be_empty, is_optional, check } in declared {
            let value = reader.text(name).or_else(|| default.map(str::to_owned));
            // An empty secret is one that was forgotten.
            let value = value.filter(|value| !is_secret || may_be_empty || !value.is_empty());
            let is_missing = value.is_none();
            if is_missing && is_optional {
                continue;
            }
            let missing = if is_secret { "is a secret that is not set" } else { "is not set" };
            let is_valid = |value: &str| match may_be_empty && value.is_empty() {
                true => Ok(()),
                false => check(value),
            };
            let value = value.ok_or(missing).and_then(|value| is_valid(&value).map(|()| value));
            match value {
                Err(text) => read.problems.push(VariableProblem { name, text, is_missing }),
                Ok(value) if is_secret => read.secrets.push((name, Secret::new(value))),
                Ok(value) => read.texts.push((name, value)),
            }
        }
        read
    }

    /// Whether the variable or secret `name` has a value.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.texts.iter().any(|(known, _)| *known == name) || self.secret(name).is_some()
    }

    /// The tokens of the server's own grants.
    pub(crate) fn granted_tokens(&self) -> &GrantedTokens {
        &self.granted
    }

    /// The value of the variable `name`; empty if no tool declares it.
    pub fn get(&self, name: &str) -> &str {
        self.texts.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// The secret `name`.
    pub fn secret(&self, name: &str) -> Option<&Secret> {
        self.secrets.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Whether a variable, a secret or a binding that `tool` needs is missing or invalid, so that it cannot run.
    pub fn disable(&self, tool: &Tool, platform: &(impl Platform + ?Sized)) -> bool {
        self.problems.iter().any(|problem| problem.disables(tool))
            || tool.bindings.iter().any(|name| !platform.is_bound(name))
    }

    /// Whether one of these variables is missing or invalid.
    pub fn disables(&self, variables: &[Variable]) -> bool {
        self.problems.iter().any(|problem| variables.iter().any(|it| it.name == problem.name))
    }

    /// What is missing or invalid, and what that disables, for the operator: tools, and `others` that read variables.
    pub fn problems(
        &self,
        tools: &[Tool],
        others: &[(&str, &[Variable])],
        platform: &(impl Platform + ?Sized),
    ) -> Vec<String> {
        let mut unbound: Vec<&str> = Vec::new();
        for name in tools.iter().flat_map(|tool| tool.bindings) {
            if !unbound.contains(name) && !platform.is_bound(name) {
                unbound.push(name);
            }
        }
        let unbound = unbound.into_iter().map(|name| VariableProblem {
            name,
            text: "is not bound",
            is_missing: true,
        });
        // Without the credentials that are optional for all tools that list them, nothing is wrong.
        let matters = |problem: &VariableProblem| {
            let is_listed = |tool: &Tool| tool.variables.contains(&problem.name);
            let is_read = others.iter().flat_map(|(_, all)| *all).any(|it| it.name == problem.name);
            is_read
                || !tools.iter().any(is_listed)
                || tools.iter().any(|tool| problem.disables(tool))
        };
        let problems = self.problems.iter().copied().filter(matters).chain(unbound);
        problems.map(|problem| effect(problem, tools, others)).collect()
    }
}

impl VariableProblem {
    fn disables(&self, tool: &Tool) -> bool {
        let is_optional = self.is_missing && tool.is_optional(self.name);
        tool.variables.contains(&self.name) && !is_optional
    }
}

/// A problem of a variable or binding, and what it disables.
// Out of the code that each start compiles.
#[inline(never)]
fn effect(problem: VariableProblem, tools: &[Tool], others: &[(&str, &[Variable])]) -> String {
    let VariableProblem { name, text, .. } = problem;
    let needs = |tool: &&Tool| problem.disables(tool) || tool.bindings.contains(&name);
    let reads = |it: &Variable| it.name == name;
    let others = others.iter().filter(|(_, variables)| variables.iter().any(reads));
    let tools = tools.iter().filter(needs).map(Tool::id);
    let disabled: Vec<_> = others.map(|(name, _)| (*name).to_owned()).chain(tools).collect();
    let disabled = if disabled.is_empty() { "no tool".to_owned() } else { disabled.join(", ") };
    format!("{name} {text}; it disables {disabled}")
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;
    use crate::testing::FakeHost;

    const DECLARED: &[Variable] = &[
        Variable::new("API_URL", "https://api.example", crate::address::base_address),
        Variable::required("ACCOUNT", |text| {
            if text.is_empty() { Err("must not be empty") } else { Ok(()) }
        }),
        Variable::secret("API_KEY"),
    ];

    #[test]
    fn what_is_invalid_disables_only_the_tools_that_read_it() {
        const SET: (&str, &str) = ("ACCOUNT", "a");
        let tools = [
            Tool { variables: &["API_URL", "API_KEY"], ..crate::testing::echo::private() },
            Tool { tool: "Other", variables: &["ACCOUNT"], ..crate::testing::echo::private() },
            Tool { tool: "Free", ..crate::testing::echo::private() },
        ];
        let (private, other) = ("Echo.Private@1.0.0", "Echo.Other@1.0.0");
        for (variables, disabled, expected) in [
            (&[SET, ("API_KEY", "k")][..], [false, false, false], vec![]),
            (
                &[SET],
                [true, false, false],
                vec![format!("API_KEY is a secret that is not set; it disables {private}")],
            ),
            (
                &[SET, ("API_KEY", "")],
                [true, false, false],
                vec![format!("API_KEY is a secret that is not set; it disables {private}")],
            ),
            (
                &[("API_KEY", "k"), ("ACCOUNT", "")],
                [false, true, false],
                vec![format!("ACCOUNT must not be empty; it disables {other}")],
            ),
            (
                &[("API_URL", "ftp://a")],
                [true, true, false],
                vec![
                    format!(
                        "API_URL {}; it disables {private}",
                        crate::address::base_address("ftp://a").unwrap_err()
                    ),
                    format!("ACCOUNT is not set; it disables {other}"),
                    format!("API_KEY is a secret that is not set; it disables {private}"),
                ],
            ),
        ] {
            let settings = Settings::read(&FakeHost::with(variables), &[], DECLARED);
            assert!(settings.problems.is_empty(), "the server serves other tools");
            let host = FakeHost::default();
            assert_eq!(settings.tools.problems(&tools, &[], &host), expected, "{variables:?}");
            let got = tools.each_ref().map(|tool| settings.tools.disable(tool, &host));
            assert_eq!(got, disabled, "{variables:?}");
        }
    }

    #[test]
    fn empty_and_optional_variables() {
        const VARIABLES: &[Variable] = &[
            Variable::secret("PASSWORD").or_empty(),
            Variable::required("NAME", |text| {
                if text.is_empty() { Err("must not be empty") } else { Ok(()) }
            })
            .or_empty(),
            Variable::secret("CLIENT").optional(),
        ];
        let names = ["PASSWORD", "NAME", "CLIENT"];
        for (variables, set, missing) in [
            (&[][..], [false, false, false], &["PASSWORD", "NAME"][..]),
            (&[("PASSWORD", ""), ("NAME", ""), ("CLIENT", "")], [true, true, false], &[]),
            (&[("PASSWORD", "p"), ("NAME", "n"), ("CLIENT", "c")], [true, true, true], &[]),
        ] {
            let host = FakeHost::with(variables);
            let tools = Settings::read(&host, &[], VARIABLES).tools;
            assert_eq!(names.map(|name| tools.is_set(name)), set, "{variables:?}");
            let problems = tools.problems(&[], &[], &host);
            assert_eq!(problems.len(), missing.len(), "{problems:?}");
            let begins = |(problem, name): (&String, &&str)| problem.starts_with(*name);
            assert!(problems.iter().zip(missing).all(begins), "{problems:?}");
        }
    }

    #[test]
    fn a_missing_binding_disables_only_the_tools_that_need_it() {
        let tools = [
            Tool { bindings: &["NOTES", "FILES"], ..crate::testing::echo::private() },
            Tool { tool: "Other", bindings: &["NOTES"], ..crate::testing::echo::private() },
            Tool { tool: "Free", ..crate::testing::echo::private() },
        ];
        for (bound, disabled, expected) in [
            (&["FILES", "NOTES"][..], [false, false, false], vec![]),
            (
                &["NOTES"],
                [true, false, false],
                vec!["FILES is not bound; it disables Echo.Private@1.0.0"],
            ),
            (
                &[],
                [true, true, false],
                vec![
                    "NOTES is not bound; it disables Echo.Private@1.0.0, Echo.Other@1.0.0",
                    "FILES is not bound; it disables Echo.Private@1.0.0",
                ],
            ),
        ] {
            let host =
                FakeHost { bindings: bound.iter().copied().collect(), ..FakeHost::default() };
            let settings = Settings::read(&host, &[], &[]);
            assert_eq!(settings.tools.problems(&tools, &[], &host), expected, "{bound:?}");
            let got = tools.each_ref().map(|tool| settings.tools.disable(tool, &host));
            assert_eq!(got, disabled, "{bound:?}");
        }
    }

    #[test]
    fn secrets_are_not_variables() {
        let settings =
            Settings::read(&FakeHost::with(&[("API_KEY", "k"), ("ACCOUNT", "a")]), &[], DECLARED);
        assert_eq!(settings.tools.get("API_URL"), "https://api.example");
        assert_eq!(settings.tools.get("ACCOUNT"), "a");
        assert_eq!(settings.tools.get("API_KEY"), "");
        assert_eq!(settings.tools.secret("API_KEY").map(Secret::expose), Some("k"));
        assert_eq!(settings.tools.secret("ACCOUNT").map(Secret::expose), None);
        assert!(!format!("{settings:?}").contains("\"k\""));
    }
}
