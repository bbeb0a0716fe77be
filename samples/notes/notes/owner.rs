//! Whose notes a call may see.

use toolbooth::ToolError;
use toolbooth::principal::Principal;

/// The owner of the notes that a caller creates: the user of a token, or the API key and the user that it names.
///
/// An array in JSON, so that no two owners have the same text.
pub(super) fn owner(principal: &Principal, user_id: Option<&str>) -> Result<String, ToolError> {
    let parts = match principal {
        Principal::User { issuer, subject: Some(subject), .. } => ["user", issuer, subject],
        Principal::Key { name, .. } => ["key", name, user_id.unwrap_or_default()],
        _ => {
            return Err(ToolError::new(
                "Notes belong to a user: call with an API key, or a token with `sub`",
            ));
        }
    };
    Ok(serde_json::Value::from(parts.as_slice()).to_string())
}

#[cfg(test)]
mod tests {
    use toolbooth::principal::Scopes;

    use super::*;

    #[test]
    fn owners() {
        let scopes = Scopes::All;
        let key = |name: &str| Principal::key(name, Scopes::All);
        let user = |issuer: &str, subject: Option<&str>| Principal::User {
            issuer: issuer.to_owned(),
            subject: subject.map(str::to_owned),
            scopes: Scopes::All,
            client: None,
            client_ref: None,
            rule: None,
            budgets: Vec::new(),
            tenant: None,
            team: None,
            actor: None,
            grant: None,
        };
        for (principal, user_id, expected) in [
            (key("app"), None, Some(r#"["key","app",""]"#)),
            (key("app"), Some("ann"), Some(r#"["key","app","ann"]"#)),
            (key(r#"app","ann"#), None, Some(r#"["key","app\",\"ann",""]"#)),
            (user("i", Some("ann")), Some("ann"), Some(r#"["user","i","ann"]"#)),
            (user("i", None), None, None),
            (user("i", None), Some("ann"), None),
            (Principal::Anonymous { scopes }, Some("ann"), None),
        ] {
            let owner = owner(&principal, user_id);
            assert_eq!(owner.ok().as_deref(), expected, "{principal:?} {user_id:?}");
        }
    }
}
