#!/bin/bash
# rdmablk doctor: this host, and the way to a target: one that is well, asks for a key, is not there, or does
# not answer.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/schema_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/schema_lib.sh"
start_remote
start_target --export disk=memory:1M

# verdicts JSON: "CHECK:VERDICT ..." of the way to the target.
verdicts() {
  jq --raw-output '[.checks[] | select(.check | IN("name", "route", "connection", "protocol", "path",
    "authentication", "session", "read", "the rest of the way")) | "\(.check):\(.verdict)"] | join(" ")'
}

# doctor ARGUMENT...: its verdicts on the way.
doctor() { ("$rdmablk" doctor --json "$@" || true) | verdicts; }

expect_valid doctor "$rdmablk" doctor --json >/dev/null
expect_valid doctor "$rdmablk" doctor "$target" --json >/dev/null
readonly way="name:ok route:ok connection:ok protocol:ok"
expect_equal "a target that is well" "$way authentication:ok session:ok read:ok" "$(doctor "$target")"
expect_match "for people" "ok +device ${RDMABLK_TEST_DEVICE:-soft0}.*ok +read +512 bytes of 'disk'.* 0 failures" \
  "$("$rdmablk" doctor "$target" | tr '\n' ' ')"

# More ways to it: each is gone as far as the first thing that fails.
expect_equal "two paths" "$way authentication:ok path:ok path:failure session:ok read:ok" \
  "$(doctor "$target" --path "$target" --path "${target%:*}:1")"
expect_match "for people, a path that fails" "failure path +nobody listens on ${target%:*}:1" \
  "$("$rdmablk" doctor "$target" --path "${target%:*}:1" | tr '\n' ' ')"

expect_match "a name that nobody has" "^name:failure the rest" "$(doctor nosuchhost.invalid)"
expect_fail 2 "port" "$rdmablk" doctor host:x

# Nobody listens there any more.
stop_target
expect_equal "nobody" "name:ok route:ok connection:failure the rest of the way:skipped" "$(doctor "$target")"
expect_error "nobody listens on $target.*start rdmablk-target there" "$rdmablk" doctor "$target"

# Who is silent: the tools say where to look.
start_target --export disk=memory:1M
kill -STOP "$target_pid"
expect_error "no answer from $target.*(rping -s|ibv_rc_pingpong)" "$rdmablk" doctor "$target" --timeout 0.5
text=$("$rdmablk" doctor "$target" --timeout 0.5 2>&1) || true
[[ $text != *"rdmablk doctor"* ]] || fail "the doctor sends to the doctor: $text"
kill -CONT "$target_pid"
stop_target

# It asks who this is.
"$rdmablk" keygen alice --output "$scratch/key"
start_target --export disk=memory:1M --auth "$scratch/key"
expect_equal "without a key" "$way authentication:warning" "$(doctor "$target")"
expect_equal "with a key" "$way authentication:ok session:ok read:ok" "$(doctor "$target" --keyfile "$scratch/key")"
"$rdmablk" keygen alice --output "$scratch/wrong"
expect_equal "with another key" "$way authentication:ok session:failure the rest of the way:skipped" \
  "$(doctor "$target" --keyfile "$scratch/wrong")"
stop_target
