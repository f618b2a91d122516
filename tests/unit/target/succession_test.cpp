#include "target/succession.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <thread>

#include "error_of.h"
#include "sample_record.h"
#include "target/line_socket.h"
#include "target/memory_backing.h"
#include "target/succession_listener.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;

/// A target with the memory of one export, "disk", that waits for its successor on a thread.
class PredecessorProcess final : private SuccessionHandler {
 public:
  PredecessorProcess() {
    SuccessionHandler& handler = *this;
    listener_.emplace(io_, handler);
    spdlog::default_logger_raw();  // made here: how it is made is hidden from ThreadSanitizer
    thread_ = std::thread([this] { io_.run(); });
  }
  ~PredecessorProcess() override { stop(); }

  /// Waits until it has handed over. @return whether the successor has confirmed.
  bool stop() {
    if (thread_.joinable()) {
      if (!handed_over_) io_.stop();
      thread_.join();
    }
    return confirmed_;
  }
  bool wait() {
    thread_.join();
    return confirmed_;
  }

  MemoryRecord record = sample_record();
  MemoryBacking memory{"disk", record.size, 0};

 private:
  std::optional<std::string> refuse_successor(const SuccessionRequest& request) override {
    return reason_against(request, std::span(&record, 1));
  }
  void on_successor(Successor successor) override {
    handed_over_ = true;
    std::vector<KeptMemory> kept;
    kept.push_back({duplicate(memory.fd()), RecordMemory(record)});
    confirmed_ = successor.pass(kept);
    io_.stop();
  }

  asio::io_context io_{1};
  std::optional<SuccessionListener> listener_;
  std::atomic<bool> handed_over_ = false;
  bool confirmed_ = false;
  std::thread thread_;
};

SuccessionRequest request(const std::string& spec) {
  return {parse_export_specs({spec}), {}};
}

/// Where this process awaits its successor.
class SocketName {
 public:
  SocketName() {
    const auto name = succession_socket_name(::getpid());
    address_.sun_family = AF_UNIX;
    name.copy(address_.sun_path, name.size());
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  }

  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return size_; }

 private:
  sockaddr_un address_{};
  socklen_t size_;
};

UniqueFd connect_to_self() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketName name;
  EXPECT_EQ(::connect(socket.get(), name.address(), name.size()), 0);
  return socket;
}

TEST(SuccessionTest, PassesMemoryOn) {
  PredecessorProcess old;
  old.memory.bytes()[5] = std::byte{0x5a};
  InheritedMemory inherited;
  Predecessor predecessor(::getpid(), request("disk=memory:1M"), inherited);
  inherited.check(parse_export_specs({"disk=memory:1M"}));
  auto kept = inherited.take("disk");
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->in_store);
  EXPECT_EQ(kept->record.record().uuid, old.record.uuid);
  EXPECT_EQ(MemoryBacking("disk", std::move(kept->memory), old.record.size, 0, old.record.size)
                .bytes()[5],
            std::byte{0x5a});
  predecessor.confirm();
  EXPECT_TRUE(old.wait());
}

TEST(SuccessionTest, IsNotDoneBeforeTheSuccessorServes) {
  PredecessorProcess old;
  {
    InheritedMemory inherited;
    const Predecessor predecessor(::getpid(), request("disk=memory:1M"), inherited);
  }
  EXPECT_FALSE(old.wait());
}

TEST(SuccessionTest, IsRefusedWhenMemoryWouldBeLost) {
  PredecessorProcess old;
  InheritedMemory inherited;
  const auto refusal = [&](const SuccessionRequest& asked) {
    return error_of<Error>([&] { Predecessor(::getpid(), asked, inherited); });
  };
  EXPECT_THAT(refusal(request("disk=memory:2M")), HasSubstr("goes on serving"));
  EXPECT_THAT(refusal(request("other=memory:1M")), HasSubstr("--discard disk"));
  EXPECT_TRUE(inherited.empty());
  auto asked = request("other=memory:1M");
  asked.discards = {"disk"};
  Predecessor predecessor(::getpid(), asked, inherited);
  predecessor.confirm();
  EXPECT_TRUE(old.wait());
}

TEST(SuccessionTest, IsRefusedToOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes root to become another user";
  const PredecessorProcess old;
  std::string refusal;
  std::thread([&] {
    ASSERT_EQ(::syscall(SYS_setresuid, 65534, 65534, 65534), 0);  // this thread alone
    InheritedMemory inherited;
    refusal =
        error_of<Error>([&] { Predecessor(::getpid(), request("disk=memory:1M"), inherited); });
  }).join();
  EXPECT_THAT(refusal, HasSubstr(fmt::format("process {} of user 65534 may not succeed this target",
                                             ::getpid())));
}

TEST(SuccessionTest, BearsThoseWhoSayNothingThatMakesSense) {
  PredecessorProcess old;
  for (const char* text : {"", "{", "[]", "null", R"({"version":2,"exports":[],"discards":[]})",
                           R"({"version":1,"exports":[{}],"discards":[]})",
                           R"({"version":1,"exports":7,"discards":[]})",
                           R"({"version":1.5,"exports":[],"discards":[]})",
                           R"({"version":1,"exports":[{"name":"disk","kind":1,"size_bytes":-1,)"
                           R"("huge_bytes":0,"path":"","read_only":false}],"discards":[]})",
                           R"({"version":1,"exports":[],"discards":[1]})"}) {
    const UniqueFd socket = connect_to_self();
    ASSERT_EQ(send_line(socket.get(), text), 0);
    const auto answer = receive_line(socket.get(), 4096);
    ASSERT_TRUE(answer) << text;
    EXPECT_THAT(answer->text, HasSubstr("refused")) << text;
  }
  { const UniqueFd leaves_at_once = connect_to_self(); }
  const UniqueFd talks = connect_to_self();
  const std::string much(kMaxSuccessionLine + 1, 'x');
  send_line(talks.get(), much);
  EXPECT_FALSE(receive_line(talks.get(), 4096));
  InheritedMemory inherited;
  Predecessor(::getpid(), request("disk=memory:1M"), inherited).confirm();
  EXPECT_TRUE(old.wait());
}

