#include "common/protocol/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/samples.h"

namespace rdmablk::protocol {
namespace {

using samples::encode;
using testing::FieldsAre;
using testing::Optional;

/// Holds fields together with the values that they should have.
auto is_export(const std::string& name) {
  const ExportInfo wanted = samples::export_info(name);
  return FieldsAre(wanted.name, wanted.uuid, wanted.kind, wanted.read_only, wanted.is_direct,
                   wanted.needs_flush, wanted.can_discard, wanted.is_shared, wanted.block_size,
                   wanted.size);
}

auto is_chunk_table() {
  const auto [address, rkey, count, chunk_size, number] = samples::chunk_table();
  return FieldsAre(address, rkey, count, chunk_size, number);
}

TEST(Hello, GoesThereAndBack) {
  const auto bytes = encode(samples::hello());
  EXPECT_EQ(bytes.size(), 40U);
  EXPECT_THAT(Hello::decode(bytes), Optional(FieldsAre(samples::counting_from<InstanceId>(1),
                                                       Features::from_bits(0x1111), 1, 3, 0x2222)));
}

TEST(Hello, RefusesVersionsInTheWrongOrder) {
  Hello hello = samples::hello();
  hello.version_min = hello.version_max + 1;
  EXPECT_FALSE(Hello::decode(encode(hello)));
}

TEST(HelloReply, GoesThereAndBack) {
  const auto bytes = encode(samples::hello_reply());
  EXPECT_EQ(bytes.size(), 80U);
  EXPECT_THAT(HelloReply::decode(bytes),
              Optional(FieldsAre(samples::counting_from<InstanceId>(2), Features::from_bits(0x3333),
                                 1, Authentication::pre_shared_key, 8, 0x4444, 5000, kMaxMessage,
                                 samples::counting_from<Token>(3))));
}

TEST(HelloReply, RefusesNoCredits) {
  HelloReply reply = samples::hello_reply();
  reply.credits = 0;
  EXPECT_FALSE(HelloReply::decode(encode(reply)));
}

TEST(HelloReply, RefusesAnAuthenticationThatNobodyKnows) {
  HelloReply reply = samples::hello_reply();
  reply.authentication = static_cast<Authentication>(2);
  EXPECT_FALSE(HelloReply::decode(encode(reply)));
}

TEST(Authenticate, GoesThereAndBack) {
  const auto bytes = encode(samples::authenticate());
  EXPECT_EQ(bytes.size(), 128U);
  EXPECT_THAT(Authenticate::decode(bytes),
              Optional(FieldsAre("alice", samples::counting_from<Token>(4),
                                 samples::counting_from<Token>(5))));
}

TEST(Authenticate, RefusesWhatIsNoName) {
  for (const char* const name : {"", "-alice", "a b", "a\x1b[2J"}) {
    Authenticate request = samples::authenticate();
    request.client = name;
    EXPECT_FALSE(Authenticate::decode(encode(request))) << name;
  }
}

TEST(AuthenticateReply, GoesThereAndBack) {
  const auto bytes = encode(samples::authenticate_reply());
  EXPECT_EQ(bytes.size(), 32U);
  EXPECT_THAT(AuthenticateReply::decode(bytes),
              Optional(FieldsAre(samples::counting_from<Token>(6))));
}

TEST(List, GoesThereAndBack) {
  const auto bytes = encode(samples::list());
  EXPECT_EQ(bytes.size(), 64U);
  EXPECT_THAT(List::decode(bytes), Optional(FieldsAre("previous")));
  EXPECT_THAT(List::decode(encode(List{})), Optional(FieldsAre("")));
}

TEST(List, RefusesWhatIsNoName) {
  EXPECT_FALSE(List::decode(encode(List{"../etc"})));
}

TEST(ListReply, GoesThereAndBack) {
  const auto bytes = encode(samples::list_reply());
  EXPECT_EQ(bytes.size(), 8U + 2 * 96);
  const auto reply = ListReply::decode(bytes);
  ASSERT_TRUE(reply);
  EXPECT_THAT(reply->exports, testing::ElementsAre(is_export("a"), is_export("b")));
  EXPECT_TRUE(reply->more);
}

TEST(ListReply, FitsAMessageWhenFull) {
  ListReply reply;
  reply.exports.assign(ListReply::kMaxEntries, samples::export_info(std::string(63, 'n')));
  const auto bytes = encode(reply);
  EXPECT_LE(kHeaderSize + bytes.size(), kMaxMessage);
  EXPECT_TRUE(ListReply::decode(bytes));
  reply.exports.push_back(samples::export_info());
  EXPECT_FALSE(ListReply::decode(encode(reply)));
}

TEST(ListReply, MayBeEmptyButNotPromiseMoreThen) {
  EXPECT_TRUE(ListReply::decode(encode(ListReply{})));
  ListReply reply;
  reply.more = true;
  EXPECT_FALSE(ListReply::decode(encode(reply)));
}

TEST(ExportInfo, RefusesImpossibleExports) {
  const auto is_refused = [](auto&& change) {
    ExportInfo info = samples::export_info();
    change(info);
    return !ListReply::decode(encode(ListReply{{info}, false}));
  };
  EXPECT_FALSE(is_refused([](ExportInfo&) {}));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.name = ""; }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.name = "a\x1b[2J"; }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.name = std::string(64, 'a'); }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.kind = static_cast<ExportKind>(0); }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.kind = static_cast<ExportKind>(4); }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.size = 0; }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.size = 513; }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.size = std::uint64_t{1} << 63U; }));
  EXPECT_TRUE(is_refused([](ExportInfo& info) { info.block_size = 0; }));
}

