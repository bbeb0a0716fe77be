//! The secret `TEAMS`: what the members of a team may do, and what they use together.

use super::allowlist::Allowlist;
use super::api_keys::{is_name, parse_tools};
use super::auth::AuthSettings;
use super::key_limits::{KeyLimits, parse_limits};
use super::reader::{VariableDoc, VariableReader};
use crate::budget::Budget;
use crate::json::{self, Value};
use crate::principal::Scopes;
use crate::secret::Secret;

const TEAMS: &str = "TEAMS";

pub(super) static DOCS: &[VariableDoc] = &[VariableDoc::new(
    TEAMS,
    "teams of callers: a JSON array of `{\"name\", \"rules\"}`, perhaps with `scopes`, `tools`, `gateway` (or `tenant_settings`), \
     `budgets` and `provider_keys`, and no others. See [Teams](#teams) | none | calls are rejected, also by a rule about a group \
     whose issuer `ENTERPRISE_ISSUERS` does not have; a rule that names no API key, or a place where people cannot sign in, has no effect",
)];

/// The members of an entry.
const MEMBERS: [&str; 8] =
    ["name", "rules", "scopes", "tools", "gateway", "tenant_settings", "budgets", "provider_keys"];

/// How a rule about an API key begins. Those about people are as in `SIGN_IN_ALLOWED`.
const KEY_RULE: &str = "key:";

/// A team: API keys, and people by the rules by which they sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamSettings {
    /// Its name, unique among the teams.
    pub name: String,
    /// The rules about people, with their positions in the entry. A capability reads them.
    pub people: Vec<(usize, String)>,
    /// The scopes that its members may have; `None`: as without a team.
    pub scopes: Option<Scopes>,
    /// The tools that its members may call, if not all.
    pub tools: Option<Allowlist>,
    /// The limits of its members in the chat gateway.
    pub limits: Option<KeyLimits>,
    /// How much all its members may use together.
    pub budgets: Vec<Budget>,
    /// The keys of providers that are used for its chats, by the provider's id.
    pub provider_keys: Vec<(String, Secret)>,
}

impl TeamSettings {
    /// Its key of a model provider, which is used instead of the server's.
    pub fn provider_key(&self, provider: &str) -> Option<&Secret> {
        self.provider_keys.iter().find(|(id, _)| id == provider).map(|(_, key)| key)
    }
}

/// Reads `TEAMS`, and makes the API keys of `auth` that its rules name members of their teams: they have those of their scopes and of
/// `may_act` that the team has, and the limits of the team if they have none of their own. An invalid entry stops the server, because without it
/// its members might do more.
pub(super) fn read(reader: &mut VariableReader<'_>, auth: &mut AuthSettings) -> Vec<TeamSettings> {
    match reader.non_empty(TEAMS) {
        Some(text) => read_text(&text, reader, auth),
        None => Vec::new(),
    }
}

// A function of its own, so that a Worker compiles it only if there are teams.
#[inline(never)]
fn read_text(
    text: &str,
    reader: &mut VariableReader<'_>,
    auth: &mut AuthSettings,
) -> Vec<TeamSettings> {
    let Ok(Value::Array(entries)) = json::parse(text) else {
        reader.problem(TEAMS, "must be a JSON array of objects with name and rules");
        return Vec::new();
    };
    let mut teams = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let place = format!("{TEAMS}[{index}]");
        match parse(entry, &teams) {
            Ok((team, keys)) => {
                for (at, key) in keys {
                    let place = format!("{place}.rules[{at}] names the API key {key:?}, which");
                    match join(auth, &key, teams.len(), &team) {
                        Ok(()) => {}
                        Err(NotJoined::Unknown) => {
                            reader.reject(format!("{place} API_KEYS does not have"));
                        }
                        Err(NotJoined::Taken(other)) => {
                            let other = teams.get(other).map_or(&team.name, |it| &it.name);
                            reader.sentence(format!("{place} is in the team {other:?} already"));
                        }
                    }
                }
                reader.has_budgets(&team.budgets, || format!("{TEAMS} of {:?}", team.name));
                teams.push(team);
            }
            Err(expected) => reader.sentence(format!("{place}{expected}")),
        }
    }
    teams
}

/// Why an API key is not a member of a team.
enum NotJoined {
    /// There is no such key.
    Unknown,
    /// It is in this team.
    Taken(usize),
}

