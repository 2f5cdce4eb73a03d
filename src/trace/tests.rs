//! Reading and writing traces.

use super::{ConfigValue, EpochSpec, EventKind, GroupKind, Heartbeat, HeartbeatBody, Owned, Sent, Trace};
use std::path::PathBuf;

const HEADER: &str = r#"{"trace":1,"start_unix_ms":1700000000000,"config":{}}"#;
const FOO: &str = r#"{"t":0,"ev":"metadata","changes":[{"op":"broker","id":1,"rack":"a"},{"op":"topic","name":"foo","id":"LS0tZm9vLXRvcGljLTAwMA","replicas":[[1],[1]]}]}"#;

/// The errors of a trace, one a line.
fn errors(text: &str) -> String {
    match Trace::parse("x.jsonl", text) {
        Ok(trace) => panic!("was read: {trace:?}"),
        Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect(),
    }
}

/// One event after the header and the creation of topic `foo` gives these errors, all in line 3.
#[track_caller]
fn check(event: &str, expected: &[&str]) {
    let expected: String = expected.iter().map(|message| format!("x.jsonl:3: {message}\n")).collect();
    assert_eq!(errors(&format!("{HEADER}\n{FOO}\n{event}\n")), expected);
}

#[track_caller]
fn check_header(text: &str, expected: &str) {
    assert_eq!(errors(text), format!("x.jsonl:1: {expected}\n"));
}

/// The heartbeat of a line with these fields.
fn heartbeat(fields: &str) -> Heartbeat {
    let text = format!("{HEADER}\n{{\"t\":0,\"ev\":\"heartbeat\",\"group\":\"g\",\"member\":\"m\",{fields}}}");
    match Trace::parse("x.jsonl", &text).expect("reads").events.remove(0).kind {
        EventKind::Heartbeat(heartbeat) => *heartbeat,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check_heartbeat(fields: &str, expected: &[&str]) {
    check(&format!("{{\"t\":0,\"ev\":\"heartbeat\",\"group\":\"g\",\"member\":\"m\",{fields}}}"), expected);
}

#[track_caller]
fn check_change(change: &str, expected: &[&str]) {
    check(&format!("{{\"t\":0,\"ev\":\"metadata\",\"changes\":[{change}]}}"), expected);
}

fn golden() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the golden folder is in the repository")
        .map(|entry| entry.expect("can be listed").path().join("trace.jsonl"))
        .filter(|path| path.exists())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("reads"))).collect()
}

#[test]
fn golden_traces_are_read_and_written_byte_for_byte() {
    let golden = golden();
    assert!(golden.len() >= 21, "{} golden traces", golden.len());
    for (path, text) in golden {
        let trace = Trace::parse("x.jsonl", &text).unwrap_or_else(|errors| panic!("{path:?}: {errors:?}"));
        let written = trace.write();
        assert_eq!(Trace::parse("x.jsonl", &written), Ok(trace), "{path:?}");
        // These have fields in another order than the one that we write.
        if !["08-isr-elr-only", "16-regex"].iter().any(|name| path.to_string_lossy().contains(name)) {
            assert_eq!(written, text, "{path:?}");
        }
    }
}

