# What the tests in this folder share.
# shellcheck shell=bash

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_equal WHAT EXPECTED ACTUAL
expect_equal() { [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"; }

# expect_match WHAT PATTERN TEXT: PATTERN is a regular expression.
expect_match() { [[ $3 =~ $2 ]] || fail "$1: expected a match of '$2', got '$3'"; }

# wait_until WHAT COMMAND...: for conditions that nothing announces. Tries COMMAND until it
# succeeds, for ten seconds at most.
wait_until() {
  local what=$1 attempts=200
  shift
  until "$@"; do
    ((attempts-- > 0)) || fail "waited in vain: $what"
    sleep 0.05
  done
}
