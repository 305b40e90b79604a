//! Logs in which somebody else writes: inside of bundles, at their ends, and at the exact times of admissions.
//!
//! What is right is said by the elements themselves, as docs/design.md has it: a member of somebody else counts as one
//! unit before the first entry of a window and after the last one, and as nothing between.

use super::{sequences, Sides};
use crate::harness::{sized, spelled, Admission, Builder, Client, Clock};
use proptest::prelude::*;
use proptest::sample::Index;
use std::cell::RefCell;
use std::fmt::Write;

const WINDOWS: [(&str, i64); 3] = [("10ms", 10_000), ("1", 1_000_000), ("30", 30_000_000)];
const LONGEST_US: i64 = WINDOWS[2].1;

#[derive(Clone, Debug)]
enum Step {
    Advance(i64),
    /// So many calls, so far apart.
    Burst(usize, i64, u64),
    Check(usize, u64, u64),
    /// A member of somebody else at the time of an admission, or of the newest one, or beside it; before or after it in
    /// the order of members.
    Add(Option<Index>, i64, bool),
    /// Somebody takes the newest member of theirs away.
    Remove,
    Refund(Index),
    /// The clock steps back to the time of an admission, or beside it.
    Back(Index, i64),
}

fn step() -> impl Strategy<Value = Step> {
    let us = prop_oneof![0..3_i64, 0..20_000_i64, 0..2_000_000_i64, 0..40_000_000_i64];
    let every_us = prop_oneof![0..3_i64, 0..200_i64, 0..10_000_i64, Just(300_000_i64)];
    prop_oneof![
        3 => us.prop_map(Step::Advance),
        4 => (8..60_usize, every_us, 30..300_u64).prop_map(|(calls, every, limit)| Step::Burst(calls, every, limit)),
        4 => (0..WINDOWS.len(), 1..300_u64, 1..4_u64).prop_map(|(window, limit, cost)| Step::Check(window, limit, cost)),
        6 => (any::<Option<Index>>(), -1..=1_i64, any::<bool>()).prop_map(|(nth, off, first)| Step::Add(nth, off, first)),
        2 => Just(Step::Remove),
        4 => any::<Index>().prop_map(Step::Refund),
        2 => (any::<Index>(), -1..=1_i64).prop_map(|(nth, off)| Step::Back(nth, off)),
    ]
}

type Log = Vec<(String, i64)>;

fn ours(log: &Log) -> Vec<Admission> {
    log.iter()
        .filter_map(|(member, score_us)| spelled(member, *score_us))
        .flat_map(|(_, ours)| ours)
        .collect()
}

fn theirs(log: &Log) -> Log {
    log.iter().filter(|(member, score_us)| spelled(member, *score_us).is_none()).cloned().collect()
}

/// The units above a time.
fn units(log: &Log, since_us: i64) -> u64 {
    let live = log.iter().filter(|(_, score_us)| *score_us > since_us);
    let live: Vec<Option<(u64, u64)>> = live
        .map(|(member, score_us)| {
            let (total, ours) = spelled(member, *score_us)?;
            Some((total, ours.iter().filter(|one| one.time_us > since_us).map(|one| one.units).sum()))
        })
        .collect();
    let Some(first) = live.iter().position(Option::is_some) else { return live.len() as u64 };
    let last = live.iter().rposition(Option::is_some).unwrap();
    let ((oldest, units), (newest, _)) = (live[first].unwrap(), live[last].unwrap());
    (first + live.len() - 1 - last) as u64 + newest - oldest + units
}

struct Run<'a> {
    con: &'a mut Client,
    clock: &'a Clock,
    receipts: Vec<i64>,
    story: String,
}

