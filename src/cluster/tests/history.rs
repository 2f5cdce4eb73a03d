use super::*;
use crate::cluster::Changes;
use crate::cluster::history::Image;

/// Brokers 0 to 3 in racks a, b, c, c, and topic `foo` with id (1, 2).
fn start(replicas: &[&[i32]]) -> Vec<Change> {
    vec![broker(0, "a"), broker(1, "b"), broker(2, "c"), broker(3, "c"), create("foo", 2, replicas)]
}

fn fence(id: i32, fenced: bool) -> Change {
    Change::FenceBroker { id, fenced }
}

fn names(history: &History, topics: &[TopicIndex]) -> Vec<String> {
    topics.iter().map(|topic| history.topic_name(*topic).to_string()).collect()
}

/// Publishes images and looks at the last: changed, deleted, `hash_changed`.
fn check_delta(images: &[&[Change]], changed: &[&str], deleted: &[&str], hash_changed: &[&str]) -> Image {
    let history = history(images);
    let image = history.image(history.last_image());
    assert_eq!(names(&history, &image.changed), changed, "changed");
    assert_eq!(names(&history, &image.deleted), deleted, "deleted");
    assert_eq!(names(&history, &image.hash_changed), hash_changed, "hash_changed");
    image.clone()
}

#[test]
fn empty_history() {
    let history = HistoryBuilder::new().finish();
    assert_eq!(history.last_image(), 0);
    assert_eq!(history.image(0).time_ms, 0);
    assert_eq!(history.topics().count(), 0);
    assert_eq!(history.leader_at(0, 0), -1);
    assert!(history.index_of("foo").is_none());
}

#[test]
fn every_record_of_a_topic_names_it() {
    let start = start(&[&[0, 1], &[1, 0]]);
    let image = check_delta(&[&start], &["foo"], &[], &["foo"]);
    assert!(image.creates_topics);
    assert_eq!(image.registered, [0, 1, 2, 3]);
    check_delta(&[&start, &[touch("foo", 1)]], &["foo"], &[], &[]);
    check_delta(&[&start, &[isr("foo", 0, &[1], Some(1))]], &["foo"], &[], &[]);
    check_delta(&[&start, &[reassign("foo", 0, &[1, 0])]], &["foo"], &[], &[]);
    check_delta(&[&start, &[reassign("foo", 0, &[0, 2])]], &["foo"], &[], &["foo"]);
    check_delta(&[&start, &[grow("foo", &[&[2, 0]])]], &["foo"], &[], &["foo"]);
    let image = check_delta(&[&start, &[Change::FenceBroker { id: 0, fenced: true }]], &[], &[], &[]);
    assert!(!image.creates_topics && image.registered.is_empty());
}

#[test]
fn changed_topics_stand_in_order_of_their_first_record() {
    let start = [create("a", 1, &[&[0]]), create("b", 2, &[&[0]]), create("c", 3, &[&[0]])];
    let changes = [touch("c", 0), touch("a", 0), grow("c", &[&[1]]), touch("b", 0), delete("a")];
    check_delta(&[&start, &changes], &["c", "b"], &["a"], &["a", "c"]);
}

#[test]
fn deleted_topics_are_those_of_the_image_before() {
    let start = start(&[&[0, 1]]);
    check_delta(&[&start, &[delete("foo")]], &[], &["foo"], &["foo"]);
    check_delta(&[&start, &[touch("foo", 0), delete("foo")]], &[], &["foo"], &["foo"]);
    let again = check_delta(&[&start, &[delete("foo"), create("foo", 3, &[&[0, 1]])]], &["foo"], &["foo"], &["foo"]);
    assert!(again.creates_topics);
    let changes = [delete("foo"), create("foo", 3, &[&[0]]), delete("foo")];
    check_delta(&[&start, &changes], &[], &["foo"], &["foo"]);
    check_delta(&[&start, &[delete("foo")], &[create("foo", 3, &[&[0]])]], &["foo"], &[], &["foo"]);
    // The same id again, with the same content: looked at, but nothing is different.
    check_delta(&[&start, &[delete("foo"), create("foo", 2, &[&[0, 1]])]], &["foo"], &["foo"], &[]);
}

#[test]
fn created_and_deleted_in_one_image_is_nothing() {
    let image = check_delta(&[&[create("foo", 2, &[&[0]]), delete("foo")]], &[], &[], &[]);
    assert!(!image.creates_topics, "4.3.1");
    assert!(image.creates_topics_up_to_4_1, "4.0.0 and 4.1.1 keep it in createdTopics");
}