/// As long as it lives this process can open nothing more.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(UniqueFd(::open("/", O_PATH | O_CLOEXEC)).get());
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  rlimit before_{};
};

class NoSuccession final : public SuccessionHandler {
  std::optional<std::string> refuse_successor(const SuccessionRequest&) override { return "no"; }
  void on_successor(Successor) override {}
};

TEST(SuccessionTest, WaitsWhenDescriptorsRunOut) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs descriptors, too, to look at virtual functions";
#endif
  asio::io_context io{1};
  NoSuccession handler;
  const SuccessionListener listener(io, handler);
  const UniqueFd socket = connect_to_self();
  {
    const NoMoreDescriptors limit;
    EXPECT_LE(io.run_for(std::chrono::milliseconds(50)), 2U) << "it turns in a circle";
  }
  ASSERT_EQ(send_line(socket.get(), "{}"), 0);
  pollfd answer{socket.get(), POLLIN, 0};
  while (::poll(&answer, 1, 0) == 0) io.run_one();
  EXPECT_TRUE(receive_line(socket.get(), 4096));
}

TEST(SuccessionTest, IsNotWhatATargetServesFor) {
  const PredecessorProcess has_the_name;
  EXPECT_NO_THROW(PredecessorProcess());
}

/// What a successor meets whose predecessor answers with a line.
std::string meet(const char* answer) {
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketName name;
  EXPECT_EQ(::bind(listener.get(), name.address(), name.size()), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  std::thread predecessor([&] {
    const UniqueFd socket(::accept(listener.get(), nullptr, nullptr));
    send_line(socket.get(), answer);
    receive_line(socket.get(), 4096);
  });
  InheritedMemory inherited;
  const auto error =
      error_of<Error>([&] { Predecessor(::getpid(), request("disk=memory:1M"), inherited); });
  predecessor.join();
  return error;
}

TEST(SuccessionTest, BearsAPredecessorThatSaysNothingThatMakesSense) {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"refused":1})", R"({"complete":"x"})",
                           R"({"accepted":7})", R"({"memory":null})", R"({"memory":"disk"})"}) {
    EXPECT_THAT(meet(text), HasSubstr("speaks another version")) << text;
  }
  EXPECT_THAT(meet(R"({"refused":"it is Sunday"})"), HasSubstr("it is Sunday"));
}

TEST(SuccessionTest, FindsNobodyWhereNoTargetIs) {
  InheritedMemory inherited;
  EXPECT_THAT(error_of<Error>([&] { Predecessor(1, request("disk=memory:1M"), inherited); }),
              HasSubstr("cannot succeed process 1: "));
}

/// One that is stopped is connected to all the same: by its kernel.
TEST(SuccessionTest, LeavesOneAloneThatDoesNotAnswer) {
  asio::io_context stopped;
  class NobodyAsks final : public SuccessionHandler {
   public:
    std::optional<std::string> refuse_successor(const SuccessionRequest& /*request*/) override {
      return std::nullopt;
    }
    void on_successor(Successor /*successor*/) override { is_asked = true; }
    bool is_asked = false;
  } handler;
  const SuccessionListener listener(stopped, handler);
  InheritedMemory inherited;
  const std::chrono::milliseconds patience{50};
  for (const std::size_t exports : {1, 4000}) {  // the latter do not fit a socket
    std::vector<std::string> specs;
    for (std::size_t i = 0; i < exports; ++i) specs.push_back(fmt::format("e{}=memory:1M", i));
    const SuccessionRequest asked{parse_export_specs(specs), {}};
    EXPECT_THAT(error_of<Error>([&] { Predecessor(::getpid(), asked, inherited, patience); }),
                HasSubstr("has not answered within 0.05 s; is it stopped"));
  }
  stopped.run_for(patience);  // it goes on
  EXPECT_FALSE(handler.is_asked);
}

TEST(SuccessionRequestTest, IsReadAsItWasWritten) {
  SuccessionRequest asked = request("disk=file:/srv/a,resident,huge=2M");
  asked.discards = {"x", "y"};
  const auto read = SuccessionRequest::decode(asked.encode());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->exports.size(), 1U);
  EXPECT_EQ(read->exports[0].name, "disk");
  EXPECT_EQ(read->exports[0].kind, protocol::ExportKind::resident);
  EXPECT_EQ(read->exports[0].huge_page, std::uint64_t{2} << 20);
  EXPECT_EQ(read->exports[0].path, "/srv/a");
  EXPECT_FALSE(read->exports[0].read_only);
  EXPECT_EQ(read->discards, asked.discards);
}

TEST(LineSocketTest, KeepsDescriptorsWithTheirLine) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  UniqueFd a(ends[0]);
  const UniqueFd b(ends[1]);
  ASSERT_EQ(send_line(a.get(), "one", {a.get(), b.get()}), 0);
  ASSERT_EQ(send_line(a.get(), "two"), 0);
  ASSERT_EQ(send_line(a.get(), "three", {a.get()}), 0);
  a.reset();
  std::vector<std::size_t> counts;
  while (auto line = receive_line(b.get(), 64)) counts.push_back(line->descriptors.size());
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, 0, 1}));
}

}  // namespace
}  // namespace rdmablk::target
