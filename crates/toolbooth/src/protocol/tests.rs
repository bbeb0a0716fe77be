use super::*;

#[test]
fn no_mount_hides_another() {
    for (at, (prefix, _)) in PROTOCOLS.iter().enumerate() {
        for (earlier, _) in &PROTOCOLS[..at] {
            let below = prefix.strip_prefix(earlier);
            assert!(below.is_none_or(|rest| !rest.starts_with('/')), "{earlier} hides {prefix}");
        }
    }
    let (last, _) = PROTOCOLS.last().unwrap();
    assert_eq!(*last, "", "the root fits every path");
}

#[test]
fn names_of_protocols_paths_and_lists_are_unique() {
    let unique = |mut names: Vec<&str>| {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    };
    unique(PROTOCOLS.iter().map(|(_, protocol)| protocol.name).collect());
    unique(list_forms().map(|form| form.name).collect());
    for (_, protocol) in PROTOCOLS {
        unique(protocol.routes.iter().map(|route| route.path).collect());
    }
}
