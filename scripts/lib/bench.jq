# What scripts/bench makes of its measurements: an object for each run of fio,
#   {workload, rw, block_size_bytes, depth, round, place: "file" or "mount",
#    iops, bandwidth_bytes_per_second, latency_mean_ns, latency_p99_ns}

def median: sort | if length % 2 == 1 then .[length / 2 | floor]
  else (.[length / 2 - 1] + .[length / 2]) / 2 end;

def figures: {
  iops: map(.iops) | median,
  bandwidth_bytes_per_second: map(.bandwidth_bytes_per_second) | median,
  latency_mean_ns: map(.latency_mean_ns) | median | round,
  latency_p99_ns: map(.latency_p99_ns) | median | round,
  rounds_iops: map(.iops)
};

# One workload: medians, and the ratios of the rounds, in each of which both were measured.
def summary:
  (map(select(.place == "file")) | sort_by(.round)) as $file
  | (map(select(.place == "mount")) | sort_by(.round)) as $mount
  | [range($file | length) | $mount[.].iops / $file[.].iops] as $ratios
  | (.[0] | {workload, rw, block_size_bytes, depth})
    + {file: ($file | figures), mount: ($mount | figures),
       ratio: ($ratios | median), ratio_min: ($ratios | min), ratio_max: ($ratios | max)};

# Keeps the order in which the workloads were measured first.
def summaries: [foreach .[] as $run ({}; if .seen[$run.workload] then .new = null
    else .seen[$run.workload] = true | .new = $run.workload end; .new // empty)] as $names
  | . as $runs | [$names[] as $name | $runs | map(select(.workload == $name)) | summary];

def right($width): tostring | " " * ($width - length) + .;
def left($width): . + " " * ($width - length);
def decimals: . * 100 | round | "\(. / 100 | floor).\(. % 100 | tostring | if length < 2 then "0" + . else . end)";

# Small blocks are counted, large ones weighed.
def amount($block): if $block < 65536 then "\(.iops | round) /s"
  else "\(.bandwidth_bytes_per_second / 1048576 | round) MiB/s" end;

def bar($width): . * $width | round | if . > $width * 1.25 then $width * 1.25 else . end
  | "#" * . // "";

def table:
  ("workload" | left(32)) + ("file" | right(13)) + ("mount" | right(13)) + ("ratio" | right(8))
    + "  lowest to highest",
  (.results[] | .block_size_bytes as $block
    | (.workload | left(32)) + (.file | amount($block) | right(13))
      + (.mount | amount($block) | right(13)) + (.ratio | decimals | right(8))
      + "  \(.ratio_min | decimals) to \(.ratio_max | decimals)");

def drawing:
  (" " * 32) + ("0" | left(32)) + "0.8" + "     " + "1 = the file",
  (.results[] | (.workload | left(32)) + ((.ratio | bar(40)) as $bar
    | if ($bar | length) < 40 then ($bar | left(39)) + "|" else $bar end)
    + " " + (.ratio | decimals));

def escape: gsub("&"; "&amp;") | gsub("<"; "&lt;");

def svg_bar($y; $class; $share; $text):
  "<rect class=\"\($class)\" x=\"220\" y=\"\($y)\" width=\"\($share * 300 | round)\" height=\"14\"/>"
  + "<text x=\"\(226 + ($share * 300 | round))\" y=\"\($y + 11)\">\($text)</text>";

# A pair of bars for each workload; the longer one of a pair has the full length.
def svg:
  (.results | length * 46 + 70) as $height
  | "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"\($height)\" viewBox=\"0 0 680 \($height)\">",
    "<style>text{font:12px sans-serif;fill:#222}.file{fill:#9aa5b1}.mount{fill:#2f6fb0}.title{font-weight:bold}</style>",
    "<rect width=\"680\" height=\"\($height)\" fill=\"#fff\"/>",
    "<text class=\"title\" x=\"12\" y=\"22\">fio on a file, and on its mount over \(.device | escape)</text>",
    "<rect class=\"file\" x=\"12\" y=\"34\" width=\"12\" height=\"12\"/><text x=\"30\" y=\"44\">the file itself, O_DIRECT</text>",
    "<rect class=\"mount\" x=\"200\" y=\"34\" width=\"12\" height=\"12\"/><text x=\"218\" y=\"44\">the mount</text>",
    (.results | to_entries[] | (.key * 46 + 62) as $y | .value | .block_size_bytes as $block
      | ([.file.iops, .mount.iops] | max) as $most
      | "<text x=\"12\" y=\"\($y + 19)\">\(.workload | escape)</text>"
        + svg_bar($y; "file"; .file.iops / $most; .file | amount($block))
        + svg_bar($y + 16; "mount"; .mount.iops / $most;
                  "\(.mount | amount($block)) (\(.ratio | decimals))")),
    "</svg>";
