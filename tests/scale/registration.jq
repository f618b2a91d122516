# Medians of the runs, as a table whose columns tabs part. The last column compares with the run of the same
# round on one processor.
def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
def ms: . / 1000 | round;
def round2: (. * 100 | round) / 100;
. as $runs
| def gain: . as $run
    | $runs | map(select(.processors == 1 and .round == $run.round and .size == $run.size and .pages == $run.pages))
    | .[0].ready_us / $run.ready_us;
["size", "pages", "threads", "rounds", "ready ms", "least", "most", "made ms", "registered ms", "faster"],
(group_by([.size_bytes, .pages == "huge", .processors])[]
 | [.[0].size, .[0].pages, .[0].processors, length,
    (map(.ready_us) | median | ms), (map(.ready_us) | min | ms), (map(.ready_us) | max | ms),
    (map(.made_us) | median | ms), (map(.registered_us) | median | ms), (map(gain) | median | round2)])
| @tsv
