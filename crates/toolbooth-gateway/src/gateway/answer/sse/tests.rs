use proptest::prelude::*;

use crate::gateway::answer::sse::*;

/// The name, data and bytes of an event.
type Found = (String, Option<String>, Vec<u8>);

/// All events, fed in these pieces.
fn events(pieces: &[&[u8]]) -> Result<Vec<Found>, SseError> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for piece in pieces.iter().map(Some).chain([None]) {
        match piece {
            Some(piece) => parser.push(piece)?,
            None => parser.end(),
        }
        while let Some(event) = parser.next_event()? {
            let data = event.data.map(|data| data.into_owned());
            events.push((event.name.to_owned(), data, event.raw.to_vec()));
        }
    }
    Ok(events)
}

/// Case 14: what the standard allows.
#[test]
fn case_14_events_in_every_form() {
    for (text, expected) in [
        ("data: a\n\ndata:b\n\n", vec![("", Some("a")), ("", Some("b"))]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", vec![("", Some("a")), ("", Some("b"))]),
        ("data: a\r\rdata: b\r\r", vec![("", Some("a")), ("", Some("b"))]),
        ("event: ping\ndata: {}\n\n", vec![("ping", Some("{}"))]),
        ("data: a\ndata: b\ndata:\n\n", vec![("", Some("a\nb\n"))]),
        (": comment\n\ndata: a\n\n", vec![("", None), ("", Some("a"))]),
        ("id: 1\nretry: 5\nother: x\ndata:  a\n\n", vec![("", Some(" a"))]),
        ("\u{feff}data: a\n\n", vec![("", Some("a"))]),
        ("data\n\n", vec![("", Some(""))]),
        ("data: é\n\ndata: [DONE]", vec![("", Some("é")), ("", Some("[DONE]"))]),
        ("data: a\n", vec![("", Some("a"))]),
        ("", vec![]),
    ] {
        let found = events(&[text.as_bytes()]).unwrap();
        let seen: Vec<(&str, Option<&str>)> =
            found.iter().map(|(name, data, _)| (name.as_str(), data.as_deref())).collect();
        assert_eq!(seen, expected, "{text:?}");
        let bytes: Vec<u8> = found.into_iter().flat_map(|(_, _, raw)| raw).collect();
        assert_eq!(bytes, text.as_bytes(), "the bytes of the events are those of the stream");
    }
}

#[test]
fn limits() {
    let large = vec![b'x'; MAX_EVENT_BYTES + 2];
    assert_eq!(events(&[b"data: ", &large]), Err(SseError::TooLarge));
    assert_eq!(events(&[b"data: ", &large, b"\n\n"]), Err(SseError::TooLarge));
    assert_eq!(events(&[b"data: \xff\n\n"]), Err(SseError::NotUtf8));
    assert_eq!(events(&[b"data: \xc3"]), Err(SseError::NotUtf8));
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(
        text in "(data: ?|event: |: |[a-zé{}\\[\\]\"]|\r\n|\n|\r){0,40}",
        cuts in prop::collection::vec(0.0..1.0, 0..8),
    ) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> =
            cuts.into_iter().map(|cut: f64| (cut * bytes.len() as f64) as usize).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(events(&pieces), events(&[bytes]));
    }
}
