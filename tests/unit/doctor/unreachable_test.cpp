#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "initiator/doctor/target_checks.h"
#include "initiator/reach_hint.h"

namespace rdmablk::doctor {
namespace {

using initiator::Obstacle;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

SocketAddress address(const std::string& host) {
  return resolve({host, kDefaultPort}).front();
}

TEST(ReachHint, NamesTheProgramAndBothPorts) {
  const std::string hint = initiator::reach_hint(address("192.0.2.1"));
  EXPECT_THAT(hint, HasSubstr("rping -c -v -C 1 -a 192.0.2.1 -p 10813"));
  EXPECT_THAT(hint, HasSubstr("UDP port 4791"));
  EXPECT_THAT(hint, HasSubstr("TCP ports 10812 and 10813"));
  EXPECT_THAT(hint, HasSubstr("; `rdmablk doctor 192.0.2.1:10812` tells more"));
  EXPECT_THAT(initiator::reach_hint(address("2001:db8::1")), HasSubstr("-a 2001:db8::1 -p"));
}

TEST(ReachHint, KnowsTheWayByTcp) {
  const std::string hint = initiator::reach_hint(address("192.0.2.1"), cm::Method::tcp);
  EXPECT_THAT(hint, HasSubstr("--cm tcp or both"));
  EXPECT_THAT(hint, HasSubstr("TCP port 10812 "));
  EXPECT_THAT(hint, HasSubstr("ibv_rc_pingpong -g INDEX 192.0.2.1"));
  EXPECT_THAT(hint, HasSubstr("; `rdmablk doctor 192.0.2.1:10812 --cm tcp` tells more"));
  EXPECT_THAT(hint, Not(HasSubstr("rping")));
  EXPECT_EQ(initiator::without_doctor("no answer; " + hint).find("doctor"), std::string::npos);
}

TEST(Unreachable, KnowsTheWayByTcp) {
  const auto peer = address("192.0.2.1");
  const auto tcp = cm::Method::tcp;
  const std::string hint = "; " + initiator::reach_hint(peer, tcp);
  const Finding no_way = unreachable(Obstacle::no_way, "no port" + hint, peer, tcp);
  EXPECT_EQ(no_way.found, "no port");
  EXPECT_THAT(no_way.advice, Not(HasSubstr("ip route get")));
  EXPECT_THAT(unreachable(Obstacle::no_answer, "late", peer, tcp).advice,
              HasSubstr("ibv_rc_pingpong"));
  EXPECT_THAT(unreachable(Obstacle::no_listener, "", peer, tcp).advice, HasSubstr("--cm"));
}

TEST(Unreachable, TellsApartWhatIsInTheWay) {
  const auto peer = address("192.0.2.1");
  const Finding no_way = unreachable(Obstacle::no_way, "no device", peer);
  EXPECT_EQ(no_way.check, "route");
  EXPECT_THAT(no_way.advice, HasSubstr("ip route get"));
  // Nothing is said twice, nor what this command itself does.
  const std::string silent_way = "cannot connect: no answer; " + initiator::reach_hint(peer);
  EXPECT_EQ(unreachable(Obstacle::no_way, silent_way, peer).found, "cannot connect: no answer");
  const Finding nobody = unreachable(Obstacle::no_listener, "refused", peer);
  EXPECT_EQ(nobody.check, "connection");
  EXPECT_THAT(nobody.found, HasSubstr("nobody listens on 192.0.2.1:10812"));
  EXPECT_THAT(nobody.advice, Not(HasSubstr("rping")));
  const Finding silence = unreachable(Obstacle::no_answer, "no answer in time", peer);
  EXPECT_THAT(silence.advice, HasSubstr("rping"));
  EXPECT_THAT(silence.advice, Not(HasSubstr("rdmablk doctor")));
  const Finding other = unreachable(Obstacle::refusal, "the target refused: full", peer);
  EXPECT_EQ(other.found, "the target refused: full");
  const Finding timed_out =
      unreachable(Obstacle::other, "no answer in time; " + initiator::reach_hint(peer), peer);
  EXPECT_THAT(timed_out.found, StartsWith("no answer in time; "));
  EXPECT_THAT(timed_out.found, HasSubstr("rping"));
  for (const Finding& finding : {no_way, nobody, silence, other, timed_out}) {
    EXPECT_EQ(finding.verdict, Verdict::failure);
    EXPECT_FALSE(finding.advice.empty());
    EXPECT_THAT(finding.found + finding.advice, Not(HasSubstr("rdmablk doctor")));
  }
}

}  // namespace
}  // namespace rdmablk::doctor
