//! Numbers, times and what a bump came from, in words.

use super::rows::Bump;

/// A time since the start, such as `4m 30.2s`.
pub(super) fn time(ms: i64) -> String {
    let (hours, minutes, rest) = (ms / 3_600_000, ms / 60_000 % 60, ms % 60_000);
    let seconds = match rest % 1000 {
        0 => format!("{}s", rest / 1000),
        part => format!("{}.{part:03}s", rest / 1000).replace("00s", "s").replace("0s", "s"),
    };
    match (hours, minutes) {
        (0, 0) if ms < 1000 => format!("{ms} ms"),
        (0, 0) => seconds,
        (0, _) => format!("{minutes}m {seconds}"),
        _ => format!("{hours}h {minutes}m {seconds}"),
    }
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let comma = |(index, digit): (usize, char)| match index > 0 && (digits.len() - index).is_multiple_of(3) {
        true => vec![',', digit],
        false => vec![digit],
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

/// A number of things.
pub(super) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Records as a cell has them, in words, and their bytes.
fn records(cell: &str) -> Option<String> {
    let mut sum = 0;
    let mut all = Vec::new();
    for of_type in cell.split(';') {
        let mut parts = of_type.split(' ');
        let (name, number, bytes) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        sum += bytes;
        let number: u64 = number;
        all.push(format!("{} {name} ({})", grouped(number), counted(bytes, "byte")));
    }
    Some(format!("{}; {} with their share of batches", all.join(", "), counted(sum, "byte")))
}

/// What happened, from what changed to what was written, a sentence for each step.
pub fn steps(bump: &Bump) -> Vec<String> {
    let mut steps = Vec::new();
    if let Some(delay_ms) = bump.delay_ms {
        let image = bump.image.map_or("an image".to_owned(), |image| format!("image {image}"));
        steps.push(format!("{}: {image} is published ({}).", time(bump.time_ms - delay_ms), bump.event));
        steps.extend(topics(bump));
    } else {
        let (at, group) = (time(bump.time_ms), &bump.group);
        steps.push(format!("{at}: in {} group {group} {}.", bump.kind, member(&bump.event)));
    }
    if bump.cause.split(';').any(|cause| cause == "refresh") {
        let later = match bump.delay_ms {
            Some(0) => " as soon as that".to_owned(),
            Some(delay_ms) => format!(" {} later", time(delay_ms)),
            None => String::new(),
        };
        let (at, group) = (time(bump.time_ms), &bump.group);
        steps.push(format!("{at}: {} group {group} notices{later}, by a refresh of its metadata.", bump.kind));
    }
    steps.push(format!(
        "Its epoch goes from {} to {} (cause: {}).",
        bump.old_epoch,
        bump.new_epoch,
        bump.cause.replace(';', ", ")
    ));
    if let Some(wrote) = records(&bump.wrote) {
        steps.push(format!("Written with that: {wrote}."));
    }
    match records(&bump.followed) {
        Some(followed) => steps.push(format!("Written by the group until its next bump: {followed}.")),
        None => steps.push("The group writes nothing more until its next bump.".to_owned()),
    }
    steps.push(verdict(bump).to_owned());
    steps
}

/// A sentence for each topic that was found changed.
fn topics(bump: &Bump) -> Vec<String> {
    let list = |cell: &str| cell.split(';').map(str::to_owned).collect::<Vec<_>>();
    let (fields, before, after) = (list(&bump.field), list(&bump.before), list(&bump.after));
    let at = |cells: &[String], index: usize| cells.get(index).cloned().unwrap_or_default();
    let topic = |(index, topic): (usize, &str)| {
        let (before, after) = (at(&before, index), at(&after, index));
        let values = match (before.is_empty(), after.is_empty()) {
            (true, true) => "what it was, it is again".to_owned(),
            (true, false) => format!("it did not exist and has {after} partitions now"),
            (false, true) => format!("it had {before} partitions and does not exist now"),
            (false, false) => format!("{before} → {after}"),
        };
        let field = match at(&fields, index).as_str() {
            "stale" => "stale (an earlier change that the group has looked past)".to_owned(),
            "stored-form" => "the form in which it is stored".to_owned(),
            field => field.to_owned(),
        };
        format!("Topic {topic} is not as the group has stored it. {field}: {values}.")
    };
    bump.topic.split(';').enumerate().map(topic).collect()
}

/// What a member did.
fn member(event: &str) -> String {
    match event {
        "join" => "a member joins".to_owned(),
        "leave" | "stop" => "a member leaves".to_owned(),
        "crash" => "a member that crashed is given up".to_owned(),
        "timeout" => "a member times out".to_owned(),
        "subscribe" => "a member subscribes to something else".to_owned(),
        event => format!("{event} happens"),
    }
}

/// Whether it was worth it.
fn verdict(bump: &Bump) -> &'static str {
    match (bump.needless.as_str(), bump.assignment_changed.as_str()) {
        ("true", _) => {
            "Needless: every subscribed topic is as the group had stored it, and nothing else explains the bump."
        }
        (_, "false") => "Idle: no member's assignment is another after it.",
        (_, "true") => "It changed the assignment of a member.",
        _ => "Not judged: no assignment was computed after it.",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn bump() -> Bump {
        Bump {
            seed: 1,
            strategy: "cached-hash".to_owned(),
            time_ms: 272_500,
            kind: "consumer".to_owned(),
            group: "app-1".to_owned(),
            old_epoch: 3,
            new_epoch: 4,
            cause: "refresh".to_owned(),
            topic: "orders-1".to_owned(),
            field: "racks".to_owned(),
            event: "register".to_owned(),
            delay_ms: Some(2_500),
            assignment_changed: "false".to_owned(),
            needless: "false".to_owned(),
            image: Some(9),
            before: "0: az1 az3".to_owned(),
            after: "0: az1 az4".to_owned(),
            wrote: "ConsumerGroupMetadata 1 33".to_owned(),
            followed: "ConsumerGroupCurrentMemberAssignment 2 1200".to_owned(),
        }
    }

    #[test]
    fn times() {
        assert_eq!([time(0), time(999), time(1_000), time(61_200)], ["0 ms", "999 ms", "1s", "1m 1.2s"]);
        assert_eq!([time(3_600_050), time(10_000)], ["1h 0m 0.05s", "10s"]);
    }

    #[test]
    fn every_step_from_the_image_to_the_bytes() {
        let expected = [
            "4m 30s: image 9 is published (register).",
            "Topic orders-1 is not as the group has stored it. racks: 0: az1 az3 → 0: az1 az4.",
            "4m 32.5s: consumer group app-1 notices 2.5s later, by a refresh of its metadata.",
            "Its epoch goes from 3 to 4 (cause: refresh).",
            "Written with that: 1 ConsumerGroupMetadata (33 bytes); 33 bytes with their share of batches.",
            "Written by the group until its next bump: 2 ConsumerGroupCurrentMemberAssignment (1,200 bytes); 1,200 bytes \
             with their share of batches.",
            "Idle: no member's assignment is another after it.",
        ];
        assert_eq!(steps(&bump()), expected);
    }
}
