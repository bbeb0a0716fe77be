//! What each token and hash of this crate is for. A name must not change: it is part of every token.

use toolbooth::seal::TokenPurpose;

/// A pending challenge, in `url` and `check_url`.
pub(crate) const CHALLENGE: TokenPurpose = TokenPurpose::new("challenge");
/// `state`, on its way to the provider and back.
pub(crate) const STATE: TokenPurpose = TokenPurpose::new("state");
/// The CSRF token of the browser that was sent to the provider.
pub(crate) const BROWSER: TokenPurpose = TokenPurpose::new("browser");
/// The PKCE verifier (RFC 7636).
pub(crate) const VERIFIER: TokenPurpose = TokenPurpose::new("verifier");
/// A flow whose provider has issued a code, in the ledger.
pub(crate) const PROVIDER_CODE: TokenPurpose = TokenPurpose::new("provider code");
/// The keys of a grant and of its deletion in the store.
pub(crate) const GRANT: TokenPurpose = TokenPurpose::new("grant");
/// The key of a failure in the store.
pub(crate) const FAILURE: TokenPurpose = TokenPurpose::new("failure");
/// A proof, as clients have it.
pub(crate) const PROOF: TokenPurpose = TokenPurpose::new("proof");
/// The key of a proof in the store.
pub(crate) const PROOF_KEY: TokenPurpose = TokenPurpose::new("proof key");
/// The browser that the user of an application opened a challenge in.
pub(crate) const USER_BROWSER: TokenPurpose = TokenPurpose::new("user browser");
/// What an application confirms about a browser's user, in a URL.
pub(crate) const USER_VERIFICATION: TokenPurpose = TokenPurpose::new("user verification");
/// That an application has confirmed a browser's user, in a cookie.
pub(crate) const VERIFIED_USER: TokenPurpose = TokenPurpose::new("verified user");
/// The registration of a client that signs people in, which is its `client_id`.
pub(crate) const REGISTRATION: TokenPurpose = TokenPurpose::new("registration");
/// The secret of such a client.
pub(crate) const CLIENT_SECRET: TokenPurpose = TokenPurpose::new("client secret");
/// What the consent page of a sign-in asks, in its form.
pub(crate) const CONSENT_REQUEST: TokenPurpose = TokenPurpose::in_body("consent request");
/// The browser that the consent page of a sign-in was shown in.
pub(crate) const CONSENT_BROWSER: TokenPurpose = TokenPurpose::new("consent browser");
/// A sign-in at a provider, in the browser's cookie.
pub(crate) const PENDING_SIGN_IN: TokenPurpose = TokenPurpose::new("pending sign-in");
/// A sign-in at a provider, in the store, and its key there.
pub(crate) const STORED_SIGN_IN: TokenPurpose = TokenPurpose::in_body("stored sign-in");
/// The session of a person who has signed in.
pub(crate) const SESSION: TokenPurpose = TokenPurpose::new("session");
pub(crate) const AUTHORIZATION_CODE: TokenPurpose = TokenPurpose::in_body("authorization code");
pub(crate) const REFRESH_TOKEN: TokenPurpose = TokenPurpose::in_body("refresh token");
/// The key that signs access tokens.
pub(crate) const ACCESS_TOKEN: TokenPurpose = TokenPurpose::new("access token");
/// Who holds an access token, in its claim.
pub(crate) const HOLDER: TokenPurpose = TokenPurpose::in_body("holder");
/// The marks of a client's grant in the store: spent, replaced, revoked.
pub(crate) const CLIENT_GRANT: TokenPurpose = TokenPurpose::new("client grant");
/// A client that a person has connected, in the store, and its key there.
pub(crate) const CONNECTION: TokenPurpose = TokenPurpose::in_body("connection");
/// The forms on the page of an account.
pub(crate) const ACCOUNT_FORM: TokenPurpose = TokenPurpose::new("account form");