/// Makes an API key a member of the team at this position.
fn join(
    auth: &mut AuthSettings,
    name: &str,
    position: usize,
    team: &TeamSettings,
) -> Result<(), NotJoined> {
    let mut keys = auth.api_keys.iter_mut().flatten();
    let key = keys.find(|key| key.name == name).ok_or(NotJoined::Unknown)?;
    if let Some(other) = key.team {
        return Err(NotJoined::Taken(other));
    }
    key.team = Some(position);
    if let Some(scopes) = &team.scopes {
        key.scopes = key.scopes.within(scopes);
        key.may_act = key.may_act.take().map(|may_act| may_act.within(scopes));
    }
    if let Some(limits) = &team.limits
        && key.limits == KeyLimits::NONE
    {
        key.limits = limits.clone();
    }
    Ok(())
}

/// A team, and its rules about API keys: the position of each, and the name.
type Parsed = (TeamSettings, Vec<(usize, String)>);

/// Parses an entry; the error is what was expected, after its place.
fn parse(entry: &Value<'_>, others: &[TeamSettings]) -> Result<Parsed, String> {
    let members = entry.as_object().filter(|members| members.has_only(&MEMBERS)).ok_or(
        " must be an object with name and rules, perhaps scopes, tools, gateway (or tenant_settings), budgets and provider_keys, \
         and nothing else",
    )?;
    let name = members.get("name").and_then(Value::as_str).filter(|name| is_name(name));
    let name = name.ok_or(".name must be 1 to 64 visible characters")?;
    if others.iter().any(|other| other.name == name) {
        return Err(".name must be unique".to_owned());
    }
    let rules = members.get("rules").and_then(Value::as_array).filter(|rules| !rules.is_empty());
    let rules = rules.ok_or(
        ".rules must be a non-empty array of rules such as key:ci, github:org/acme or corp:group/research",
    )?;
    let (mut keys, mut people) = (Vec::new(), Vec::new());
    for (at, rule) in rules.iter().enumerate() {
        let rule = rule.as_str().filter(|rule| rule.contains(':')).ok_or_else(|| {
            format!(
                ".rules[{at}] must be a rule such as key:ci, github:org/acme or corp:group/research"
            )
        })?;
        match rule.strip_prefix(KEY_RULE) {
            Some(key) => keys.push((at, key.to_owned())),
            None => people.push((at, rule.to_owned())),
        }
    }
    let scopes = members.get("scopes").map(|scopes| {
        let scopes = scopes.texts().and_then(Scopes::read);
        scopes.ok_or(".scopes must be an array of words without spaces")
    });
    let tools = members.get("tools").map(parse_tools).transpose()?;
    let (limits, budgets) = parse_limits(entry)?;
    let provider_keys = members.get("provider_keys").map(parse_provider_keys).transpose()?;
    let team = TeamSettings {
        name: name.to_owned(),
        people,
        scopes: scopes.transpose()?,
        tools,
        limits,
        budgets,
        provider_keys: provider_keys.unwrap_or_default(),
    };
    Ok((team, keys))
}

