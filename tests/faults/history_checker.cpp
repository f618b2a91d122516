#include "tests/faults/history_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rdmablk::faults {
namespace {

constexpr std::size_t kEventsKept = 500;
constexpr std::size_t kEventsShown = 25;  // besides those of the values in question
constexpr std::size_t kForgottenKept = 1000;

template <typename Element>
void push_bounded(std::deque<Element>& into, Element element, std::size_t most) {
  into.push_back(std::move(element));
  if (into.size() > most) into.pop_front();
}

std::string moment(Time time) {
  return time == kNever ? "open" : fmt::format("{:.6f} s", static_cast<double>(time) * 1e-9);
}

}  // namespace

std::string describe_tag(Tag tag) {
  if (tag == 0) return "the initial value";
  return fmt::format("writer {}'s {}", static_cast<std::int64_t>(tag >> 48U) - 1,
                     tag & ((Tag{1} << 48U) - 1));
}

HistoryChecker::HistoryChecker(std::size_t words, Effects effects)
    : effects_(effects), words_(words) {
  for (Word& word : words_)
    word.values.push_back({0, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, true});
}

void HistoryChecker::begin_write(std::size_t index, Tag tag, Time start) {
  if (violation_) return;
  Word& word = words_[index];
  note(word, "write begins", tag, start, kNever);
  Value value;
  value.tag = tag;
  value.begin = value.last_start = start;
  word.values.push_back(value);
  const auto known = std::partition(word.orphans.begin(), word.orphans.end(),
                                    [&](const Orphan& each) { return each.tag != tag; });
  const std::vector<Orphan> reads(known, word.orphans.end());
  word.orphans.erase(known, word.orphans.end());
  for (const Orphan& read : reads) {
    if (!violation_) add_read(word, *find(word, tag), read.start, read.end);
  }
}

void HistoryChecker::end_write(std::size_t index, Tag tag, Time end) {
  if (violation_) return;
  Word& word = words_[index];
  note(word, "write acknowledged", tag, kNever, end);
  Value* value = find(word, tag);
  if (value == nullptr) return;
  value->counts = true;
  note_end(word, *value, std::min(end, value->end));
}

void HistoryChecker::fail_write(std::size_t index, Tag tag) {
  if (violation_) return;
  note(words_[index], "write failed", tag, kNever, kNever);
}

void HistoryChecker::settle_write(std::size_t index, Tag tag, Time fence) {
  if (violation_) return;
  Word& word = words_[index];
  note(word, "write fenced", tag, kNever, fence);
  Value* value = find(word, tag);
  if (value == nullptr) return;  // Overwritten for good before.
  note_end(word, *value, fence);
}

void HistoryChecker::read(std::size_t index, Tag tag, Time start, Time end) {
  if (violation_) return;
  ++reads_;
  Word& word = words_[index];
  note(word, "read", tag, start, end);
  if (Value* value = find(word, tag)) return add_read(word, *value, start, end);
  if (std::find(word.forgotten.begin(), word.forgotten.end(), tag) != word.forgotten.end()) {
    return report(Breach::stale, word,
                  fmt::format("{} was read, which had been overwritten", describe_tag(tag)));
  }
  word.orphans.push_back({tag, start, end});
}

void HistoryChecker::trespass(std::size_t index, Tag tag, Time fence) {
  if (violation_) return;
  report(
      Breach::trespass, words_[index],
      fmt::format("{} was acknowledged, though it began after another writer had taken over at {}",
                  describe_tag(tag), moment(fence)));
}

void HistoryChecker::advance(Time horizon) {
  for (Word& word : words_) {
    if (violation_) return;
    for (const Orphan& orphan : word.orphans) {
      if (orphan.end >= horizon && horizon != kNever) continue;
      return report(Breach::invented, word,
                    fmt::format("{} was read, which was not written there, or is long overwritten",
                                describe_tag(orphan.tag)));
    }
    forget(word, horizon);
  }
}

std::size_t HistoryChecker::remembered() const noexcept {
  std::size_t count = 0;
  for (const Word& word : words_) count += word.values.size();
  return count;
}

HistoryChecker::Value* HistoryChecker::find(Word& word, Tag tag) {
  const auto found = std::find_if(word.values.begin(), word.values.end(), [&](const Value& each) {
    return each.tag == tag && !each.moment;
  });
  return found == word.values.end() ? nullptr : &*found;
}