TEST(Attach, GoesThereAndBack) {
  const auto bytes = encode(samples::attach());
  EXPECT_EQ(bytes.size(), 104U);
  EXPECT_THAT(Attach::decode(bytes),
              Optional(FieldsAre("disk", Access::read_write, 4, 64, 1U << 20U,
                                 samples::counting_from<Generation>(5), 0x5555, 0x6666)));
}

TEST(Attach, RefusesAnUnknownAccessAndWhatIsNoName) {
  Attach attach = samples::attach();
  attach.access = static_cast<Access>(2);
  EXPECT_FALSE(Attach::decode(encode(attach)));
  attach = samples::attach();
  attach.name = "";
  EXPECT_FALSE(Attach::decode(encode(attach)));
}

TEST(AttachReply, GoesThereAndBack) {
  const auto bytes = encode(samples::attach_reply());
  EXPECT_EQ(bytes.size(), 218U + std::string_view("disk.img").size());
  EXPECT_THAT(
      AttachReply::decode(bytes),
      Optional(FieldsAre(is_export("disk"), 0x9999, samples::counting_from<Token>(6),
                         samples::counting_from<Nonce>(7), Access::read_write, 4, 64, 1U << 20U, 11,
                         samples::counting_from<Generation>(8), 12, is_chunk_table(), "disk.img")));
}

TEST(AttachReply, RefusesToGrantNothing) {
  const auto is_refused = [](auto&& change) {
    AttachReply reply = samples::attach_reply();
    change(reply);
    return !AttachReply::decode(encode(reply));
  };
  EXPECT_FALSE(is_refused([](AttachReply&) {}));
  EXPECT_TRUE(is_refused([](AttachReply& reply) { reply.queues = 0; }));
  EXPECT_TRUE(is_refused([](AttachReply& reply) { reply.depth = 0; }));
  EXPECT_TRUE(is_refused([](AttachReply& reply) { reply.max_io = 0; }));
  EXPECT_TRUE(is_refused([](AttachReply& reply) { reply.access = static_cast<Access>(2); }));
}