#[test]
fn another_rack_changes_the_hash_of_topics_that_are_not_named() {
    let start: Vec<Change> =
        [start(&[&[0, 1]]), vec![create("bar", 9, &[&[1, 2]]), create("baz", 10, &[&[3, 0]])]].concat();
    let image = check_delta(&[&start, &[broker(1, "z")]], &[], &[], &["foo", "bar"]);
    assert_eq!(image.registered, [1]);
    let image = check_delta(&[&start, &[broker(1, "b")]], &[], &[], &[]);
    assert_eq!(image.registered, [1], "registered anew with the same rack");
    check_delta(&[&start, &[unregister(1)]], &[], &[], &["foo", "bar"]);
    check_delta(&[&start, &[unregister(1), broker(1, "b")]], &[], &[], &[]);
    check_delta(&[&start, &[Change::RegisterBroker { id: 0, rack: None }]], &[], &[], &["foo", "baz"]);
    check_delta(&[&start, &[reassign("foo", 0, &[0, 2])], &[broker(1, "z")]], &[], &[], &["bar"]);
}

#[test]
fn versions_are_made_for_other_content_only() {
    let history = history(&[
        &start(&[&[0, 1]]),
        &[isr("foo", 0, &[0], None)],
        &[broker(0, "a")],
        &[broker(0, "z")],
        &[create("bar", 9, &[&[2]])],
        &[delete("foo")],
        &[broker(0, "y")],
        &[create("foo", 3, &[&[7, 0]])],
    ]);
    let foo = index(&history, "foo");
    let brought: Vec<_> = history.versions(foo).iter().map(|(image, version)| (*image, version.is_some())).collect();
    assert_eq!(brought, [(1, true), (4, true), (6, false), (8, true)]);
    assert!(history.version_at(foo, 0).is_none());
    assert_eq!(version(&history, "foo", 3).image, 1);
    assert_eq!(version(&history, "foo", 5).time_ms, 4000);
    assert!(history.version_at(foo, 7).is_none());
    let last = version(&history, "foo", 8);
    assert_eq!((last.id, last.has_unregistered_replica), (Uuid::from_halves(1, 3), true));
    assert_eq!(history.rack(last.partition_racks(0)[0]).as_str(), "y");
    assert_eq!(history.index_of_id(Uuid::from_halves(1, 2)), Some(foo), "the id that it had");
    assert_eq!(history.index_of_id(Uuid::from_halves(1, 3)), Some(foo));
}

#[test]
fn replicas_without_rack_or_broker_are_left_out() {
    let start = [
        broker(0, "a"),
        Change::RegisterBroker { id: 1, rack: None },
        broker(2, ""),
        create("foo", 2, &[&[1, 0, 2], &[1], &[0, 9]]),
    ];
    let history = history(&[&start, &[broker(9, "q")]]);
    let racks = |image| -> Vec<Vec<String>> {
        let version = version(&history, "foo", image);
        let of = |partition| version.partition_racks(partition).iter().map(|rack| history.rack(*rack).to_string());
        (0..version.num_partitions() as usize).map(|partition| of(partition).collect()).collect()
    };
    assert_eq!(racks(1), [vec!["a", ""], vec![], vec!["a"]]);
    assert!(version(&history, "foo", 1).has_unregistered_replica);
    assert_eq!(racks(2), [vec!["a", ""], vec![], vec!["a", "q"]]);
    assert!(!version(&history, "foo", 2).has_unregistered_replica);
}

/// The classes (`rack-list`, `rack-set`, `partitions`) of `foo` in each image.
fn check_classes(images: &[&[Change]], expected: &[[u32; 3]]) {
    let history = history(images);
    let classes = |image| {
        let version = version(&history, "foo", image);
        [version.rack_list_class, version.rack_set_class, version.partitions_class]
    };
    assert_eq!((1..=history.last_image()).map(classes).collect::<Vec<_>>(), expected);
}

