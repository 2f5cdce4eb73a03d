//! A mistake is one error: nothing follows from what is itself wrong.

use super::check;

#[test]
fn a_missing_bracket_is_one_error() {
    let rest = "[strategies.mine]\ncovers = \"rack-list\"\nstores = \"hash\"\n[cluster]\nbrokers = 6\nbroker = 1\n\
                [[topics]]\nname = \"t-{n}\"\ncount = 4\nreplication = 5\n\
                [[groups]]\nname = \"g\"\nmembers = 2\nsubscribe = { from = \"t-{n}\", count = 3 }\nassignor = \"range\"\n\
                [[events]]\nat = \"30m\"\nkind = \"redeploy\"\ngroup = \"g\"\n";
    let text = format!("duration = \"1h\"\ncompare = [\"mine\", \"ideal\"]\n{rest}");
    let error = |place: &str, what: &str| format!("s.toml:{place}: not TOML: {what}");
    for (from, to, expected) in [
        ("\"ideal\"]", "\"ideal\"", error("2:27", "unclosed array, expected `]`")),
        ("[strategies.mine]", "[strategies.mine", error("3:17", "unclosed table, expected `]`")),
        ("[cluster]\n", "[cluster\n", error("6:9", "unclosed table, expected `]`")),
        ("[[topics]]", "[[topics]", error("9:10", "unclosed array table, expected `]`")),
        ("[[groups]]", "[[groups]", error("13:10", "unclosed array table, expected `]`")),
        ("count = 3 }", "count = 3", error("16:40", "unclosed inline table, expected `}`")),
    ] {
        let other = "s.toml:8:1: cluster.broker: is not a field here; did you mean \"brokers\"?";
        // The field stands in the table whose header is broken.
        let others: &[&str] = if to == "[cluster\n" { &[] } else { &[other] };
        check(&text.replacen(from, to, 1), &[&[&*expected], others].concat());
    }
}

/// Topics and groups that other tables name.
const POPULATIONS: &str = "[[topics]]\nname = \"t-{n}\"\ncount = COUNT\n[[groups]]\nname = \"g-{n}\"\ncount = COUNT\n\
                           members = 2\nsubscribe = { from = \"t-{n}\", count = 7 }\n";

#[test]
fn nothing_follows_from_a_wrong_duration() {
    let event = "[[events]]\nat = \"6h\"\nkind = \"elect-leaders\"\n";
    let churn = "[[churn]]\nkind = \"rolling-restart\"\nrate = \"1/h\"\nfrom = \"1h\"\n";
    let form = "expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)";
    check(
        &format!("duration = \"1440min\"\n{event}{churn}"),
        &[&format!("s.toml:1:12: duration: found \"1440min\"; {form}")],
    );
    check(event, &["s.toml:1:1: duration: is missing; expected how long the run is, a duration such as \"10m\""]);
    check(
        &format!("duration = \"2h\"\n{churn}until = \"soon\"\n"),
        &[&format!("s.toml:6:9: churn[0].until: found \"soon\"; {form}")],
    );
}

#[test]
fn nothing_follows_from_a_wrong_cluster() {
    let rest = "offsets.replication = 5\nbrokers_without_rack = [9]\n[[topics]]\nname = \"t\"\nreplication = 4\n\
                [[events]]\nat = \"1m\"\nkind = \"restart-broker\"\nbroker = 6\n";
    check(
        &format!("duration = \"1h\"\n[cluster]\nbrokers = \"6\"\n{rest}"),
        &["s.toml:3:11: cluster.brokers: found \"6\"; expected an integer from 1 to 10000"],
    );
    check(
        "duration = \"1h\"\ncluster = 6\n[[topics]]\nname = \"t\"\nreplication = 4\n",
        &["s.toml:2:11: cluster: found 6; expected a table"],
    );
}

#[test]
fn nothing_follows_from_a_wrong_population() {
    let events = "[[events]]\nat = \"1m\"\nkind = \"redeploy\"\ngroup = \"g-7\"\n";
    check(
        &format!("duration = \"1h\"\n{POPULATIONS}{events}").replace("COUNT", "\"9\""),
        &[
            "s.toml:4:9: topics[0].count: found \"9\"; expected an integer from 1 to 1000000",
            "s.toml:7:9: groups[0].count: found \"9\"; expected an integer from 1 to 1000000",
        ],
    );
    let churn = "[[churn]]\nkind = \"create-topics\"\nrate = \"1/h\"\ntopics = \"t\"\n";
    check(
        &format!("duration = \"1h\"\n[[topics]]\nname = \"t\"\ncount = 5\n{churn}"),
        &["s.toml:3:8: topics[0].name: names 5 things alike; expected {n} in it, such as \"t-{n}\""],
    );
    check(
        &format!("duration = \"1h\"\ntopics = 5\n{churn}"),
        &["s.toml:2:10: topics: found 5; expected tables, each with the header [[topics]]"],
    );
    check(
        "duration = \"1h\"\n[[groups]]\nname = \"g\"\nmembers = 1\nsubscribe = 5\n\
         [[churn]]\nkind = \"subscription-change\"\nrate = \"1/h\"\ngroups = \"g\"\n",
        &[
            "s.toml:5:13: groups[0].subscribe: found 5; expected a list of topics, or a table such as { from = \"orders-{n}\", count = 5 }",
        ],
    );
    let legal = "a topic's name: 1 to 249 letters, digits, \".\", \"_\" or \"-\", not \".\" or \"..\"";
    let churn = "[[churn]]\nkind = \"subscription-change\"\nrate = \"1/h\"\ngroups = \"g-{n}\"\n";
    check(
        &format!("duration = \"1h\"\n{POPULATIONS}{churn}").replace("COUNT", "8").replacen("t-{n}", "t-{n", 1),
        &[&format!("s.toml:3:8: topics[0].name: found \"t-{{n\"; expected {legal}")],
    );
    // What is wrong elsewhere excuses nothing.
    check(
        &format!("duration = \"1h\"\nseed = -1\n{POPULATIONS}{events}").replace("COUNT", "6"),
        &[
            "s.toml:2:8: seed: found -1; expected an integer of 0 or more",
            "s.toml:10:39: groups[0].subscribe.count: found 7; expected an integer from 1 to 6",
            "s.toml:14:9: events[0].group: there is no group \"g-7\"; expected one that [[groups]] makes",
        ],
    );
}

#[test]
fn nothing_follows_from_a_wrong_strategy() {
    check(
        "duration = \"1h\"\ncompare = [\"mine\", \"mein\"]\n[strategies.mine]\ncovers = \"racks\"\nstores = \"hash\"\n",
        &[
            "s.toml:2:20: compare[1]: there is no strategy \"mein\"; expected one of full-map, count-map, stored-hash, recompute, cached-hash, ideal",
            "s.toml:4:10: strategies.mine.covers: found \"racks\"; expected one of \"partitions\", \"rack-set\", \"rack-list\"",
        ],
    );
}
