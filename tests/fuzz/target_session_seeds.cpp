#include "tests/fuzz/seeds.h"
#include "tests/unit/common/samples.h"

namespace rdmablk::fuzz {
namespace {

namespace samples = protocol::samples;

// How target_session.cpp reads what happens.
enum SessionStep {
  kAnything,
  kHello,
  kList,
  kAttach,
  kDetach,
  kConnect,
  kDisconnect,
  kLeave,
  kEndWait,
  kJoin,
  kAbandon,
  kAuthenticate,
  kSayAgain,
  kChangeKeys,
  kTable
};

/// How it reads the setting.
enum SessionSetting : unsigned { kGreets = 1, kHasKeys = 2, kIsFar = 4, kProves = 8 };

Output& attach(Output& output, unsigned name, bool writes, unsigned again = 0) {
  return output.pick(kAttach)
      .pick(name)
      .pick(writes ? 1 : 0)
      .number(std::uint16_t{2})
      .number(std::uint32_t{4})
      .number(std::uint32_t{4096})
      .pick(again);
}

Output& connect(Output& output, unsigned attachment, std::uint16_t queue, unsigned wrong = 0) {
  return output.pick(kConnect).pick(attachment).number(queue).pick(wrong);
}

/// A HELLO of this version.
Output& hello(Output& output) {
  return output.pick(1).pick(1);
}

/// Joins at once.
Output& joins(Output& output) {
  return output.pick(0).pick(0);
}

Output greeted() {
  Output output = Output().pick(kGreets);
  return joins(hello(output));
}

/// What AUTHENTICATE says.
Output& proof(Output& output, unsigned client, unsigned key, unsigned wrong = 0) {
  return output.pick(client).pick(key).pick(1).pick(wrong);
}

/// HELLO was answered by a target that asks for keys.
Output challenged() {
  Output output = Output().pick(kGreets | kHasKeys);
  return hello(output);
}

/// Alice's or Bob's session with such a target.
Output authenticated(unsigned client, unsigned setting = 0) {
  Output output = Output().pick(kGreets | kHasKeys | kProves | setting);
  return joins(proof(hello(output), client, client == 0 ? 0 : 2));
}

void add_clients(Seeds& seeds) {
  for (unsigned client = 0; client < 2; ++client) {
    for (const bool is_far : {false, true}) {
      Output output = authenticated(client, is_far ? kIsFar : 0);
      output.pick(kList).pick(7);
      for (const unsigned name : {5U, 6U}) {
        connect(attach(output, name, true), 0, 0, is_far ? 16 : 0);
        connect(attach(output, name, false), 0, 1, 8);
        output.pick(kDetach).pick(0);
      }
      attach(output, 7, false);
      seeds.add(std::string(client == 0 ? "alice" : "bob") + (is_far ? "_far" : "_near"), output);
    }
  }
}

void add_wrong_proofs(Seeds& seeds) {
  const auto attempt = [&](const std::string& name, unsigned client, unsigned key, unsigned wrong) {
    Output output = challenged();
    proof(output.pick(kAuthenticate), client, key, wrong);
    seeds.add(name, output.pick(wrong == 0 ? kList : 1).pick(7));
  };
  attempt("second_key", 0, 1, 0);
  attempt("other_hello", 0, 0, 1);
  attempt("reflected", 0, 0, 2);
  attempt("wrong_bit", 0, 0, 4);
  attempt("other_nonce", 0, 0, 8);
  attempt("other_name", 0, 0, 16);
  attempt("other_key", 1, 0, 0);
  attempt("stranger", 2, 3, 0);
  Output gone = challenged().pick(kChangeKeys).pick(6).pick(kAuthenticate);
  seeds.add("key_taken_away", proof(gone, 0, 0));
}

void add_wrong_order(Seeds& seeds) {
  seeds.add("list_before_proof", challenged().pick(kList).pick(7));
  seeds.add("hello_twice", challenged().pick(kSayAgain));
  seeds.add("proof_twice", authenticated(0).pick(kSayAgain).pick(kList).pick(7));
  Output joining = Output().pick(kGreets | kHasKeys | kProves);
  proof(hello(joining), 0, 0).pick(1).pick(kSayAgain).pick(kJoin).pick(0);
  seeds.add("proof_twice_while_joining", joining);
  Output early = Output().pick(kHasKeys | kProves);
  seeds.add("proof_before_hello", proof(early, 0, 0).pick(kList).pick(7));
  Output not_asked = greeted().pick(kAuthenticate);
  seeds.add("proof_not_asked", proof(not_asked, 0, 0));
}

}  // namespace

void add_target_session(Seeds& seeds) {
  seeds.target("target_session");
  for (unsigned name = 0; name < 5; ++name) {
    for (const bool writes : {false, true}) {
      Output output = greeted();
      attach(output.pick(kList).pick(name), name, writes);
      connect(connect(output, 0, 0), 0, 1).pick(kDisconnect).pick(0);
      connect(output, 0, 0, 1).pick(kDetach).pick(0);
      seeds.add("attach_" + std::to_string(name) + (writes ? "_rw" : "_ro"), output);
    }
  }
  add_clients(seeds);
  add_wrong_proofs(seeds);
  add_wrong_order(seeds);
  Output writers = greeted();
  attach(attach(writers, 2, true), 2, true, 8).pick(1).pick(kEndWait).pick(0);
  attach(writers, 2, true).pick(kEndWait).pick(1);
  seeds.add("two_writers", writers);
  seeds.add("joins_late",
            Output().pick(kGreets).pick(1).pick(1).pick(1).pick(kList).pick(0).pick(kJoin).pick(0));
  Output again = greeted();
  for (unsigned i = 0; i < 4; ++i) attach(again, i, i % 2 == 0, i);
  attach(again, 0, true, 8).pick(kAnything);
  seeds.add("attach_too_often", again);
  Output leaving = greeted();
  attach(attach(leaving, 2, true).pick(kLeave), 2, true);
  leaving.pick(kAnything).number(std::uint16_t{7}).pick(1).pick(0).pick(1).block({});
  seeds.add("leave", leaving);
  Output raw = greeted();
  raw.pick(kAnything).number(std::uint16_t{4}).pick(0).pick(0).pick(9);
  raw.block(samples::encode(samples::attach()));
  raw.pick(kAnything).number(std::uint16_t{6}).pick(0).pick(0).pick(9).block({});
  seeds.add("raw", raw);
  Output tables = Output().pick(kGreets);
  joins(tables.pick(1 | 4U << 4U).pick(1));  // with the feature `paths`
  connect(attach(tables, 0, true), 0, 0).pick(kTable).pick(0).pick(1).number(std::uint16_t{0});
  tables.pick(1).pick(kTable).pick(0).pick(2).number(std::uint16_t{1}).pick(1);
  tables.pick(kTable).pick(0).pick(1).number(std::uint16_t{1}).pick(0);
  seeds.add("tables", tables);
  seeds.add("versions", Output().pick(0).pick(kHello).pick(0x0b).pick(0));
}

}  // namespace rdmablk::fuzz
