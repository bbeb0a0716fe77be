//! The addresses of challenges and grants: pages, and the check.

use super::{Answer, ensure, members, oxp};

/// The content type of a page.
pub(super) const PAGE: &str = "text/html; charset=utf-8";

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    let policy = answer.all("content-security-policy").next().unwrap_or_default();
    if !policy.is_empty() {
        return page(answer, policy);
    }
    if answer.path != "/auth/check" || answer.status == 405 {
        let is_empty = answer.status == 204;
        return if is_empty { Ok(()) } else { oxp::check(answer) };
    }
    let open = answer.all("access-control-allow-origin").eq(["*"]);
    ensure(open, "not every page may read the check")?;
    if answer.status == 204 || answer.method == "HEAD" {
        return Ok(());
    }
    if answer.status == 429 {
        return oxp::check(answer);
    }
    ensure(answer.status == 200, "a check is always 200")?;
    let body = answer.object()?;
    members(&body, &["status"], &["proof"])?;
    let known = ["pending", "completed", "failed"];
    let status = body.get("status").and_then(|status| status.as_str()).unwrap_or_default();
    ensure(known.contains(&status), "a status that no challenge has")
}

/// A page, or a redirect to the provider: nothing else may use or frame it.
fn page(answer: &Answer<'_>, policy: &str) -> Result<(), String> {
    ensure(policy.starts_with("default-src 'none'; "), "the policy is not strict")?;
    ensure(policy.contains("frame-ancestors 'none'"), "it may be framed")?;
    ensure(answer.all("cache-control").eq(["no-store"]), "it may be stored")?;
    ensure(answer.all("access-control-allow-origin").count() == 0, "any page may read it")?;
    let alone = answer.all("cross-origin-opener-policy").eq(["same-origin"]);
    ensure(alone, "who opened it has a hold of it")?;
    let known = [200, 303, 400, 403, 429, 502, 503];
    ensure(known.contains(&answer.status), "a status that no page has")?;
    let body = std::str::from_utf8(answer.body).map_err(|_| "not UTF-8".to_owned())?;
    ensure(!body.contains("<script"), "a page with a script")
}