#[test]
fn classes() {
    // Kafka 3.9.1 sees the set, 4.1 and later the list (golden trace 14): [a,c,c], [a,a,c], [c,a], [a,a,c].
    let start = start(&[&[0, 2, 3]]);
    let aac = [broker(4, "a"), reassign("foo", 0, &[0, 4, 2])];
    let racks: [&[Change]; 4] = [&start, &aac, &[reassign("foo", 0, &[2, 0])], &[reassign("foo", 0, &[3, 4, 0])]];
    check_classes(&racks, &[[0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 0]]);
    // A → B → A, then more partitions, then another id with the first content.
    check_classes(
        &[
            &start,
            &[broker(0, "z")],
            &[broker(0, "a")],
            &[grow("foo", &[&[1]])],
            &[delete("foo"), create("foo", 3, &[&[0, 2, 3]])],
        ],
        &[[0, 0, 0], [1, 1, 0], [0, 0, 0], [2, 2, 1], [3, 3, 2]],
    );
}

#[test]
fn an_isr_change_makes_no_version_but_is_known() {
    let builder = builder(&[&start(&[&[0, 1], &[1, 2]]), &[isr("foo", 1, &[2], Some(2))]]);
    let foo = builder.topic("foo").expect("it exists");
    assert_eq!((&*foo.partitions[0].isr, foo.partitions[0].leader), (&[0, 1][..], 0));
    assert_eq!((&*foo.partitions[1].isr, foo.partitions[1].leader), (&[2][..], 2));
    assert_eq!(&*foo.partitions[1].replicas, [1, 2]);
    let history = builder.finish();
    assert_eq!(history.versions(index(&history, "foo")).len(), 1);
}

/// Broker 1 stops and returns in the same rack: every partition changes twice, no content does.
#[test]
fn a_restart_makes_no_version() {
    let mut builder = HistoryBuilder::keeping_changes();
    let start = start(&[&[0, 1], &[1, 2], &[2, 3]]);
    builder.publish(0, "start", &[start, vec![create("bar", 3, &[&[1, 0]])]].concat()).expect("valid changes");
    let stop = builder.fence(1);
    builder.publish_effects(1, "stop", &stop).expect("valid changes");
    for back in [builder.register(1, Some("b")), vec![Changes::One(fence(1, false))]] {
        builder.publish_effects(2, "back", &back).expect("valid changes");
    }
    let expanded = Changes::Partitions(builder.expand_isr(1, 1));
    builder.publish_effects(3, "expand", &[expanded]).expect("valid changes");
    let history = builder.finish();
    let changed = |image| names(&history, &history.image(image).changed);
    assert_eq!((2..=5).map(changed).collect::<Vec<_>>(), [vec!["foo", "bar"], vec![], vec![], vec!["foo", "bar"]]);
    assert_eq!(names(&history, &history.image(3).rehosted), ["foo", "bar"]);
    let versions = ["foo", "bar"].map(|name| history.versions(index(&history, name)).len());
    assert_eq!(versions, [1, 1], "each topic was hashed once");
    // What is kept has names, in the order in which it was applied.
    let [bar, foo_0, foo_1] = [isr("bar", 0, &[0], Some(0)), isr("foo", 0, &[0], None), isr("foo", 1, &[2], Some(2))];
    assert_eq!(history.changes(2), Some(&[foo_0, foo_1, bar, fence(1, true)][..]));
}

#[test]
fn topics_come_and_go_in_a_delta() {
    let start = [create("a", 1, &[&[0]]), create("b", 2, &[&[0]])];
    // A topic that was taken out stands at the end when it comes again, and nothing of it is left for the next image.
    let changes = [touch("a", 0), touch("b", 0), delete("a"), create("a", 3, &[&[0]])];
    check_delta(&[&start, &changes], &["b", "a"], &["a"], &["a"]);
    check_delta(&[&start, &changes, &[touch("a", 0)]], &["a"], &[], &[]);
}

