# Medians of the runs, as a table whose columns tabs part. The last column compares with one processor.
def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
def ms: . / 1000 | round;
def round2: (. * 100 | round) / 100;
group_by([.size_bytes, .pages == "huge", .processors])
| map({size: .[0].size, pages: .[0].pages, processors: .[0].processors, rounds: length,
       ready: (map(.ready_us) | median), least: (map(.ready_us) | min), most: (map(.ready_us) | max),
       made: (map(.made_us) | median), registered: (map(.registered_us) | median)})
| . as $rows
| ["size", "pages", "threads", "rounds", "ready ms", "least", "most", "made ms", "registered ms", "faster"],
  (.[] | . as $row
   | ($rows | map(select(.size == $row.size and .pages == $row.pages and .processors == 1)) | .[0]) as $one
   | [.size, .pages, .processors, .rounds, (.ready | ms), (.least | ms), (.most | ms), (.made | ms),
      (.registered | ms), 
      (if $one then $one.ready / .ready | round2 else "" end)])
| @tsv
