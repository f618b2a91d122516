# A drawing of a result: bars for each workload, of which the longest has the full length.
include "bench_tables";

def escape: gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub("\""; "&quot;");

def svg_bar($y; $ours; $share; $text):
  "<rect class=\"\(if $ours then "ours" else "other" end)\" x=\"300\" y=\"\($y)\" width=\"\($share * 300 | round)\" height=\"14\"/>"
  + "<text x=\"\(306 + ($share * 300 | round))\" y=\"\($y + 11)\">\($text | escape)</text>";

def svg_rows: . as $result | .groups[] as $group | $group.workloads[] as $workload
  | [$result.results[] | select(.group == $group.id and .workload == $workload.id)
     | {name: .subject, ours: (.subject == $group.base), value: .metrics[$workload.shows].median} | select(.value)]
  | select(length > 0) | (map(.value) | max) as $most
  | {title: "\($group.title): \($workload.name)", unit: ($workload.shows | unit),
     bars: map(. + {share: (.value / $most), text: "\(.name) \(.value | amount($workload.shows)) \($workload.shows | unit)"})};

def svg:
  [svg_rows] as $rows
  | [foreach $rows[] as $row ({y: 44, next: 44}; {y: .next, next: (.next + 14 + 16 * ($row.bars | length))}; .y)] as $tops
  | (($tops[-1] // 44) + 30 + 16 * ($rows[-1].bars // [] | length)) as $height
  | "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"\($height)\" viewBox=\"0 0 800 \($height)\">",
    "<style>text{font:12px sans-serif;fill:#222}.other{fill:#9aa5b1}.ours{fill:#2f6fb0}.title{font-weight:bold}</style>",
    "<rect width=\"800\" height=\"\($height)\" fill=\"#fff\"/>",
    "<text class=\"title\" x=\"12\" y=\"22\">\(.title | escape)</text>",
    (range($rows | length) as $i | $rows[$i] as $row | $tops[$i] as $top
      | "<text x=\"12\" y=\"\($top + 11)\">\($row.title | escape)</text>",
        ($row.bars | to_entries[] | svg_bar($top + .key * 16; .value.ours; .value.share; .value.text))),
    "</svg>";