#[test]
fn what_builders_can_ask() {
    let mut builder = builder(&[&[create("b", 1, &[&[5, 6], &[6, 5]]), create("a", 2, &[&[6]]), broker(6, "r")]]);
    assert_eq!(builder.topic_names().collect::<Vec<_>>(), ["b", "a"]);
    let on_6: Vec<_> = builder
        .partitions_on(6)
        .map(|(topic, number, state)| (builder.topic_name(topic), number, state.leader))
        .collect();
    assert_eq!(on_6, [("b", 0, 5), ("b", 1, 6), ("a", 0, 6)]);
    let changes = [delete("b"), create("b", 3, &[&[5]]), broker(5, "q"), Change::FenceBroker { id: 5, fenced: true }];
    builder.publish(1000, "again", &changes).expect("valid");
    assert_eq!(builder.topic_names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(builder.partitions_on(6).count(), 1);
    let brokers: Vec<_> = builder.brokers().map(|(id, broker)| (id, broker.rack.as_deref(), broker.fenced)).collect();
    assert_eq!(brokers, [(5, Some("q"), true), (6, Some("r"), false)]);
    assert!(builder.broker(7).is_none() && builder.topic("c").is_none());
    assert_eq!((builder.last_image(), builder.last_time_ms()), (2, 1000));
    let absent = builder.name("never");
    assert_eq!(builder.name("never"), absent);
    let history = builder.finish();
    assert!(history.version_at(absent, 2).is_none());
    assert_eq!(history.topics().count(), 3);
    assert_eq!(&*history.image(2).event, "again");
}

#[test]
fn leaders_of_the_offsets_topic() {
    let offsets = "__consumer_offsets";
    let history = history(&[
        &[create("foo", 1, &[&[1]])],
        &[create(offsets, 2, &[&[1, 2], &[2, 1]])],
        &[isr(offsets, 0, &[2], Some(2)), isr("foo", 0, &[], Some(-1))],
        &[isr(offsets, 0, &[2, 1], None)],
        &[change(offsets, 0, None, None, Some(1)), change(offsets, 0, None, None, Some(2))],
        &[delete(offsets)],
        &[create(offsets, 3, &[&[2], &[2], &[1]])],
    ]);
    let expected: [&[(ImageNumber, i32)]; 3] =
        [&[(2, 1), (3, 2), (6, -1), (7, 2)], &[(2, 2), (6, -1), (7, 2)], &[(7, 1)]];
    assert_eq!(history.leaders(), expected);
    let at = |partition, images: [ImageNumber; 4]| images.map(|image| history.leader_at(partition, image));
    assert_eq!(at(0, [1, 2, 5, 6]), [-1, 1, 2, -1]);
    assert_eq!(at(2, [0, 6, 7, 9]), [-1, -1, 1, 1]);
    assert_eq!(at(3, [0, 2, 7, 9]), [-1; 4]);
}

/// Publishes a wrong image on top of brokers 0 to 3 and `foo` with partitions 0 and 1.
fn check_errors(changes: &[Change], expected: &[&str]) {
    let mut builder = builder(&[&start(&[&[0, 1], &[1, 2]])]);
    let errors = builder.publish(1000, "wrong", changes).expect_err("it is wrong");
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    assert_eq!(builder.last_image(), 1);
    assert_eq!(builder.topic_names().collect::<Vec<_>>(), ["foo"], "nothing is published");
    assert_eq!(builder.brokers().count(), 4);
}

#[test]
fn errors() {
    let id = Uuid::from_halves(1, 2);
    check_errors(
        &[touch("bar", 0), touch("foo", 2), touch("foo", -1), broker(9, "a")],
        &[
            r#"change 0: there is no topic "bar"; create it first"#,
            r#"change 1: topic "foo" has no partition 2; it has 0 to 1"#,
            r#"change 2: topic "foo" has no partition -1; it has 0 to 1"#,
        ],
    );
    check_errors(
        &[
            create("foo", 9, &[&[0]]),
            create("bar", 2, &[&[0]]),
            create("baz", 7, &[]),
            create("qux", 7, &[]),
            touch("baz", 0),
        ],
        &[
            r#"change 0: topic "foo" exists already; delete it first, or add partitions to it"#,
            &format!(r#"change 1: topic id {id} is or was that of topic "foo"; give topic "bar" another one"#),
            &format!(
                r#"change 3: topic id {} is or was that of topic "baz"; give topic "qux" another one"#,
                Uuid::from_halves(1, 7)
            ),
            r#"change 4: topic "baz" has no partition 0; it has none"#,
        ],
    );
    check_errors(
        &[broker(-1, "a"), unregister(8), unregister(0), Change::FenceBroker { id: 0, fenced: true }],
        &[
            "change 0: a broker cannot have the id -1; ids are 0 or more",
            "change 1: broker 8 is not registered; register it first",
            "change 3: broker 0 is not registered; register it first",
        ],
    );
    check_errors(
        &[
            create("bar", 9, &[&[0, 1], &[0, -3]]),
            grow("foo", &[&[4, 4]]),
            isr("foo", 2, &[1, 1], None),
            change("foo", 0, None, None, Some(-2)),
        ],
        &[
            "change 0: the replicas of new partition 1 name broker -3; ids are 0 or more",
            "change 1: the replicas of new partition 2 name broker 4 twice; name each once",
            r#"change 2: the ISR of partition 2 of topic "foo" name broker 1 twice; name each once"#,
            r#"change 3: -2 cannot lead partition 0 of topic "foo"; give a broker's id, or -1 for no leader"#,
        ],
    );
    check_errors(&[delete("foo"), touch("foo", 0)], &[r#"change 1: there is no topic "foo"; create it first"#]);
}

#[test]
fn time_does_not_go_back() {
    let mut builder = builder(&[&[create("foo", 2, &[&[0]])]]);
    let errors = builder.publish(999, "late", &[]).expect_err("it is wrong");
    assert_eq!(errors[0].to_string(), "change 0: time 999 ms is before the last image's; give 1000 or more");
    assert_eq!(builder.publish(1000, "same", &[]), Ok(2));
}

/// The hash of a topic of which only the racks are given, one list a partition; every replica is on a broker of its own.
fn hash_of(name: &str, id: Uuid, racks: &[&[Option<&str>]]) -> i64 {
    let mut next = 0..;
    let mut changes = Vec::new();
    let mut replicas = Vec::new();
    for of_partition in racks {
        replicas.push(next.by_ref().take(of_partition.len()).collect::<Vec<i32>>());
        let brokers = replicas.last().into_iter().flatten().zip(*of_partition);
        changes.extend(brokers.map(|(id, rack)| Change::RegisterBroker { id: *id, rack: rack.map(str::to_owned) }));
    }
    changes.push(Change::CreateTopic { name: name.to_owned(), id, replicas });
    version(&history(&[&changes]), name, 1).hash
}

/// `Utils.computeTopicHash` of Kafka 4.3.1 (4.1.1 and 4.4.0 give the same).
#[test]
fn hashes_are_kafkas() {
    let check = |name: &str, id: &str, racks: &[&[Option<&str>]], expected: i64| {
        assert_eq!(hash_of(name, id.parse().expect("an id"), racks), expected, "{name} {racks:?}");
    };
    let zero = "AAAAAAAAAAAAAAAAAAAAAA";
    let (a, b, c, empty) = (Some("a"), Some("b"), Some("c"), Some(""));
    check("foo", zero, &[&[]], -5208809189373261496);
    check("foo", zero, &[&[None]], -5208809189373261496);
    check("foo", zero, &[&[a]], 7633607925704798523);
    check("foo", zero, &[&[b, a]], -8448941209488762226);
    check("foo", zero, &[&[a, None, b]], -8448941209488762226);
    check("foo", zero, &[&[a, a, b]], -3297613805931048194);
    check("foo", zero, &[&[a, b, b]], 1443993527920732190);
    check("foo", zero, &[&[a], &[b]], 3518812337783403682);
    check("foo", zero, &[&[empty], &[empty, empty]], 3180396081490696873);
    check("foo", zero, &[&[Some("😀"), Some("～")]], -5878030932599281259);
    check("📦", zero, &[&[Some("é")]], -650856659828159652);
    check("foo", "_____________________w", &[&[a]], -5168872190266934338);
    check("größe", "-xjMAZMBy32uEJXC9_IJ5w", &[&[c], &[c, c]], -3662805272422670606);
    check("topic-49917719", "v7tKZOzuuqTG3vIV6NXwWQ", &[&[c], &[b, b], &[c, c, b], &[a]], -7208010722860161284);
}

/// What the three coverages feed to the hash.
#[test]
fn coverages() {
    let history = history(&[&start(&[&[2, 0, 3], &[1]])]);
    let version = version(&history, "foo", 1);
    let id = Uuid::from_halves(1, 2);
    let (a, b, c) = (Some("a"), Some("b"), Some("c"));
    assert_eq!(version.hash, hash_of("foo", id, &[&[a, c, c], &[b]]));
    assert_eq!(version.rack_set_hash, hash_of("foo", id, &[&[a, c], &[b]]));
    assert_eq!(version.partitions_hash, hash_of("foo", id, &[&[], &[]]));
    // 1 + 16 + (3 · 2 + 4) + 4 bytes, 4 a partition, 4 + 2 + 4 a rack.
    assert_eq!(version.hashed_bytes, 31 + 2 * 4 + 4 * 10);
    assert_eq!(version.rack_set_hashed_bytes, 31 + 2 * 4 + 3 * 10);
    assert_eq!(version.partitions_hashed_bytes, 31 + 2 * 4);
}