impl Run<'_> {
    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Advance(us) => {
                self.clock.advance_us(us);
                // The server looks for expired keys too, before the clock may step back again.
                self.con.call::<usize>("EXISTS k0");
                Ok(())
            }
            Step::Burst(calls, every_us, limit) => {
                for _ in 0..calls {
                    self.clock.advance_us(every_us);
                    self.check(2, limit, 1)?;
                }
                Ok(())
            }
            Step::Check(window, limit, cost) => self.check(window, limit, cost),
            Step::Add(nth, off_us, first) => {
                let ours = ours(&self.con.log("k0"));
                // Never later than now: that would be a clock that steps.
                let newest = ours.len().saturating_sub(1);
                let nth = nth.filter(|_| newest > 0).map_or(newest, |nth| nth.index(newest));
                let at_us = ours.get(nth).map_or(i64::MAX, |one| one.time_us + off_us);
                let at_us = at_us.min(self.clock.now_us());
                let name = format!("{}{}", if first { '!' } else { 'x' }, self.story.len());
                writeln!(self.story, "ZADD {name} at {}", at_us - Clock::START_US).unwrap();
                self.con.call::<()>(&format!("ZADD k0 {at_us} {name}"));
                // Absolute: 6.2 replicates a relative one as it is, and the clock may have moved until it arrives.
                let expiry_ms = self.clock.now_us() / 1_000 + 33_000;
                self.con.call::<()>(&format!("PEXPIREAT k0 {expiry_ms}"));
                Ok(())
            }
            Step::Remove => {
                let theirs = theirs(&self.con.log("k0"));
                if let Some((member, _)) = theirs.last() {
                    writeln!(self.story, "ZREM {member}").unwrap();
                    self.con.call::<()>(&format!("ZREM k0 {member}"));
                }
                Ok(())
            }
            Step::Refund(nth) => {
                if self.receipts.is_empty() {
                    return Ok(());
                }
                let receipt = *nth.get(&self.receipts);
                let before = self.con.log("k0");
                let given = self.con.refund(&format!("k0 {receipt}"));
                let after = self.con.log("k0");
                writeln!(self.story, "REFUND {receipt} -> {given}\n  {before:?}\n  {after:?}").unwrap();
                let (mut left, is_it) =
                    (ours(&before), |one: &Admission| one.time_us == receipt && !one.is_shared);
                let units = left.iter().find(|one| is_it(one)).map_or(0, |one| one.units);
                left.retain(|one| !is_it(one));
                prop_assert_eq!(given, units as i64, "{}", self.story);
                // What is left may have expired with that.
                if !after.is_empty() {
                    prop_assert_eq!(ours(&after), left, "{}", self.story);
                    prop_assert_eq!(theirs(&after), theirs(&before), "{}", self.story);
                }
                Ok(())
            }
            Step::Back(nth, off_us) => {
                let before = self.con.log("k0");
                let ours_before = ours(&before);
                if ours_before.is_empty() {
                    return Ok(());
                }
                let now_us = nth.get(&ours_before).time_us + off_us;
                let last_us = before.last().unwrap().1;
                self.clock.freeze(now_us.min(self.clock.now_us()));
                if last_us <= now_us + 1_000_000 / 8 {
                    return Ok(());
                }
                prop_assert_eq!(self.con.check("k0 1 0"), 0);
                let after = self.con.log("k0");
                writeln!(self.story, "back to {now_us}\n  {before:?}\n  {after:?}").unwrap();
                let mut kept: Vec<Admission> = ours_before;
                kept.retain(|one| one.time_us <= now_us);
                let mut foreign = theirs(&before);
                foreign.retain(|(_, at_us)| *at_us <= now_us);
                let newest_us =
                    kept.last().map_or(0, |one| one.time_us).max(foreign.last().map_or(0, |one| one.1));
                let time_us = now_us.max(newest_us + 1);
                kept.push(Admission { time_us, units: units(&before, now_us), is_shared: true });
                prop_assert_eq!(ours(&after), kept, "{}", self.story);
                prop_assert_eq!(theirs(&after), foreign, "{}", self.story);
                Ok(())
            }
        }
    }

    fn check(&mut self, window: usize, limit: u64, cost: u64) -> Result<(), TestCaseError> {
        let (now_us, (length, length_us)) = (self.clock.now_us(), WINDOWS[window]);
        let before = self.con.log("k0");
        if before.last().is_some_and(|last| last.1 > now_us + length_us / 8) {
            return Ok(()); // a repair, which is looked at where the clock steps
        }
        // The longest window is asked each time, so that the key is known to be used with it.
        let line = format!("k0 {length} {limit} 30 1000000 COST {cost}");
        let answer = self.con.quota(&format!("{line} RECEIPT"));
        let after = self.con.log("k0");
        writeln!(self.story, "# {} us\n{line} -> {answer:?}\n  {after:?}", now_us - Clock::START_US).unwrap();
        let has_room = units(&before, now_us - length_us) + cost <= limit;
        prop_assert_eq!(answer[0] > 0, has_room, "{:?}\n{}", before, self.story);
        let left = limit.saturating_sub(units(&after, now_us - length_us)) as i64;
        prop_assert_eq!(answer[2], left, "remaining\n{}", self.story);
        prop_assert_eq!(answer[7], 1_000_000 - units(&after, now_us - LONGEST_US) as i64, "{}", self.story);
        if !has_room {
            prop_assert_eq!(&after, &before, "{}", self.story);
            return Ok(());
        }
        for length_us in [length_us, LONGEST_US] {
            let [before, after] = [&before, &after].map(|log| units(log, now_us - length_us));
            prop_assert_eq!(after, before + cost, "a call takes what it costs\n{}", self.story);
        }
        self.receipts.push(answer[0]);
        let newest_us = before.last().map_or(0, |last| last.1);
        let mut all = ours(&before);
        all.push(Admission { time_us: now_us.max(newest_us + 1), units: cost, is_shared: false });
        let (ours, theirs, foreign) = (ours(&after), theirs(&after), theirs(&before));
        let gone = all.len().checked_sub(ours.len()).expect("no more than these");
        prop_assert_eq!(&ours[..], &all[gone..], "{:?}\n{}", before, self.story);
        let foreign_gone = foreign.len().checked_sub(theirs.len()).expect("no more than these");
        prop_assert_eq!(&theirs[..], &foreign[foreign_gone..], "{:?}\n{}", before, self.story);
        let times_us = all[..gone].iter().map(|one| one.time_us);
        let mut gone_us = times_us.chain(foreign[..foreign_gone].iter().map(|one| one.1));
        prop_assert!(gone_us.all(|at_us| at_us <= now_us - LONGEST_US), "{:?}\n{}", before, self.story);
        Ok(())
    }
}

fn differ(count: usize, change: impl Fn(Builder) -> Builder) {
    let sides = RefCell::new(Sides::start(change));
    let strategy = (prop::collection::vec(step(), 1..40), prop::bool::weighted(0.05));
    sequences(count, strategy, |(steps, with_aof)| {
        let sides = &mut *sides.borrow_mut();
        sides.begin();
        let (con, clock) = (&mut sides.primary, &sides.clock);
        let mut run = Run { con, clock, receipts: Vec::new(), story: String::new() };
        for step in &steps {
            run.play(step)?;
        }
        let story = run.story;
        sides.agree(with_aof, &story)
    });
}

#[test]
fn members_of_somebody_else_count_by_their_place() {
    differ(sized(100, 2_000), |builder| builder);
}

#[test]
fn members_of_somebody_else_count_by_their_place_also_in_tiny_bundles() {
    differ(sized(64, 4_000), Builder::tiny_bundles);
}