#[test]
fn every_field_survives_writing() {
    let text = format!(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n",
        r#"{"trace":1,"start_unix_ms":-5,"config":{"a\"\u0001":1,"b":true,"c":"x,y","d":0.5,"e":-9223372036854775808}}"#,
        r#"{"t":0,"ev":"metadata","changes":[{"op":"broker","id":1},{"op":"broker","id":2,"rack":""},{"op":"topic","name":"😀","id":"_____________________w","replicas":[[],[2,1]]},{"op":"partitions","topic":"😀","replicas":[[1]]},{"op":"partition","topic":"😀","partition":2,"replicas":[2],"isr":[],"leader":-1,"elr":[2]},{"op":"delete_topic","topic":"😀"},{"op":"broker_gone","id":1}]}"#,
        r#"{"t":1,"ev":"heartbeat","kind":"consumer","group":"g","member":"","epoch":-2147483648,"topics":[],"regex":"","instance":"i","rack":"","assignor":"","rebalance_timeout_ms":-1,"owned":[{"topic_id":"_____________________w","partitions":[2147483647]}],"client_id":"","client_host":"h/::1","write":"fail"}"#,
        r#"{"t":1,"ev":"heartbeat","kind":"share","group":"g","member":"m","epoch":"last","topics":["a","a"],"rack":"r"}"#,
        r#"{"t":1,"ev":"heartbeat","kind":"streams","group":"g","member":"m","epoch":0,"instance":"i","rebalance_timeout_ms":5,"topology":{"epoch":3,"subtopologies":[{"id":"0"},{"id":"1","sources":["a"],"repartition_sinks":["b"],"state_changelogs":[{"name":"c"}],"repartition_sources":[{"name":"d","partitions":4}]}]},"process_id":"p","active":[{"subtopology":"0","partitions":[1]}],"standby":"last"}"#,
        r#"{"t":2,"ev":"tick"}"#,
        r#"{"t":2,"ev":"failover"}"#,
    );
    let trace = Trace::parse("x.jsonl", &text).expect("reads");
    let written = trace.write();
    assert_eq!(Trace::parse("x.jsonl", &written), Ok(trace));
    assert!(written.contains(r#""client_host":"h/0:0:0:0:0:0:0:1","write":"fail"}"#), "{written}");
    assert!(
        written.contains(r#""owned":[{"topic_id":"_____________________w","partitions":[2147483647]}],"topics":[],"#)
    );
}

#[test]
fn defaults_depend_on_a_written_epoch_of_0() {
    let joins = heartbeat(r#""kind":"consumer","epoch":0"#);
    assert_eq!(joins.rebalance_timeout_ms(), 300_000);
    assert_eq!((joins.client_id(), joins.client_host()), ("client", "/127.0.0.1"));
    let HeartbeatBody::Consumer(body) = &joins.body else { panic!() };
    assert_eq!(joins.sent(&body.owned), Sent::List(&[]));

    for epoch in ["\"last\"", "7", "-1"] {
        let later = heartbeat(&format!(r#""kind":"consumer","epoch":{epoch},"topics":null,"rack":null"#));
        assert_eq!(later.rebalance_timeout_ms(), -1);
        let HeartbeatBody::Consumer(body) = &later.body else { panic!() };
        assert_eq!(later.sent(&body.owned), Sent::Nothing);
        assert_eq!((&body.topics, &later.rack), (&None, &None));
    }
    let last = heartbeat(r#""kind":"streams","epoch":"last","active":"last","rebalance_timeout_ms":0"#);
    assert_eq!((last.epoch, last.kind(), last.rebalance_timeout_ms()), (EpochSpec::Last, GroupKind::Streams, 0));
    let HeartbeatBody::Streams(body) = &last.body else { panic!() };
    assert_eq!((last.sent(&body.active), &body.standby), (Sent::Last, &Owned::Absent));
    assert_eq!(heartbeat(r#""kind":"share","epoch":0"#).rebalance_timeout_ms(), -1);
}

#[test]
fn requirements_name_the_first_line() {
    let line = |fields: &str| {
        format!("{{\"t\":0,\"ev\":\"heartbeat\",\"group\":\"g\",\"member\":\"m\",\"epoch\":0,{fields}}}\n")
    };
    let text = [
        format!("{HEADER}\n"),
        line(r#""kind":"consumer","regex":null"#),
        line(r#""kind":"share""#),
        line(r#""kind":"consumer","regex":"""#),
        line(r#""kind":"share""#),
    ]
    .concat();
    let needs = Trace::parse("x.jsonl", &text).expect("reads").requires();
    assert_eq!((needs.regex, needs.share, needs.streams), (Some(4), Some(3), None));
}

#[test]
fn lines_end_as_in_java() {
    let trace = Trace::parse("x.jsonl", &format!("{HEADER}\r\n{FOO}\r{}", r#"{"t":3,"ev":"tick"}"#)).expect("reads");
    assert_eq!(trace.events.iter().map(|event| (event.line, event.t_ms)).collect::<Vec<_>>(), [(2, 0), (3, 3)]);
    assert_eq!(Trace::parse("x.jsonl", &format!("{HEADER}\r")).expect("reads").events, []);
    assert_eq!(super::read::split_lines("a\n\nb\r\r\nc"), ["a", "", "b", "", "c"]);
}

#[test]
fn headers() {
    let config = Trace::parse("x.jsonl", r#"{"trace":1,"start_unix_ms":0,"config":{"x":5,"y":"5"}}"#).expect("reads");
    assert_eq!((config.config("x"), config.config("z")), (Some(&ConfigValue::Int(5)), None));
    assert!(Trace::parse("x.jsonl", r#"{"trace":1,"start_unix_ms":0}"#).is_ok());
    check_header(
        "",
        r#"the file is empty: the first line must be the header {"trace":1,"start_unix_ms":…,"config":{…}}"#,
    );
    check_header("\n", "empty line: every line must be a JSON object");
    check_header("[1]", "must be a JSON object");
    check_header("{\"trace\":1", "not JSON: EOF while parsing an object at column 10");
    check_header(
        r#"{"t":0,"ev":"tick"}"#,
        r#"trace: is missing: the first line must be the header {"trace":1,"start_unix_ms":…,"config":{…}}"#,
    );
    check_header(r#"{"trace":2,"start_unix_ms":0}"#, "trace: unknown trace version 2: must be 1");
    check_header(r#"{"trace":1}"#, "start_unix_ms: is missing: must be an integer");
    check_header(
        r#"{"trace":1,"start_unix_ms":0,"cfg":{}}"#,
        "cfg: unknown field; known here: trace, start_unix_ms, config",
    );
    check_header(
        r#"{"trace":1,"start_unix_ms":9223372036854775808}"#,
        "start_unix_ms: must be an integer of 64 bits, not 9.223372036854776e18",
    );
    check_header(r#"{"trace":1,"start_unix_ms":0,"config":[]}"#, "config: must be an object, not a list");
    check_header(
        r#"{"trace":1,"start_unix_ms":0,"config":{"a":null}}"#,
        "config.a: must be a number, true, false or a string, not null",
    );
    check_header(
        r#"{"trace":1,"start_unix_ms":0,"config":{"a":1,"a":2}}"#,
        "config.a: is there twice: a field must be there once",
    );
}

#[test]
fn frames_of_events() {
    check("", &["empty line: every line must be a JSON object"]);
    check(r#"{"t":0,"ev":"tick"} x"#, &["not JSON: trailing characters at column 21"]);
    check(r#"{"t":0,"ev":"tick","t":1}"#, &["t: is there twice: a field must be there once"]);
    check(r#"{"t":0,"ev":"tick","x":1}"#, &["x: unknown field; known here: t, ev"]);
    check(r#"{"t":0,"ev":"failover","group":"g"}"#, &["group: unknown field; known here: t, ev"]);
    check(r#"{"t":0}"#, &["ev: is missing: must be a string"]);
    check(r#"{"t":0,"ev":7}"#, &["ev: must be a string, not 7"]);
    check(r#"{"t":0,"ev":"tock"}"#, &[r#"ev: unknown word "tock": must be metadata, heartbeat, tick or failover"#]);
    check(r#"{"t":1.0,"ev":"tick"}"#, &["t: must be an integer of 64 bits, not 1.0"]);
    check(r#"{"ev":"tick"}"#, &["t: is missing: must be an integer"]);
    check(r#"{"t":-1,"ev":"tick"}"#, &["t: time goes back from 0 to -1"]);
    check(
        r#"{"t":9223372036854775807,"ev":"tick"}"#,
        &["t: start_unix_ms and t together must be an integer of 64 bits"],
    );
    // Compared with the line before: one wrong time is one error.
    let times = [5, 3, 3, 4].map(|t| format!("{{\"t\":{t},\"ev\":\"tick\"}}\n")).concat();
    assert_eq!(errors(&format!("{HEADER}\n{times}")), "x.jsonl:3: t: time goes back from 5 to 3\n");
}

#[test]
fn changes() {
    check(r#"{"t":0,"ev":"metadata"}"#, &["changes: is missing: must be a list of changes"]);
    check(r#"{"t":0,"ev":"metadata","changes":{}}"#, &["changes: must be a list of changes, not an object"]);
    check_change("1", &["changes[0]: must be an object, not 1"]);
    check_change(
        r#"{"op":"topics"}"#,
        &[
            r#"changes[0].op: unknown word "topics": must be broker, broker_gone, topic, partitions, partition or delete_topic"#,
        ],
    );
    check_change(r#"{"id":1}"#, &["changes[0].op: is missing: must be a string"]);
    check_change(r#"{"op":"broker","id":1,"rack":7}"#, &["changes[0].rack: must be a string, not 7"]);
    check_change(
        r#"{"op":"broker","id":1,"racks":"a"}"#,
        &["changes[0].racks: unknown field; known here: op, id, rack"],
    );
    check_change(
        r#"{"op":"broker","id":2147483648}"#,
        &["changes[0].id: must be an integer of 32 bits, not 2147483648"],
    );
    check_change(r#"{"op":"broker_gone","id":2}"#, &["changes[0].id: no broker 2 is registered here"]);
    check_change(
        r#"{"op":"topic","name":"bar","id":"short","replicas":[[1]]}"#,
        &[
            r#"changes[0].id: "short" is not a topic id: must be 22 characters of URL-safe base64 (16 bytes, no padding)"#,
        ],
    );
    check_change(
        r#"{"op":"topic","name":"foo","id":"AAAAAAAAAAAAAAAAAAAAAg","replicas":[]}"#,
        &[r#"changes[0].name: topic "foo" is there already: delete it first, or choose another name"#],
    );
    check_change(
        r#"{"op":"topic","name":"bar","id":"LS0tZm9vLXRvcGljLTAwMA","replicas":[]}"#,
        &[r#"changes[0].id: is the id of topic "foo": every topic needs its own"#],
    );
    check_change(
        r#"{"op":"partitions","topic":"bar","replicas":[[1]]}"#,
        &[r#"changes[0].topic: there is no topic "bar" here"#],
    );
    check_change(r#"{"op":"delete_topic","topic":"bar"}"#, &[r#"changes[0].topic: there is no topic "bar" here"#]);
    check_change(
        r#"{"op":"partitions","topic":"foo","replicas":[1,["a",null]]}"#,
        &[
            "changes[0].replicas[0]: must be a list of integers, not 1",
            r#"changes[0].replicas[1][0]: must be an integer of 32 bits, not "a""#,
            "changes[0].replicas[1][1]: must be an integer of 32 bits, not null",
        ],
    );
    check_change(
        r#"{"op":"partitions","topic":"foo"}"#,
        &["changes[0].replicas: is missing: must be a list of one list of broker ids a partition"],
    );
    check_change(
        r#"{"op":"partition","topic":"foo","partition":2}"#,
        &[r#"changes[0].partition: topic "foo" has no partition 2: it has partitions 0 to 1"#],
    );
    check_change(
        r#"{"op":"partition","topic":"foo","partition":-1,"leader":null}"#,
        &["changes[0].leader: must be an integer of 32 bits, not null"],
    );
    // What is wrong with one change does not hide the next one; a change may rest on the one before it.
    check_change(
        r#"{"op":"delete_topic","topic":"bar"},{"op":"delete_topic","topic":"foo"},{"op":"partition","topic":"foo","partition":0}"#,
        &[r#"changes[0].topic: there is no topic "bar" here"#, r#"changes[2].topic: there is no topic "foo" here"#],
    );
    // After a change that cannot be read nothing is known of what there is.
    check_change(
        r#"{"op":"topic","name":"bar","id":5,"replicas":[]},{"op":"delete_topic","topic":"bar"}"#,
        &["changes[0].id: must be a string, not 5"],
    );
}

#[test]
fn heartbeats() {
    check(
        r#"{"t":0,"ev":"heartbeat","kind":"consumer"}"#,
        &[
            "group: is missing: must be a string",
            "member: is missing: must be a string",
            r#"epoch: is missing: must be an integer of 32 bits or "last""#,
        ],
    );
    check_heartbeat(r#""epoch":0"#, &["kind: is missing: must be a string"]);
    check_heartbeat(
        r#""epoch":0,"kind":"classic""#,
        &[r#"kind: unknown word "classic": must be consumer, share or streams"#],
    );
    for epoch in ["\"first\"", "2147483648", "1.5", "null"] {
        let expected = if epoch == "2147483648" { "2147483648" } else { epoch };
        check_heartbeat(
            &format!(r#""kind":"consumer","epoch":{epoch}"#),
            &[&format!(r#"epoch: must be an integer of 32 bits or "last", not {expected}"#)],
        );
    }
    check_heartbeat(
        r#""kind":"share","epoch":0,"instance":"i","topics":"foo""#,
        &[
            "instance: unknown field; known here: t, ev, kind, group, member, epoch, rack, client_id, client_host, write, topics",
            r#"topics: must be a list of strings, not "foo""#,
        ],
    );
    check_heartbeat(r#""kind":"consumer","epoch":0,"topics":["a",1]"#, &["topics[1]: must be a string, not 1"]);
    check_heartbeat(r#""kind":"consumer","epoch":0,"write":true"#, &[r#"write: must be "fail" or absent, not true"#]);
    check_heartbeat(r#""kind":"consumer","epoch":0,"client_id":null"#, &["client_id: must be a string, not null"]);
    check_heartbeat(
        r#""kind":"consumer","epoch":0,"client_host":"localhost""#,
        &[
            r#"client_host: must be NAME/ADDRESS, the name perhaps empty and the address an IPv4 or IPv6 address, like /127.0.0.1, not "localhost""#,
        ],
    );
    check_heartbeat(
        r#""kind":"consumer","epoch":0,"rebalance_timeout_ms":"5s""#,
        &[r#"rebalance_timeout_ms: must be an integer of 32 bits, not "5s""#],
    );
    check_heartbeat(r#""kind":"consumer","epoch":0,"owned":null"#, &[r#"owned: must be a list or "last", not null"#]);
    check_heartbeat(r#""kind":"consumer","epoch":0,"owned":"all""#, &[r#"owned: must be a list or "last", not "all""#]);
    check_heartbeat(
        r#""kind":"consumer","epoch":0,"owned":[1,{"topic_id":"x","partition":[0]}]"#,
        &[
            "owned[0]: must be an object, not 1",
            "owned[1].partition: unknown field; known here: topic_id, partitions",
            r#"owned[1].topic_id: "x" is not a topic id: must be 22 characters of URL-safe base64 (16 bytes, no padding)"#,
            "owned[1].partitions: is missing: must be a list of integers",
        ],
    );
    check_heartbeat(
        r#""kind":"streams","epoch":0,"topology":{"subtopologies":[{"sources":null,"state_changelogs":[{"partitions":true}]}]},"active":[{"subtopology":0,"partitions":[0]}]"#,
        &[
            "active[0].subtopology: must be a string, not 0",
            "topology.epoch: is missing: must be an integer",
            "topology.subtopologies[0].id: is missing: must be a string",
            "topology.subtopologies[0].sources: must be a list of strings, not null",
            "topology.subtopologies[0].state_changelogs[0].name: is missing: must be a string",
            "topology.subtopologies[0].state_changelogs[0].partitions: must be an integer of 32 bits, not true",
        ],
    );
    check_heartbeat(r#""kind":"streams","epoch":0,"topology":null"#, &["topology: must be an object, not null"]);
}

#[test]
fn twenty_errors_are_told_and_the_rest_counted() {
    let wrong = |n: usize| {
        let told = errors(&format!("{HEADER}\n{}", "{\"t\":0,\"ev\":\"x\"}\n".repeat(n)));
        (told.lines().count(), told.lines().last().unwrap_or_default().to_owned())
    };
    let last = |line| format!(r#"x.jsonl:{line}: ev: unknown word "x": must be metadata, heartbeat, tick or failover"#);
    assert_eq!(wrong(20), (20, last(21)));
    assert_eq!(wrong(21), (21, "x.jsonl:22: and 1 more error".to_owned()));
    assert_eq!(wrong(500), (21, "x.jsonl:22: and 480 more errors".to_owned()));
}
