//! Requests that come at the same time: one of them fetches the keys.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use futures_util::future::join_all;

use super::*;

impl StubIssuer {
    /// What becomes of twenty requests with a token that come at the same time, so many milliseconds
    /// after the start.
    fn at_once(&self, after: u64, token: &str) -> Vec<Result<Authenticated, AuthError>> {
        self.host.now_ms.set(NOW_MS + after);
        self.host.upstream_waits.set(true);
        let token = format!("Bearer {token}");
        let headers = [("authorization", &*token)];
        let headers = Pairs(&headers);
        let callers =
            (0..20).map(|_| self.access.authenticate(Target::default(), &headers, &self.host));
        let callers = pollster::block_on(join_all(callers));
        self.host.upstream_waits.set(false);
        callers
    }
}

#[test]
fn of_many_at_once_one_fetches_the_keys() {
    const MINUTE: u64 = 60_000;
    let (old, new) = (by(&ec("old")), by(&ec("new")));
    let server = StubIssuer::new(&[]);
    let at_once = |what: &str, after, token: &str, expected: Result<(), AuthError>, times| {
        for principal in server.at_once(after, token) {
            assert_eq!(principal.map(drop), expected, "{what}");
        }
        assert_eq!(asked(), times, "{what}");
    };
    publish_keys(&[ec("old")]);
    at_once("a cold start", 0, &old, Ok(()), 1);
    at_once("a key that there is not", 10, &new, Err(invalid()), 1);
    at_once("the same after a minute", MINUTE + 10, &new, Err(invalid()), 2);
    publish_keys(&[ec("old"), ec("new")]);
    at_once("a new key", 3 * MINUTE, &new, Ok(()), 3);
    at_once("keys that are old", 14 * MINUTE, &old, Ok(()), 4);
    at_once("fresh ones", 15 * MINUTE, &old, Ok(()), 4);
    publish(503, "");
    at_once("an issuer that is down", 26 * MINUTE, &old, Ok(()), 5);
    let down = || Err(AuthError::KeysUnavailable);
    at_once("and stays down", 90 * MINUTE, &old, down(), 6);
    at_once("and is left in peace", 90 * MINUTE + 2_000, &old, down(), 6);
}

/// The runtime stops a request whose client disconnects: it is never polled again, nor dropped.
#[test]
fn when_the_request_that_fetches_is_stopped_another_one_fetches() {
    let server = StubIssuer::new(&[]);
    let token = format!("Bearer {}", by(&ec("k")));
    let headers = [("authorization", &*token)];
    let headers = Pairs(&headers);
    let request =
        || Box::pin(server.access.authenticate(Target::default(), &headers, &server.host));
    publish_keys(&[ec("k")]);
    server.host.now_ms.set(NOW_MS);
    server.host.upstream_waits.set(true);
    let mut stopped = request();
    let mut context = Context::from_waker(Waker::noop());
    assert!(stopped.as_mut().poll(&mut context).is_pending());
    server.host.upstream_waits.set(false);
    let mut waiting = request();
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert_eq!(asked(), 0, "the first one has sent its request, and has no answer yet");
    let all = pollster::block_on(join_all((0..20).map(|_| request()).chain([waiting])));
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(asked(), 1, "one of the others asked");
    let waited = server.host.now_ms.get() - NOW_MS;
    assert!((2_000..4_000).contains(&waited), "after {waited} ms");
}

#[test]
fn nobody_waits_for_ever() {
    let server = StubIssuer::new(&[]);
    let token = format!("Bearer {}", by(&ec("k")));
    let headers = [("authorization", &*token)];
    let headers = Pairs(&headers);
    let request =
        || Box::pin(server.access.authenticate(Target::default(), &headers, &server.host));
    publish_keys(&[ec("k")]);
    server.host.now_ms.set(NOW_MS);
    let mut context = Context::from_waker(Waker::noop());
    let mut fetch_and_stop = || {
        server.host.upstream_waits.set(true);
        let mut stopped = request();
        assert!(stopped.as_mut().poll(&mut context).is_pending());
        server.host.upstream_waits.set(false);
    };
    fetch_and_stop();
    // Whenever this one could fetch, another request comes first, and is stopped.
    let mut unlucky = request();
    let waited = loop {
        if server.host.now_ms.get() % 2_000 > 1_900 {
            server.host.now_ms.update(|now| now + 2_000 - now % 2_000);
            fetch_and_stop();
        }
        match unlucky.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => {}
            Poll::Ready(got) => {
                assert_eq!(got, Err(AuthError::KeysUnavailable));
                break server.host.now_ms.get() - NOW_MS;
            }
        }
    };
    assert!((4_000..8_000).contains(&waited), "after {waited} ms");
}

#[test]
fn a_late_answer_does_not_replace_newer_keys() {
    let server = StubIssuer::new(&[]);
    let (old, new) = (by(&ec("old")), by(&ec("new")));
    let header = format!("Bearer {old}");
    let headers = [("authorization", &*header)];
    let headers = Pairs(&headers);
    server.host.now_ms.set(NOW_MS);
    server.host.upstream_waits.set(true);
    let mut slow = Box::pin(server.access.authenticate(Target::default(), &headers, &server.host));
    assert!(slow.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    server.host.upstream_waits.set(false);
    publish_keys(&[ec("new")]);
    assert_eq!(server.sent(2_000, &new), Ok(()), "another request fetches");
    publish_keys(&[ec("old")]);
    assert_eq!(ready(slow), Err(invalid()), "its own answer is older");
    assert_eq!(asked(), 2);
    assert_eq!(server.sent(3_000, &by(&ec("new"))), Ok(()));
    assert_eq!(server.sent(3_000, &old), Err(invalid()));
}