TEST(Detach, GoesThereAndBack) {
  const auto bytes = encode(samples::detach());
  EXPECT_EQ(bytes.size(), 8U);
  EXPECT_THAT(Detach::decode(bytes), Optional(FieldsAre(0xaaaa)));
}

TEST(Table, GoesThereAndBack) {
  const auto bytes = encode(samples::table());
  EXPECT_EQ(bytes.size(), 24U);
  EXPECT_THAT(Table::decode(bytes), Optional(FieldsAre(0x1234, 13, 3)));
}

TEST(Table, DoesNotLookAtWhatIsReserved) {
  auto bytes = encode(samples::table());
  for (std::size_t i = 18; i < bytes.size(); ++i) bytes[i] = std::byte{0xff};
  EXPECT_THAT(Table::decode(bytes), Optional(FieldsAre(0x1234, 13, 3)));
}

TEST(TableReply, GoesThereAndBack) {
  const auto bytes = encode(samples::table_reply());
  EXPECT_EQ(bytes.size(), 32U);
  EXPECT_THAT(TableReply::decode(bytes), Optional(FieldsAre(is_chunk_table())));
}

TEST(EventNotice, GoesThereAndBack) {
  const auto bytes = encode(samples::event_notice());
  EXPECT_EQ(bytes.size(), 56U);
  EXPECT_THAT(EventNotice::decode(bytes),
              Optional(FieldsAre(EventKind::resized, 0xbbbb, 1U << 21U, is_chunk_table())));
}

TEST(EventNotice, RefusesASizeThatCannotBe) {
  for (const std::uint64_t size : {0UL, 1UL, 1000UL, UINT64_MAX - 511}) {
    EventNotice event = samples::event_notice();
    event.size = size;
    EXPECT_FALSE(EventNotice::decode(encode(event))) << size;
  }
  EventNotice of_all = samples::event_notice();
  of_all.attachment = 0;
  EXPECT_FALSE(EventNotice::decode(encode(of_all)));
}

TEST(EventNotice, OfAnEndHasNothingElse) {
  EventNotice event;
  event.kind = EventKind::shutting_down;
  EXPECT_TRUE(EventNotice::decode(encode(event)));
}

TEST(EventNotice, RefusesAnUnknownKind) {
  for (const unsigned kind : {0U, 3U, 0xffffU}) {
    EventNotice event = samples::event_notice();
    event.kind = static_cast<EventKind>(kind);
    EXPECT_FALSE(EventNotice::decode(encode(event))) << kind;
  }
}

TEST(ChunkEntry, GoesThereAndBack) {
  const auto bytes = encode(ChunkEntry{0x0102030405060708, 0x11121314});
  ASSERT_EQ(bytes.size(), ChunkEntry::kSize);
  WireReader reader(bytes);
  ChunkEntry entry;
  entry.decode(reader);
  EXPECT_EQ(entry.address, 0x0102030405060708U);
  EXPECT_EQ(entry.rkey, 0x11121314U);
  EXPECT_TRUE(reader.rest().empty());
}

TEST(Reason, GoesThereAndBack) {
  EXPECT_THAT(Reason::decode(encode(samples::reason())), Optional(FieldsAre("no such export")));
  EXPECT_THAT(Reason::decode({}), Optional(FieldsAre("")));
}

TEST(Reason, IsCutWhenTooLong) {
  const auto bytes = encode(Reason{std::string(Reason::kMaxText + 1, 'x')});
  EXPECT_EQ(bytes.size(), Reason::kMaxText);
  EXPECT_TRUE(Reason::decode(bytes));
  EXPECT_FALSE(Reason::decode(std::vector<std::byte>(Reason::kMaxText + 1)));
}

TEST(Reason, LosesItsControlCharacters) {
  EXPECT_THAT(Reason::decode(encode(Reason{"a\x1b[2J\nb\x7f\x80"})),
              Optional(FieldsAre("a?[2J?b??")));
}

}  // namespace
}  // namespace rdmablk::protocol
