//! What is sealed or stored keeps its bytes: deployed servers have grants, and links are on their way.

use super::*;

#[test]
fn sealed_tokens_and_stored_values_keep_their_bytes() {
    let world = World::new();
    let asked = world.challenge();
    let token = |url: &str| url.split_once("?c=").unwrap().1.to_owned();
    let mut browser = Browser::default();
    let location = browser.leave(&world, &asked);
    let query = location.split_once('?').unwrap().1.to_owned();
    let cookies: Vec<_> = browser.cookies.clone().into_iter().collect();
    complete(&world, &asked, &mut browser);
    let mut all = vec![
        token(&asked.url),
        field(&query, "state").unwrap(),
        field(&query, "code_challenge").unwrap(),
    ];
    all.extend(world.host.store.values().into_iter().flat_map(|(key, value)| [key, value]));
    let denied = world.challenge_for("bob", "token");
    let back = disagree(&browser.leave(&world, &denied), "access_denied");
    browser.send(&world, ("GET", &back));
    all.extend(world.host.store.values().into_keys().filter(|key| key.starts_with("failed")));
    world.wait(STALE_MS);
    all.push(world.check(&asked)["proof"].as_str().unwrap().to_owned());
    assert_eq!(token(&asked.check_url), all[0]);
    let cookie = format!("EBESExQVFhcYGRobHB0eHw.{}", all[0]);
    assert_eq!(cookies, [("__Host-toolbooth-AAECAwQFBgcICQoLDA0ODw".to_owned(), cookie)]);
    assert_eq!(all, BYTES);
}

/// A challenge, `state`, the PKCE challenge, the store after a consent, the key of a failure, a proof.
const BYTES: [&str; 9] = [
    "kZM7_PvCmcDBD35y06OefwyS1EWSvi5FiIU2r5OHFzIHsRwEZ6JvCR-1dJQQpGZCODAPNFS4soTZqtOMdBOZnRDa81Sb-78inJrVgAOxC5h3NR4_NE6Dw8qiiozc4ZYm36mVisOgePAruTPweQkex0MmyRoCZBjq1vdcXjVbCOM1LPBxKUTK8otlKVhZRm9QWQ8sYygz2oAwfOQBtt4qz7X5e_sGrEhgB4-fm2i29Lbthy2iB0p0oGiwygyvIYO4ng2NH-EsjbpIQmt1AqE",
    "skk7cQgBp-SLRR_TS40s45pF3NCTaHY6cdX80RZuR2rJQlpDex6NokyFki51JbC_q-0qhY2i3NY6etHyMFIWs78wetezJ9UWMTpwcm1VdtHvofok24bOHl5_cmmKWEP0XrBAo9fh6_a0PiTJwTPXekpDRgtVIObTOwxopev-SUK_UM4w3_unhu8IOI0W",
    "4EYOy8UdsHkslWakeGZnIvHGbMXVkeuomwIYTILEwBI",
    "grant:tBhn7TPc3aDuG1by4WKM7qVeNfpffgRWk9OpZ3o7dWY",
    "v1.a.MDEyMzQ1Njc4OTo7PD0-P0BBQkNERUZHai4W_U84du7yC7ykxgTBKgWpiCOmrf5elCJdrSPqjSng41WFloRu6seSdJM3Wjyq957PRPf_kCnrXs2TmoBO1kbeUfuJCa-MqPD1w9ObsPJZu8P3ekZjxvBIRht3u8v7eZG2gw_1wHHK6fCQdpld29dEeCXAdd2PwdaBu6ZRx1ob8kTehAXZRrTl6JmfasLCZg3lTwKXSDG3wySC91ls",
    "proof:KBdjISbu01cucwMwOOTPSgeky5S0CFt5ZSF-YOmfpLM",
    "v1.a.UFFSU1RVVldYWVpbXF1eX2BhYmNkZWZnG8TQI7sWqV4m3mUe4DZvA_CrgjfqylolWrZet3Kz697xpWEYuP3nDDb93msJIMvBQzTNlw5lpr0RjwEGHQqOOGrC0QSvKSfRJUMkxTncCntGdBDOonZlQwZFAHWBHF_GFdegXYvm20ZkW2yBbHpDTEO9bh6wCTjRYn37amSynzD-9NohIwk3bATsl-djdZGD6J7MAiwmfPg",
    "failed:YkG85x6FGxYeKqUbWNdwbkFbqJb3JRcKwLgVSwelHFk",
    "toolbooth-proof.XJAkTkkOUfH-7DP5ZaJeL0eJYaQ4yagpl9fJ-fi6GX8",
];