fn parse_provider_keys(value: &Value<'_>) -> Result<Vec<(String, Secret)>, String> {
    let keys = value
        .as_object()
        .ok_or(".provider_keys must be an object of keys by the provider's id, such as openai")?;
    let mut parsed = Vec::new();
    for (id, key) in keys.iter() {
        let key = key.as_str().map(|key| Secret::new(key.to_owned()));
        let key = key.filter(Secret::is_bearer_token).ok_or_else(|| {
            format!(".provider_keys.{id:?} must be visible ASCII characters without spaces")
        })?;
        parsed.push((id.to_string(), key));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Account, Unit, Window};
    use crate::principal::Principal;
    use crate::settings::Settings;
    use crate::testing::FakeHost;

    /// The SHA-256 of "abc", and that of "b".
    const HASHES: [&str; 2] = [
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
    ];

    fn settings(teams: &str) -> Settings {
        let keys = format!(
            r#"[{{"name":"ci","scopes":["a","b"],"hash":"{}"}},{{"name":"ops","scopes":["*"],"may_act":["*"],"hash":"{}","gateway":{{"models":["own"]}}}}]"#,
            HASHES[0], HASHES[1]
        );
        let host = FakeHost::with(&[("AUTH", "api-key"), ("API_KEYS", &keys), ("TEAMS", teams)]);
        Settings::read(&host, &[], &[])
    }

    #[test]
    fn what_its_keys_may_do() {
        let settings = settings(
            r#"[{"name":"research","rules":["key:ci","corp:group/research","key:ops"],"scopes":["a","c"],
                "tools":["Calculator.*"],"gateway":{"models":["fast"]},"budgets":[{"window":"1d","tool_calls":100}],
                "provider_keys":{"openai":"sk-team"}}]"#,
        );
        assert_eq!((settings.problems.len(), settings.rejected.len()), (0, 0));
        let key = |name: &str, scopes| Principal::key(name, scopes);
        let team = settings.team_of(&key("ci", Scopes::NONE)).unwrap();
        assert_eq!(team.people, [(1, "corp:group/research".to_owned())]);
        assert_eq!(team.provider_key("openai").unwrap().expose(), "sk-team");
        assert_eq!(team.provider_key("anthropic"), None);
        let budget = Budget { window: Window::Day, unit: Unit::ToolCalls, limit: 100 };
        assert_eq!(team.budgets, [budget]);
        assert!(!format!("{team:?}").contains("sk-team"));
        let [ci, ops] = &settings.auth.api_keys.clone().unwrap()[..] else { panic!("two keys") };
        let listed = |scopes: &[&str]| {
            Scopes::Listed(scopes.iter().map(|scope| (*scope).to_owned()).collect())
        };
        assert_eq!((&ci.scopes, &ops.scopes), (&listed(&["a"]), &listed(&["a", "c"])));
        assert_eq!((&ci.may_act, &ops.may_act), (&None, &Some(listed(&["a", "c"]))));
        let models = |name: &str| Some(vec![name.to_owned()]);
        assert_eq!((&ci.limits.models, &ops.limits.models), (&models("fast"), &models("own")));
        assert_eq!(settings.budgeted, [r#"TEAMS of "research""#]);
        assert_eq!(Account::named("team:research"), Some(Account::Team("research".to_owned())));
        assert_eq!(settings.team_of(&Principal::ANONYMOUS), None);
        assert_eq!(settings.team_of(&key("other", Scopes::NONE)), None);
    }

    #[test]
    fn each_wrong_entry_is_named() {
        let with = |more: &str| format!(r#"[{{"name":"a","rules":["key:ci"]{more}}}]"#);
        for (teams, problem) in [
            ("{}", "TEAMS must be a JSON array"),
            ("[1]", "TEAMS[0] must be an object"),
            (r#"[{"rules":["key:ci"]}]"#, "TEAMS[0].name must be"),
            (r#"[{"name":"","rules":["key:ci"]}]"#, "TEAMS[0].name must be"),
            (r#"[{"name":"a"}]"#, "TEAMS[0].rules must be a non-empty"),
            (r#"[{"name":"a","rules":[]}]"#, "TEAMS[0].rules must be a non-empty"),
            (r#"[{"name":"a","rules":["ci"]}]"#, "TEAMS[0].rules[0] must be a rule"),
            (r#"[{"name":"a","rules":[1]}]"#, "TEAMS[0].rules[0] must be a rule"),
            (&with(r#","members":[]"#), "TEAMS[0] must be an object"),
            (&with(r#","scopes":"a""#), "TEAMS[0].scopes must be"),
            (&with(r#","scopes":["a b"]"#), "TEAMS[0].scopes must be"),
            (&with(r#","scopes":[1]"#), "TEAMS[0].scopes must be"),
            (&with(r#","tools":"x""#), "TEAMS[0].tools must be"),
            (&with(r#","gateway":{"model":[]}"#), "TEAMS[0].gateway must be"),
            (&with(r#","budgets":[]"#), "TEAMS[0].budgets must be"),
            (&with(r#","provider_keys":[]"#), "TEAMS[0].provider_keys must be"),
            (
                &with(r#","provider_keys":{"openai":"a b"}"#),
                "TEAMS[0].provider_keys.\"openai\" must",
            ),
            (&with(r#","provider_keys":{"openai":1}"#), "TEAMS[0].provider_keys.\"openai\" must"),
            (
                r#"[{"name":"a","rules":["key:ops"]},{"name":"a","rules":["key:ci"]}]"#,
                "TEAMS[1].name must be unique",
            ),
            (
                r#"[{"name":"a","rules":["key:ci"]},{"name":"b","rules":["key:ci"]}]"#,
                r#"TEAMS[1].rules[0] names the API key "ci", which is in the team "a" already"#,
            ),
        ] {
            let settings = settings(teams);
            // Without its team, a key might do more.
            assert_eq!(settings.problems.len(), 1, "{teams}: {:?}", settings.problems);
            assert!(settings.problems[0].starts_with(problem), "{teams}: {:?}", settings.problems);
        }
        let settings = settings(r#"[{"name":"a","rules":["key:other"]}]"#);
        assert_eq!(settings.problems, [""; 0]);
        let expected =
            r#"TEAMS[0].rules[0] names the API key "other", which API_KEYS does not have"#;
        assert_eq!(settings.rejected, [expected]);
    }
}
