//! `STATE_KEY` is replaced while the one before it is still accepted.

use super::*;

const HOUR: u64 = 3_600_000;
const OLD: &str = "0123456789abcdef0123456789abcdef";
const NEW: &str = "fedcba9876543210fedcba9876543210";
const PATH: &str = "/auth/grants/mail?user_id=ada";

/// Makes all instances that start from now on have these keys.
fn rotate(world: &mut World, current: &str, previous: &str) {
    for (name, value) in [("STATE_KEY", current), ("STATE_KEY_PREVIOUS", previous)] {
        world.host.variables.insert(name.to_owned(), value.to_owned());
    }
}

fn granted_for_an_hour() -> World {
    let world = World::new();
    upstream(|server| server.expires_in = Some(3_600));
    granted(&world);
    world
}

fn asked_for(world: &World, token: &str) -> Vec<String> {
    world.host.store.operations.take();
    assert_eq!(world.token(), token);
    world.host.store.operations.take()
}

#[test]
fn a_grant_is_found_and_moves_when_it_is_next_written() {
    let mut world = granted_for_an_hour();
    rotate(&mut world, NEW, OLD);
    let (found, missed) = ("get grant: found", "get grant: missed");
    let deleted = "get deleted: missed";
    assert_eq!(asked_for(&world, "access-1"), [missed, found, deleted, deleted]);
    world.wait(HOUR);
    assert_eq!(asked_for(&world, "access-2"), [missed, found, deleted, deleted, "put grant"]);
    world.wait(STALE_MS);
    assert_eq!(asked_for(&world, "access-2"), [found, deleted, deleted]);
    rotate(&mut world, NEW, "");
    assert_eq!(asked_for(&world, "access-2"), [found, deleted], "without the key before");
}

#[test]
fn without_the_key_before_users_are_asked_again() {
    let mut world = granted_for_an_hour();
    rotate(&mut world, NEW, "");
    let asked = world.challenge();
    complete(&world, &asked, &mut Browser::default());
    world.wait(STALE_MS);
    assert_eq!(world.status(&asked), "completed");
}

#[test]
fn a_deletion_counts_under_both_keys() {
    // The key of the instance that deletes, and of the one that refreshes an old copy after that.
    for (deleting, refreshing) in [(OLD, NEW), (NEW, OLD), (NEW, NEW)] {
        let mut world = granted_for_an_hour();
        let with = |world: &mut World, key| rotate(world, key, if key == NEW { OLD } else { "" });
        with(&mut world, refreshing);
        world.wait(HOUR - 5 * 60_000 - STALE_MS - 30_000);
        assert_eq!(world.token(), "access-1");
        with(&mut world, deleting);
        world.host.store.location.set(9);
        assert_eq!(world.ask(("DELETE", PATH), &[], "").status, 204);
        world.host.store.location.set(0);
        with(&mut world, refreshing);
        world.wait(40_000);
        assert_eq!(world.token(), "access-2", "the minute is not over");
        world.wait(STALE_MS);
        for (key, place) in [(OLD, 0), (NEW, 0), (OLD, 3), (NEW, 4)] {
            with(&mut world, key);
            world.host.store.location.set(place);
            let asked = world.challenge();
            assert_eq!(world.status(&asked), "pending", "{deleting} {refreshing} {key} {place}");
        }
    }
}

#[test]
fn a_user_who_is_under_way_gets_through() {
    let mut world = World::new();
    let asked = world.challenge();
    let mut browser = Browser::default();
    let back = agree(&browser.leave(&world, &asked));
    let denied = world.challenge_for("bob", "token");
    let mut other = Browser::default();
    let away = disagree(&other.leave(&world, &denied), "access_denied");
    assert_eq!(other.send(&world, ("GET", &away)).status, 403);
    rotate(&mut world, NEW, OLD);
    let page = browser.send(&world, ("GET", &back));
    assert_eq!(page.status, 200, "the verifier is that of the key before: {}", text(&page));
    world.wait(STALE_MS);
    assert_eq!(world.status(&asked), "completed");
    assert_eq!(world.status(&denied), "failed");
    assert_eq!(world.token(), "access-1");
}
