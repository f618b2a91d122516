# The runs, as a table whose columns tabs part.
def round1: (. * 10 | round) / 10;
def ms: . / 1000 | round1;
def kib: . / 1024 | round;
["kind", "sessions",
 "open ms", "p50", "p99", "at once ms", "target CPU ms", "close p50",
 "target KiB", "fds", "initiator KiB", "fds", "threads",
 "all /s", "one /s", "idle us/s"],
(.[] | [.kind, .sessions,
  (.open.total_us | ms), (.open.p50_us | ms), (.open.p99_us | ms), (.open_at_once.total_us | ms),
  (.open.target_cpu_us | ms * 1), (.close.p50_us | ms),
  (.target.rss_bytes | kib), (.target.fds | round1), (.initiator.rss_bytes | kib),
  (.initiator.fds | round1), (.initiator.threads | round1),
  (.requests_per_second | round), (.requests_per_second_of_one | round),
  (.target_idle_cpu_ns_per_second // 0 | . / 1000 | round)])
| @tsv
