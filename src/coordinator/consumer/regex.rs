//! Broker-side regular expressions (4.0 on): when they are resolved again, and what comes of it
//! (`GroupMetadataManager.maybeUpdateRegularExpressions`, `handleRegularExpressionsResult`).

use super::group::ConsumerGroup;
use super::member::Member;
use super::metadata_value;
use crate::coordinator::behaviour::KafkaVersion;
use crate::coordinator::effects::Cause;
use crate::coordinator::modern::count;
use crate::coordinator::operation::{Background, Operation, Refusal};
use crate::coordinator::protocol::HeartbeatError;
use crate::coordinator::re2;
use crate::coordinator::refresh::Subscriptions;
use crate::coordinator::shard::Shard;
use crate::kafka::JString;
use crate::kafka::records::{RecordType, RegularExpression, Value};
use std::sync::Arc;

/// `REGEX_BATCH_REFRESH_MIN_INTERVAL_MS`: a group's expressions are resolved at most that often.
pub(in crate::coordinator) const MIN_REFRESH_INTERVAL_MS: i64 = 10_000;

/// Whether a heartbeat changed the member's regular expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegexChange {
    /// It did not.
    None,
    /// To one that must be resolved first.
    Updated,
    /// To one that is resolved, or to none.
    ToResolved,
}

/// All regular expressions of a group, to be resolved in the background.
#[derive(Debug)]
pub(in crate::coordinator) struct RegexTask {
    pub group: JString,
    pub regexes: Vec<JString>,
}

impl Shard<'_> {
    /// Looks at the member's regular expression; may hand the group's to the background.
    pub(super) fn change_regex(
        &self,
        operation: &mut Operation,
        group: &ConsumerGroup,
        member: &Member,
        updated: &Member,
    ) -> Result<RegexChange, Refusal> {
        let behaviour = &self.settings.behaviour;
        if !behaviour.regexes {
            return Ok(RegexChange::None);
        }
        let mut change = RegexChange::None;
        let mut is_new = false;
        if member.regex != updated.regex {
            change = RegexChange::Updated;
            if let Some(old) = member.regex_or_none()
                && group.regex_members(old) == 1
            {
                operation.add_member(RecordType::ConsumerGroupRegularExpression, &group.base.id, old, None);
            }
            match updated.regex_or_none() {
                Some(new) if group.regex_members(new) == 0 => {
                    if re2::compile(new, self.re2_release()).is_err() {
                        return Err(Refusal(HeartbeatError::InvalidRegularExpression));
                    }
                    is_new = true;
                }
                Some(new) if group.resolved.contains(new) => change = RegexChange::ToResolved,
                Some(_) => {}
                None if behaviour.empty_regex_bumps => change = RegexChange::ToResolved,
                None => {}
            }
        }
        self.schedule_refresh(operation, group, member, updated, is_new);
        Ok(change)
    }

    fn schedule_refresh(
        &self,
        operation: &mut Operation,
        group: &ConsumerGroup,
        member: &Member,
        updated: &Member,
        is_new: bool,
    ) {
        if !is_new && group.regexes.is_empty() || self.resolves_regexes_of(&group.base.id) {
            return;
        }
        let now_unix_ms = self.settings.start_unix_ms + operation.now_ms;
        let first = group.resolved.values().next();
        if let Some(resolved) = first
            && now_unix_ms <= resolved.timestamp_ms + MIN_REFRESH_INTERVAL_MS
        {
            return;
        }
        let mut regexes: Vec<(JString, i32)> = group.regexes.iter().map(|(regex, n)| (regex.clone(), *n)).collect();
        for (regex, by) in [(member.regex_or_none(), -1), (updated.regex_or_none(), 1)] {
            let Some(regex) = regex else { continue };
            match regexes.iter_mut().find(|(name, _)| name == regex) {
                Some((_, members)) => *members += by,
                None => regexes.push((regex.clone(), by)),
            }
        }
        regexes.retain(|(_, members)| *members > 0);
        let interval_ms = i64::from(self.settings.config.regex_refresh_interval_ms);
        let is_due = is_new
            || regexes.len() != group.resolved.len()
            || first.map_or(0, |resolved| resolved.version) < self.last_image_with_new_topics
            || self.settings.behaviour.regex_refresh_interval
                && first.is_none_or(|resolved| now_unix_ms > resolved.timestamp_ms + interval_ms);
        if is_due && !regexes.is_empty() {
            let regexes = regexes.into_iter().map(|(regex, _)| regex).collect();
            operation.background = Some(Background::Regexes(RegexTask { group: group.base.id.clone(), regexes }));
        }
    }

    /// Resolves the regular expressions of a group, and bumps it if they match other topics than before.
    pub(in crate::coordinator) fn resolve_regexes(
        &self,
        operation: &mut Operation,
        task: &RegexTask,
    ) -> Result<(), Refusal> {
        let Some(group) = self.group_of::<ConsumerGroup>(&task.group) else { return Ok(()) };
        let mut topics = group.subscribed_after(None, None);
        let mut matches_changed = false;
        for regex in &task.regexes {
            if group.regex_members(regex) == 0 {
                continue;
            }
            let matching = self.matching_topics(regex);
            let old = group.resolved.get(regex).map(|resolved| resolved.topics.sorted.as_slice()).unwrap_or_default();
            if old != matching {
                matches_changed = true;
                old.iter().for_each(|name| count(&mut topics, name, 0, -1));
                matching.iter().for_each(|name| count(&mut topics, name, 0, 1));
            }
            let value = Value::RegularExpression(Arc::new(RegularExpression {
                topics: matching,
                version: i64::from(self.image),
                timestamp_ms: self.unix_ms(operation.now_ms),
            }));
            operation.add_member(RecordType::ConsumerGroupRegularExpression, &group.base.id, regex, Some(value));
        }
        let before = |topic: &JString| group.modern.subscribed.contains(topic);
        let topics = Subscriptions::new(topics.keys(), &before);
        let reassigns = || self.reassigns(group, *group.modern.homogeneous.get());
        let look = self.look(operation, &group.base, &topics, reassigns)?;
        if matches_changed || look.differs {
            let causes: &[Cause] = if matches_changed { &[Cause::Regex] } else { &[] };
            let epoch = self.bump(operation, &group.base, &topics, look, causes, metadata_value);
            self.note_refresh(operation, &group.base, epoch);
        }
        Ok(())
    }

    /// Whether a task for the group's expressions waits.
    fn resolves_regexes_of(&self, group: &JString) -> bool {
        self.background.iter().any(|task| matches!(task, Background::Regexes(task) if task.group == *group))
    }

    fn re2_release(&self) -> re2::Release {
        if self.settings.behaviour.version < KafkaVersion::V4_1_1 { re2::Release::V1_7 } else { re2::Release::V1_8 }
    }

    /// The topics of the image whose whole name matches, in order of names.
    fn matching_topics(&self, regex: &str) -> Vec<JString> {
        let Ok(pattern) = re2::compile(regex, self.re2_release()) else { return Vec::new() };
        let existing = self.history.topics().filter(|&t| self.history.version_at(t, self.image).is_some());
        let mut topics: Vec<JString> =
            existing.map(|t| self.history.topic_name(t)).filter(|name| pattern.matches(name)).cloned().collect();
        topics.sort();
        topics
    }
}
