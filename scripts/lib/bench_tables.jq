# The tables of a result, each {title, note, columns: [...], rows: [[...], ...]}, all cells texts; and
# how the terminal and Markdown show them.

def fixed($digits): pow(10; $digits) as $scale | . * $scale | round
  | if $digits == 0 then tostring else
      (if . < 0 then "-" else "" end) + (fabs | "\(. / $scale | floor)."
        + (. % $scale | tostring | "0" * ($digits - length) + .)) end;

# Three digits that count.
def short: if . >= 1e6 then (. / 1e6 | fixed(2)) + "M" elif . >= 1e5 then (. / 1e3 | fixed(0)) + "k"
  elif . >= 1e4 then (. / 1e3 | fixed(1)) + "k" elif . >= 100 then fixed(0)
  elif . >= 10 then fixed(1) else fixed(2) end;

def unit: if . == "iops" then "/s" elif . == "bandwidth_bytes_per_second" then "MiB/s"
  elif endswith("_ns") then "us" else "" end;

# amount METRIC: of a number.
def amount($metric): if $metric == "bandwidth_bytes_per_second" then . / 1048576 | short
  elif $metric | endswith("_ns") then . / 1000 | short else short end;

# Half of what lies between the lowest and the highest, of the median.
def noise: if .median == null or .median == 0 or .min == .max then "" else " ±\((.max - .min) / 2 / .median * 100 | fixed(0))%" end;

def range_text: (.median | fixed(2)) + if .min == .max then "" else " (\(.min | fixed(2))-\(.max | fixed(2)))" end;

def find($group; $workload; $subject): first(.results[]
  | select(.group == $group.id and .workload == $workload.id and .subject == $subject)) // null;

def speeds($group): . as $result | {
  title: "\($group.title): medians", note: "± half of what lies between lowest and highest",
  columns: (["", ""] + [$group.subjects[].name]),
  rows: [$group.workloads[] as $workload | [$workload.name, ($workload.shows | unit)]
    + [$group.subjects[].id as $subject | $result | find($group; $workload; $subject)
       | .metrics[$workload.shows] // null
       | if . == null then "-" else (.median | amount($workload.shows)) + noise end]]};

def ratio_table($group): . as $result
  | [$group.subjects[] | select(.id != $group.base)] as $others
  | select($others | length > 0)
  | select(any($group.subjects[]; .id == $group.base))
  | {title: "\($group.title): \($group.base) against the others",
     note: "median of the rounds' ratios (lowest to highest)",
     columns: ([""] + [$others[] | "of \(.name)"]),
     rows: [$group.workloads[] as $workload | [$workload.name]
       + [$others[].id as $other | $result | find($group; $workload; $group.base) | .ratios[$other] // null
          | if . == null then "-" else range_text end]]};

# A mix has two rows.
def latency_rows($group): . as $result | $group.workloads[] as $workload
  | ["", "read_", "write_"][] as $infix
  | ["latency_\($infix)mean_ns", "latency_\($infix)p99_ns"] as $metrics
  | [$group.subjects[].id as $subject | $result | find($group; $workload; $subject)
     | [.metrics[$metrics[]]?.median | select(. != null) | amount("_ns")]
     | if length == 0 then "-" else join(" / ") end]
  | select(any(.[]; . != "-"))
  | [$workload.name + (if $infix == "" then "" else ": \($infix | rtrimstr("_"))s" end)] + .;

def latencies($group): {
  title: "\($group.title): latency in us", note: "mean / 99th percentile",
  columns: ([""] + [$group.subjects[].name]), rows: [latency_rows($group)]} | select(.rows | length > 0);

# The processes of all subjects but fio, which is everybody's.
def processes($group): [.results[] | select(.group == $group.id) | .subject as $subject
  | .cpu_percent | keys_unsorted[] | select(. != "fio") | [$subject, .]]
  | unique_by(.) | sort_by(.[0] as $subject | $group.subjects | map(.id) | index($subject));

def cpu_table($group): . as $result | processes($group) as $processes | select($processes | length > 0)
  | {title: "\($group.title): CPU in percent of one processor", note: "of each process; medians",
     columns: ([""] + [$processes[] | if .[1] == "daemon" or .[0] == .[1] then .[0] else "\(.[0]) \(.[1])" end]),
     rows: [$group.workloads[] as $workload | [$workload.name]
       + [$processes[] as $process | $result | find($group; $workload; $process[0])
          | .cpu_percent[$process[1]].median // null | if . == null then "-" else fixed(if . < 10 then 2 else 0 end) end]]};

def verdict: if .met then "met" elif .short_by_percent then "short by \(.short_by_percent | fixed(0)) %" else "short" end;

def aim_table: select(.aims | length > 0)
  | {title: "Aims", note: "the worst workload of each", columns: ["", "aim", "is", ""],
     rows: [.aims[] | [.text,
       (if .at_least then ">= \(.at_least)" else "<= \(.at_most)" end),
       (.value | fixed(2)), verdict]]};

def tables: (.groups[] as $group | speeds($group), ratio_table($group), latencies($group), cpu_table($group)), aim_table;

def right($width): " " * ([$width - length, 0] | max) + .;
def left($width): . + " " * ([$width - length, 0] | max);

def text_table: ([.columns] + .rows) as $lines
  | [range(.columns | length) as $column | [$lines[][$column] | length] | max] as $widths
  | "\(.title)   (\(.note))",
    ($lines[] | to_entries
      | map(.key as $key | .value | if $key == 0 then left($widths[0]) else right($widths[$key]) end)
      | join("  ") | sub(" +$"; "")),
    "";

def text: tables | text_table;

def markdown_table:
  "**\(.title)** (\(.note))", "",
  "| \(.columns | join(" | ")) |", "|---" + "|---:" * (.columns | length - 1) + "|",
  (.rows[] | "| \(join(" | ")) |"), "";

def run_of: "\(.date), commit \(.commit), load \(.load_before // "unknown") before";

def machine: "\(.cores) processors (\(.processor)), \(.memory_bytes / 1073741824 | fixed(0)) GiB, \(.kernel)";

def versions: [.versions // {} | to_entries[] | if .key as $key | .value | contains($key) then .value else "\(.key): \(.value)" end] | join(", ");

def legend: .groups[] | "", "\(.title). \(.note)", "", (.subjects[] | "- \(.name): \(.what)");

def markdown:
  "\(.rounds) rounds of \(.time_seconds) s each on \(machine); \(run_of).", "", "`\(.command)`; \(versions).",
  legend, "", (tables | markdown_table);
