#include "initiator/flush_ledger.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace rdmablk::initiator {
namespace {

TEST(FlushLedgerTest, NothingWrittenNothingUnflushed) {
  FlushLedger ledger;
  EXPECT_FALSE(ledger.has_unflushed());
  ledger.end_flush(ledger.begin_flush());
  EXPECT_FALSE(ledger.has_unflushed());
}

TEST(FlushLedgerTest, AFlushCoversWhatWasAcknowledgedBefore) {
  FlushLedger ledger;
  ledger.note_write();
  EXPECT_TRUE(ledger.has_unflushed());
  const auto flush = ledger.begin_flush();
  EXPECT_TRUE(ledger.has_unflushed());
  ledger.end_flush(flush);
  EXPECT_FALSE(ledger.has_unflushed());
}

TEST(FlushLedgerTest, AFlushUnderWayDoesNotCoverAWrite) {
  FlushLedger ledger;
  const auto flush = ledger.begin_flush();
  ledger.note_write();
  ledger.end_flush(flush);
  EXPECT_TRUE(ledger.has_unflushed());
  ledger.end_flush(ledger.begin_flush());
  EXPECT_FALSE(ledger.has_unflushed());
}

TEST(FlushLedgerTest, FlushesMayEndInAnyOrder) {
  FlushLedger ledger;
  const auto first = ledger.begin_flush();
  ledger.note_write();
  const auto second = ledger.begin_flush();
  ledger.end_flush(second);
  EXPECT_FALSE(ledger.has_unflushed());
  ledger.end_flush(first);
  EXPECT_FALSE(ledger.has_unflushed());
}

TEST(FlushLedgerTest, ALaterFlushThatFailedDoesNotCount) {
  FlushLedger ledger;
  ledger.note_write();
  const auto first = ledger.begin_flush();
  ledger.begin_flush();  // and never ends
  ledger.note_write();
  ledger.end_flush(first);
  EXPECT_TRUE(ledger.has_unflushed());
}

/// What a thread notes is never forgotten, whatever others flush meanwhile.
TEST(FlushLedgerTest, ThreadsNoteAndFlush) {
  FlushLedger ledger;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20000; ++k) {
        ledger.note_write();
        if (k % 16 == 0) ledger.end_flush(ledger.begin_flush());
      }
      ledger.begin_flush();
      ledger.note_write();
    });
  }
  threads.clear();
  EXPECT_TRUE(ledger.has_unflushed());
  ledger.end_flush(ledger.begin_flush());
  EXPECT_FALSE(ledger.has_unflushed());
}

}  // namespace
}  // namespace rdmablk::initiator