void HistoryChecker::note(Word& word, const char* what, Tag tag, Time start, Time end) {
  push_bounded(word.events, Event{what, tag, start, end}, kEventsKept);
}

void HistoryChecker::add_read(Word& word, Value& value, Time start, Time end) {
  if (end < value.begin) {
    return report(Breach::premature, word,
                  fmt::format("{} was read before its write began", describe_tag(value.tag)));
  }
  if (effects_ == Effects::repeated && start < value.end) {
    // It may have come and gone, and come again: this read has a moment of its own.
    Value there;
    there.tag = value.tag;
    there.first_end = std::min(value.end, end);
    there.last_start = std::max(value.begin, start);
    there.counts = there.moment = true;
    word.values.push_back(there);
    return compare(word, word.values.back());
  }
  value.counts = true;
  value.first_end = std::min(value.first_end, end);
  value.last_start = std::max(value.last_start, start);
  compare(word, value);
}

/// Until now it was not known which of the reads began after the write had ended: these saw its
/// last effect.
void HistoryChecker::note_end(Word& word, Value& value, Time end) {
  value.end = end;
  value.first_end = std::min(value.first_end, end);
  for (Value& moment : word.values) {
    if (!moment.moment || moment.tag != value.tag) continue;
    if (moment.last_start >= end) {
      value.counts = true;
      value.last_start = std::max(value.last_start, moment.last_start);
      moment.counts = false;
      moment.first_end = INT64_MIN;  // to be forgotten
    } else if (moment.first_end > end) {
      moment.first_end = end;
      compare(word, moment);
    }
  }
  if (!violation_) compare(word, value);
}

/// Looks for a value that must come before the changed one and after it.
void HistoryChecker::compare(Word& word, const Value& changed) {
  if (!changed.counts) return;
  for (const Value& other : word.values) {
    if (violation_) return;
    if (other.tag == changed.tag || !other.counts) continue;
    if (changed.first_end >= other.last_start || other.first_end >= changed.last_start) continue;
    return report(
        Breach::contradiction, word,
        fmt::format(
            "{0} was there by {2}, before an operation on {1} began at {3}; but {1} was there "
            "by {4}, before an operation on {0} began at {5}",
            describe_tag(changed.tag), describe_tag(other.tag), moment(changed.first_end),
            moment(other.last_start), moment(other.first_end), moment(changed.last_start)));
  }
}

/// A value is over when one that comes after it had been there before the horizon: whoever read it
/// from now on would read something that was overwritten.
void HistoryChecker::forget(Word& word, Time horizon) {
  const Value* latest = nullptr;
  Time latest_start = INT64_MIN;
  Time second_start = INT64_MIN;
  for (const Value& value : word.values) {
    if (!value.counts || value.first_end >= horizon) continue;
    if (latest == nullptr || value.last_start > latest_start) {
      second_start = latest == nullptr ? INT64_MIN : latest_start;
      latest_start = value.last_start;
      latest = &value;
    } else {
      second_start = std::max(second_start, value.last_start);
    }
  }
  std::vector<Value> kept;
  for (const Value& value : word.values) {
    if (value.first_end < (&value == latest ? second_start : latest_start)) {
      if (!value.moment) push_bounded(word.forgotten, value.tag, kForgottenKept);
    } else {
      kept.push_back(value);
    }
  }
  if (kept.size() != word.values.size()) word.values.swap(kept);
}

void HistoryChecker::report(Breach breach, const Word& word, std::string why) {
  const auto index = static_cast<std::size_t>(&word - words_.data());
  std::string text = fmt::format("word {}: {}; its operations as they were told:\n", index, why);
  for (std::size_t i = 0; i < word.events.size(); ++i) {
    const Event& event = word.events[i];
    const bool in_question = why.find(describe_tag(event.tag) + " ") != std::string::npos;
    if (!in_question && i + kEventsShown < word.events.size()) continue;
    text += fmt::format("  {:<20} {:<24}", event.what, describe_tag(event.tag));
    if (event.start != kNever) text += fmt::format(" from {}", moment(event.start));
    if (event.end != kNever) text += fmt::format(" until {}", moment(event.end));
    text += '\n';
  }
  violation_ = Violation{breach, index, std::move(text)};
}

}  // namespace rdmablk::faults
