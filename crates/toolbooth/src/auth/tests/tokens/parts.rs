//! The parts of a token: its claims, its header and its signature.

use super::*;

#[test]
fn claims() {
    let expired = Err(rejected("the token has expired"));
    let times = Err(rejected("`exp`, `nbf` and `iat` must be non-negative numbers"));
    let late = Err(rejected("the token's lifetime must be at most 366 days"));
    let bearer =
        Err(rejected("the token is bound to a key, and needs the scheme DPoP and a proof"));
    let bound = Err(rejected("the token is bound to a key in a way that is not supported"));
    let early = Err(rejected("the token is not valid yet"));
    let issuer = Err(rejected("the token is from another issuer"));
    let audience = Err(rejected("the token is for another audience"));
    let words = Err(rejected("the token's `scope` and `scp` must be strings or arrays of strings"));
    let rules: Set<'_> = &[("JWT_AUDIENCE", "us, them"), ("JWT_ISSUER", "https://issuer.example")];
    let strict: Set<'_> = &[("JWT_LEEWAY", "0")];
    let no_user = user(None, &[]);
    let theirs = by(Some("https://issuer.example"), None, &[]);
    let anybodys = by(Some("anybody"), None, &[]);
    let no_text = Err(rejected("the token's `sub` and `iss` must be strings"));
    // N is replaced by the current time.
    for (claims, more, expected) in [
        (r#"{"exp":N+1}"#, &[][..], no_user.clone()),
        (r#"{"exp":N-29}"#, &[], no_user.clone()),
        (r#"{"exp":N-30}"#, &[], expired.clone()),
        (r#"{"exp":N+1}"#, strict, no_user.clone()),
        (r#"{"exp":N}"#, strict, expired.clone()),
        (r#"{"exp":-1}"#, &[], times.clone()),
        (r#"{"exp":0}"#, &[], expired.clone()),
        (r#"{"exp":N+9,"nbf":N+30}"#, &[], no_user.clone()),
        (r#"{"exp":N+99,"nbf":N+31}"#, &[], early.clone()),
        (r#"{"exp":N+99,"nbf":N+1}"#, strict, early.clone()),
        (r#"{"exp":N+99,"nbf":0}"#, &[], no_user.clone()),
        (r#"{"exp":N+99,"nbf":-8334601228800}"#, &[], times.clone()),
        (r#"{"exp":N+99,"iat":-1}"#, &[], times.clone()),
        (r#"{"exp":N+99,"iat":N+31}"#, &[], early.clone()),
        (r#"{"exp":N+99,"iat":N-99}"#, &[], no_user.clone()),
        // Not a time.
        (r#"{"exp":"N+99"}"#, &[], times.clone()),
        (r#"{"exp":null}"#, &[], times.clone()),
        (r#"{"exp":true}"#, &[], times.clone()),
        (r#"{"exp":N+99,"nbf":"soon"}"#, &[], times.clone()),
        (r#"{"exp":N+99,"iat":null}"#, &[], times.clone()),
        (r#"{"exp":1e999}"#, &[], Err(invalid())),
        (r#"{"exp":1e300}"#, &[], late.clone()),
        (r#"{"exp":18446744073709551615}"#, &[], late.clone()),
        (r#"{"exp":-1e300}"#, &[], times.clone()),
        // 366 days and the leeway, by iat where it is there and not in the future.
        (r#"{"exp":1773346430}"#, &[], no_user.clone()),
        (r#"{"exp":1773346431}"#, &[], late.clone()),
        (r#"{"exp":1773346430,"iat":N}"#, &[], no_user.clone()),
        (r#"{"exp":1773346431,"iat":N+30}"#, &[], late.clone()),
        (r#"{"exp":1773346430,"iat":N-1}"#, &[], late.clone()),
        (r#"{"exp":N+9,"iat":0}"#, &[], late),
        // Bound to a key (RFC 7800).
        (r#"{"exp":N+9,"cnf":{"jkt":"x"}}"#, &[], bearer),
        (r#"{"exp":N+9,"cnf":{"jkt":"x","kid":"x"}}"#, &[], bound.clone()),
        (r#"{"exp":N+9,"cnf":{"jkt":7}}"#, &[], bound.clone()),
        (r#"{"exp":N+9,"cnf":{"x5t#S256":"x"}}"#, &[], bound.clone()),
        (r#"{"exp":N+9,"cnf":{}}"#, &[], bound.clone()),
        (r#"{"exp":N+9,"cnf":null}"#, &[], bound),
        (r#"{"exp":N+99,"nbf":1e300}"#, &[], early.clone()),
        (r#"{"exp":N.9}"#, &[("JWT_LEEWAY", "0")], no_user.clone()),
        ("{}", &[], Err(rejected("the token has no `exp`"))),
        // A repeated claim: two readers could disagree on which counts.
        (r#"{"exp":0,"exp":N+99}"#, &[], Err(invalid())),
        (r#"{"exp":N+99,"sub":"a","sub":"b"}"#, &[], Err(invalid())),
        (r#"{"exp":N+99,"aud":"x","aud":"us"}"#, rules, Err(invalid())),
        // Issuer and audience.
        (r#"{"exp":N+9,"iss":"https://issuer.example","aud":"us"}"#, rules, theirs.clone()),
        (r#"{"exp":N+9,"iss":"https://issuer.example","aud":["x","them"]}"#, rules, theirs.clone()),
        (r#"{"exp":N+9,"iss":"https://issuer.example"}"#, rules, theirs.clone()),
        (r#"{"exp":N+9,"iss":"https://issuer.example/","aud":"us"}"#, rules, issuer.clone()),
        (r#"{"exp":N+9,"aud":"us"}"#, rules, issuer.clone()),
        (r#"{"exp":N+9,"iss":null,"aud":"us"}"#, rules, issuer.clone()),
        (r#"{"exp":N+9,"iss":["https://issuer.example"]}"#, rules, issuer.clone()),
        (r#"{"exp":N+9,"iss":"https://issuer.example","aud":"us,them"}"#, rules, audience.clone()),
        (r#"{"exp":N+9,"iss":"https://issuer.example","aud":[]}"#, rules, audience.clone()),
        (r#"{"exp":N+9,"iss":"https://issuer.example","aud":["US"]}"#, rules, audience.clone()),
        (r#"{"exp":N+9,"iss":"https://issuer.example","aud":{"us":1}}"#, rules, audience.clone()),
        (r#"{"exp":N+9,"aud":"us"}"#, &[], audience.clone()),
        (r#"{"exp":N+9,"aud":""}"#, &[("JWT_AUDIENCE", " , ")], audience),
        (r#"{"exp":N+9,"iss":"anybody"}"#, &[], anybodys.clone()),
        (r#"{"exp":N+9,"iss":"anybody"}"#, &[("JWT_ISSUER", "")], anybodys.clone()),
        // Subject and scopes.
        (
            r#"{"exp":N+9,"sub":"alice","scope":"a b:c  d"}"#,
            &[],
            user(Some("alice"), &["a", "b:c", "d"]),
        ),
        (r#"{"exp":N+9,"scp":["a","b"]}"#, &[], user(None, &["a", "b"])),
        (r#"{"exp":N+9,"scp":"a b"}"#, &[], user(None, &["a", "b"])),
        (r#"{"exp":N+9,"scope":"a","scp":["b"]}"#, &[], user(None, &["a", "b"])),
        (r#"{"exp":N+9,"scope":""}"#, &[], no_user.clone()),
        (r#"{"exp":N+9,"scope":"*"}"#, &[], user(None, &["*"])),
        (r#"{"exp":N+9,"scope":7}"#, &[], words.clone()),
        (r#"{"exp":N+9,"scp":["a",7]}"#, &[], words.clone()),
        (r#"{"exp":N+9,"scope":{"a":true}}"#, &[], words),
        (r#"{"exp":N+9,"sub":7}"#, &[], no_text.clone()),
        (r#"{"exp":N+9,"sub":null}"#, &[], no_text.clone()),
        (r#"{"exp":N+9,"iss":7}"#, &[], no_text),
        (r#"{"exp":N+9,"sub":""}"#, &[], Err(rejected("the token's `sub` must not be empty"))),
        (r#"{"exp":N+9,"admin":true,"role":["root"]}"#, &[], no_user),
        // Not an object.
        ("[]", &[], Err(invalid())),
        ("null", &[], Err(invalid())),
        ("", &[], Err(invalid())),
        (r#"{"exp":N+99"#, &[], Err(invalid())),
        (r#"{"exp":N+99} "x""#, &[], Err(invalid())),
    ] {
        let text = (0..100).rev().fold(claims.to_owned(), |text, seconds| {
            let (later, earlier) = (format!("N+{seconds}"), format!("N-{seconds}"));
            text.replace(&later, &(NOW + seconds).to_string())
                .replace(&earlier, &(NOW - seconds).to_string())
        });
        let text = text.replace('N', &NOW.to_string());
        assert_eq!(sent(&signed(SECRET, HEADER, &text), more), expected, "{claims} {more:?}");
    }
}

/// A claim names the tenant, whose limits hold. One that the server does not know could have stricter ones.
#[test]
fn tenants_of_tokens() {
    let tenants = r#"{"acme": {"tenant_settings": {"tool_allowlist": []}}, "7": {}, "bad": 1}"#;
    let known: Set<'_> = &[("TENANTS", tenants)];
    let other: Set<'_> = &[("TENANTS", tenants), ("JWT_TENANT_CLAIM", "org")];
    let of = |tenant: Option<&str>| {
        let mut user = user(Some("ada"), &[]);
        if let Ok(Principal::User { tenant: own, .. }) = &mut user {
            *own = tenant.map(str::to_owned);
        }
        user
    };
    let unknown = || Err(rejected("the token names a tenant that the server does not know"));
    for (claim, more, expected) in [
        (r#""tenant":"acme""#, known, of(Some("acme"))),
        (r#""tenant":"acme""#, &[], of(None)),
        (r#""org":"acme""#, known, of(None)),
        (r#""org":"acme""#, other, of(Some("acme"))),
        (r#""tenant":"evil""#, other, of(None)),
        (r#""tenant":"evil""#, known, unknown()),
        (r#""tenant":"bad""#, known, unknown()),
        (r#""tenant":7"#, known, unknown()),
        (r#""tenant":null"#, known, unknown()),
        (r#""tenant":["acme"]"#, known, unknown()),
        (r#""x":1"#, known, of(None)),
    ] {
        let claims = format!(r#"{{"sub":"ada","exp":{},{claim}}}"#, NOW + 60);
        assert_eq!(sent(&signed(SECRET, HEADER, &claims), more), expected, "{claim} {more:?}");
    }
}

#[test]
fn headers_and_signatures() {
    let claims = format!(r#"{{"exp":{}}}"#, NOW + 60);
    let with = |header: &str| signed(SECRET, header, &claims);
    let good = with(HEADER);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (head, payload) = message.split_once('.').unwrap();
    let unsigned = |header: &str| format!("{}.{payload}.", base64(header.as_bytes()));
    let mut padded = signature.to_owned();
    padded.push('=');
    // The last of 43 digits carries four bits; the other two must be zero.
    let last = signature.chars().next_back().unwrap();
    let next = char::from(last as u8 + 1);
    let loose = format!("{}{next}", &signature[..42]);
    for (what, token, lets_in) in [
        ("good", good.clone(), true),
        ("another type", with(r#"{"alg":"HS256","typ":"at+jwt"}"#), true),
        ("a key id, which the secret has not", with(r#"{"alg":"HS256","kid":"x"}"#), true),
        ("kid that is a path", with(r#"{"alg":"HS256","kid":"../../dev/null"}"#), true),
        ("kid that is no text", with(r#"{"alg":"HS256","kid":{"$ne":1}}"#), true),
        // Algorithms: what the header says must be what the key is for.
        ("alg none", unsigned(r#"{"alg":"none"}"#), false),
        ("alg None", unsigned(r#"{"alg":"None"}"#), false),
        ("alg none with a signature", with(r#"{"alg":"none"}"#), false),
        ("no alg", with(r#"{"typ":"JWT"}"#), false),
        ("alg null", with(r#"{"alg":null}"#), false),
        ("alg is a list", with(r#"{"alg":["HS256"]}"#), false),
        ("alg in small letters", with(r#"{"alg":"hs256"}"#), false),
        ("HS512 that is HS256", with(r#"{"alg":"HS512"}"#), false),
        ("RS256 that is HS256", with(r#"{"alg":"RS256"}"#), false),
        ("alg twice", with(r#"{"alg":"none","alg":"HS256"}"#), false),
        // Keys that the token brings along are not looked at.
        ("jku", with(r#"{"alg":"HS256","jku":"https://evil.example/keys"}"#), true),
        (
            "jwk, signed with it",
            signed("evil", r#"{"alg":"HS256","jwk":{"kty":"oct","k":"ZXZpbA"}}"#, &claims),
            false,
        ),
        // Extensions.
        ("crit", with(r#"{"alg":"HS256","crit":["exp"],"exp":1}"#), false),
        ("crit null", with(r#"{"alg":"HS256","crit":null}"#), false),
        ("crit empty", with(r#"{"alg":"HS256","crit":[]}"#), false),
        ("a header that is no object", with(r#"["HS256"]"#), false),
        // Signatures.
        ("another secret", signed("another secret, of thirty-two bytes", HEADER, &claims), false),
        ("an empty secret", signed("", HEADER, &claims), false),
        ("no signature", format!("{message}."), false),
        ("half a signature", format!("{message}.{}", &signature[..22]), false),
        ("a signature of another token", format!("{message}.{}", &super::good()[90..]), false),
        ("other claims", format!("{head}.{}.{signature}", base64(b"{\"exp\":9999999999}")), false),
        // The form.
        ("padding", format!("{message}.{padded}"), false),
        ("stray bits", format!("{message}.{loose}"), false),
        ("base64 of another alphabet", good.replace(['-', '_'], "+") + "/", false),
        ("a blank inside", good.replace('.', ". "), false),
        ("two parts", message.to_owned(), false),
        ("four parts", format!("{good}.x"), false),
        ("five parts, as an encrypted one", format!("{good}.x.y"), false),
        ("dots alone", "..".to_owned(), false),
        ("not UTF-8", format!("{}.{payload}.{signature}", base64(&[0xff, 0xfe])), false),
        ("quotes around", format!("\"{good}\""), false),
    ] {
        let expected = if lets_in { user(None, &[]) } else { Err(invalid()) };
        assert_eq!(sent(&token, &[]), expected, "{what}");
    }
    let long = |length| format!(r#"{{"exp":{},"x":"{}"}}"#, NOW + 60, "x".repeat(length));
    assert!(sent(&signed(SECRET, HEADER, &long(5_900)), &[]).is_ok(), "just short enough");
    assert_eq!(sent(&signed(SECRET, HEADER, &long(6_200)), &[]), Err(invalid()), "over 8 KiB");
    let deep = format!(r#"{{"exp":{},"x":{}{}}}"#, NOW + 60, "[".repeat(2000), "]".repeat(2000));
    assert_eq!(sent(&signed(SECRET, HEADER, &deep), &[]), Err(invalid()), "nested without end");
}
