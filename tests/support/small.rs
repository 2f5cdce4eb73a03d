//! A scenario that runs in no time.

/// Three groups and topics on one small cluster, for so long; what happens to them is added.
pub fn small(duration: &str, happenings: &str) -> String {
    format!(
        r#"
name = "small"
duration = "{duration}"
timeline = "10s"
compare = ["full-map", "cached-hash"]
[cluster]
brokers = 3
racks = ["a", "b", "c"]
[cluster.offsets]
partitions = 3
[[topics]]
name = "orders-{{n}}"
count = 3
partitions = 4
[[groups]]
name = "app-{{n}}"
count = 3
members = 2
subscribe = {{ from = "orders-{{n}}", count = 2 }}
{happenings}"#
    )
}
