#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace rdmablk::faults {

/// What a word of 8 bytes holds. No two writes to one word write the same; see `make_tag`.
using Tag = std::uint64_t;
/// A moment, in nanoseconds of one clock that all who write the history share.
using Time = std::int64_t;
inline constexpr Time kNever = INT64_MAX;

/// A tag says who wrote it, and that it was its writer's n-th write. Tag 0 is nobody's.
constexpr Tag make_tag(unsigned writer, std::uint64_t sequence) {
  return (std::uint64_t{writer} + 1) << 48U | sequence;
}
/// "writer 3's 17th", for messages.
std::string describe_tag(Tag tag);

/// How often a write may take effect before it has ended.
enum class Effects : std::uint8_t {
  once,      ///< One moment between its start and its end: linearizability as it is defined.
  repeated,  ///< Any number of moments, one at least: an initiator that replays writes in flight.
};

/// Why a history cannot be explained.
enum class Breach : std::uint8_t {
  invented,       ///< Something was read that nobody had written there.
  premature,      ///< A value was read before its write began.
  stale,          ///< A value was read that had been overwritten for good.
  contradiction,  ///< No order of the values fits to when they were written and read.
  trespass,       ///< A write was acknowledged to who had no right to write any more.
};

struct Violation {
  Breach breach = Breach::invented;
  std::size_t word = 0;
  std::string text;  ///< What is wrong, and operations on the word, one a line.
};

/// Decides whether what was read from words of memory can be explained by what was written to them.
/// READ and WRITE are atomic for a word only, so each word is a register of its own.
///
/// A write that failed may have taken effect or not, at any moment from its start until it is
/// settled. A value that was read has been there, whatever became of its write.
///
/// How: all operations on one value (its write, and the reads that returned it) lie next to each
/// other in any order that explains the history, since no two writes write the same. So value A
/// comes before value B if some operation on A ended before some operation on B began; and there is
/// an order if and only if no two values come before each other (Gibbons and Korach, "Testing
/// Shared Memories", 1997). It is enough to keep the earliest end and the latest start for each
/// value, and to forget values that nothing can be said of any more.
///
/// Operations are told in any order, but each before `advance` passes its start. Not thread-safe.
class HistoryChecker {
 public:
  /// Each word holds tag 0 at first.
  HistoryChecker(std::size_t words, Effects effects);

  /// A write is about to be submitted: told before anyone can have read it is told.
  void begin_write(std::size_t word, Tag tag, Time start);
  /// It was acknowledged.
  void end_write(std::size_t word, Tag tag, Time end);
  /// It came back with an error, or its writer has died. It may still take effect.
  void fail_write(std::size_t word, Tag tag);
  /// From this moment on it cannot take effect any more: it was fenced. It has failed, or is yet to
  /// end.
  void settle_write(std::size_t word, Tag tag, Time fence);
  void read(std::size_t word, Tag tag, Time start, Time end);
  /// A write was acknowledged though it had begun after another writer took over at `fence`.
  void trespass(std::size_t word, Tag tag, Time fence);

  /// Everything that is told from now on began at `horizon` or later.
  void advance(Time horizon);
  /// Nothing is told any more.
  void finish() { advance(kNever); }

  /// The first violation. After it nothing is looked at.
  const std::optional<Violation>& violation() const noexcept { return violation_; }
  /// Words that were read, and explained so far.
  std::uint64_t reads() const noexcept { return reads_; }
  /// Values that are remembered, for all words.
  std::size_t remembered() const noexcept;

 private:
  /// The operations on one value; with Effects::repeated also a moment at which it was there.
  struct Value {
    Tag tag = 0;
    Time begin = 0;     ///< Of its write.
    Time end = kNever;  ///< Of its write: the last moment at which it may take effect.
    Time first_end = kNever;
    Time last_start = 0;
    bool counts = false;  ///< It has been there.
    bool moment = false;  ///< Not the write's last effect.
  };
  struct Orphan {  ///< A read that has returned something that no write is known of.
    Tag tag;
    Time start;
    Time end;
  };
  struct Event {
    const char* what;
    Tag tag;
    Time start;
    Time end;
  };
  struct Word {
    std::vector<Value> values;
    std::vector<Orphan> orphans;
    std::deque<Tag> forgotten;  ///< Values that were overwritten for good: the last ones.
    std::deque<Event> events;   ///< For messages: the last ones.
  };

  static Value* find(Word& word, Tag tag);
  void note(Word& word, const char* what, Tag tag, Time start, Time end);
  void add_read(Word& word, Value& value, Time start, Time end);
  void note_end(Word& word, Value& value, Time end);
  void compare(Word& word, const Value& changed);
  void forget(Word& word, Time horizon);
  void report(Breach breach, const Word& word, std::string why);

  Effects effects_;
  std::vector<Word> words_;
  std::uint64_t reads_ = 0;
  std::optional<Violation> violation_;
};

}  // namespace rdmablk::faults
