//! Links, cookies and grants from before the first release are still valid: users are on their way, and stores full.

use std::time::Duration;

use super::*;
use crate::tests::provider;
use toolbooth::host::Store;

/// The token of a challenge for ada's mail.
const CHALLENGE: &str = "kZM7_PvCmcDBD35y06OefwyS1EWSvi5FiIU2r5OHFzIHsRwEZ6JvCR-1dJQQpGZCODAPNFS4soTZqtOMdBOZnRDa81Sb-78inJrVgAOxC5h3NR4_NE6Dw8qiiozc4ZYm36mVisOgePAruTPweQkex0MmyRoCZBjq1vdcXjVbCOM1LPBxKUTK8otlKVhZRm9QWQ8sYygz2oAwfOQBtt4qz7X5e_sGrEhgB4-fm2i29Lbthy2iB0p0oGiwygyvIYO4ng2NH-EsjbpIQmt1AqE";
/// The challenge's id, and the CSRF token of the browser that began it.
const ID: &str = "AAECAwQFBgcICQoLDA0ODw";
const CSRF_TOKEN: &str = "EBESExQVFhcYGRobHB0eHw";
/// What the provider got.
const STATE: &str = "skk7cQgBp-SLRR_TS40s45pF3NCTaHY6cdX80RZuR2rJQlpDex6NokyFki51JbC_q-0qhY2i3NY6etHyMFIWs78wetezJ9UWMTpwcm1VdtHvofok24bOHl5_cmmKWEP0XrBAo9fh6_a0PiTJwTPXekpDRgtVIObTOwxopev-SUK_UM4w3_unhu8IOI0W";
const CODE_CHALLENGE: &str = "4EYOy8UdsHkslWakeGZnIvHGbMXVkeuomwIYTILEwBI";
/// The grant in the store.
const GRANT: (&str, &str) = (
    "grant:tBhn7TPc3aDuG1by4WKM7qVeNfpffgRWk9OpZ3o7dWY",
    "v1.a.MDEyMzQ1Njc4OTo7PD0-P0BBQkNERUZHai4W_U84du7yC7ykxgTBKgWpiCOmrf5elCJdrSPqjSng41WFloRu6seSdJM3Wjyq957PRPf_kCnrXs2TmoBO1kbeUfuJCa-MqPD1w9ObsPJZu8P3ekZjxvBIRht3u8v7eZG2gw_1wHHK6fCQdpld29dEeCXAdd2PwdaBu6ZRx1ob8kTehAXZRrTl6JmfasLCZg3lTwKXSDG3wySC91ls",
);
/// The same grant by its proof.
const PROOF: &str = "toolbooth-proof.XJAkTkkOUfH-7DP5ZaJeL0eJYaQ4yagpl9fJ-fi6GX8";
const STORED_PROOF: (&str, &str) = (
    "proof:KBdjISbu01cucwMwOOTPSgeky5S0CFt5ZSF-YOmfpLM",
    "v1.a.UFFSU1RVVldYWVpbXF1eX2BhYmNkZWZnG8TQI7sWqV4m3mUe4DZvA_CrgjfqylolWrZet3Kz697xpWEYuP3nDDb93msJIMvBQzTNlw5lpr0RjwEGHQqOOGrC0QSvKSfRJUMkxTncCntGdBDOonZlQwZFAHWBHF_GFdegXYvm20ZkW2yBbHpDTEO9bh6wCTjRYn37amSynzD-9NohIwk3bATsl-djdZGD6J7MAiwmfPg",
);

fn store(harness: &Harness, (key, value): (&str, &str)) {
    ready(harness.host.put(key, value, Some(Duration::from_secs(600)))).unwrap();
}

fn asked() -> InputRequired {
    let check_url = format!("{}/auth/check?c={CHALLENGE}", harness::ORIGIN);
    InputRequired { url: format!("{}/auth/start?c={CHALLENGE}", harness::ORIGIN), check_url }
}

#[test]
fn a_user_who_has_a_link_or_is_at_the_provider_gets_through() {
    let harness = start();
    assert_eq!(harness.status(&asked()), "pending");
    assert_eq!(harness.ask(("GET", &asked().url), &[], "").status, 200);
    let browser = Browser::default();
    browser.keep(format!("__Host-toolbooth-{ID}"), format!("{CSRF_TOKEN}.{CHALLENGE}"));
    let location = format!(
        "https://mail.example/authorize?response_type=code&client_id=booth&scope=send+offline\
         &code_challenge_method=S256&code_challenge={CODE_CHALLENGE}&state={STATE}\
         &redirect_uri={}",
        provider::CALLBACK
    );
    let page = browser.visit(&harness, ("GET", &agree(&location)));
    assert_eq!(page.status, 200, "{}", text(&page));
    assert!(harness.host.store.values().contains_key(GRANT.0), "under the same key");
}

#[test]
fn a_stored_grant_and_its_proof_are_found() {
    let harness = start();
    store(&harness, STORED_PROOF);
    assert_eq!(proofs::call(&harness, "ada", PROOF).0, 200);
    let harness = start();
    store(&harness, GRANT);
    assert_eq!(harness.given_token(), "access-1");
    let check = harness.check(&asked());
    assert_eq!(
        (check["status"].as_str(), check["proof"].as_str()),
        (Some("completed"), Some(PROOF))
    );
}
