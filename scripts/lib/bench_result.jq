# The result of a head and its runs: medians, ratios and aims; README-bench.md describes all three.

def median: sort | if length == 0 then null
  elif length % 2 == 1 then .[length / 2 | floor]
  else (.[length / 2 - 1] + .[length / 2]) / 2 end;

def spread: {median: median, min: min, max: max};

# Of an array of objects with numbers: an object of arrays.
def columns: reduce (.[] | to_entries[]) as $cell ({}; .[$cell.key] += [$cell.value]);

def summary($all): columns | map_values(spread + if $all then {rounds: .} else {} end);

# ratios BASE OTHER METRIC: of the rounds in which both were measured.
def ratios($base; $other; $metric):
  ($other | map({key: "\(.round)", value: .metrics[$metric]}) | from_entries) as $by_round
  | [$base[] | (.metrics[$metric]) as $ours | $by_round["\(.round)"]
     | select(. != null and . > 0 and $ours != null) | $ours / .];

# One cell: the runs of one subject with one workload; `.` is all runs of the workload.
def cell($group; $workload; $subject):
  . as $all | map(select(.subject == $subject)) | sort_by(.round)
  | select(length > 0)
  | . as $own
  | {group: $group.id, workload: $workload.id, subject: $subject,
     metrics: (map(.metrics) | summary(true)),
     cpu_percent: (map(.cpu_percent // {}) | summary(false))}
    + if $subject != $group.base then {} else
        {ratios: ([$group.subjects[].id | select(. != $group.base) as $other
          | ratios($own; $all | map(select(.subject == $other)); $workload.shows)
          | select(length > 0) | {($other): spread}] | add // {})} end;

def results($runs): [.groups[] as $group | $group.workloads[] as $workload
  | ($runs | map(select(.group == $group.id and .workload == $workload.id))) as $of_workload
  | $group.subjects[].id as $subject | $of_workload | cell($group; $workload; $subject)];

# The figures of one workload that an aim speaks of, a figure a round.
def aimed($aim): . as $of_workload | map(select(.subject == $aim.subject)) as $own
  | if $aim.against then ratios($own; $of_workload | map(select(.subject == $aim.against)); $aim.metric)
    else [$own[] | if $aim.metric | startswith("cpu_percent.") then .cpu_percent[$aim.metric[12:]]
          else .metrics[$aim.metric] end | select(. != null)] end;

def worst($aim): if $aim.at_least then min_by(.value) else max_by(.value) end;

def judged:
  . + if .at_least then {met: (.value >= .at_least), short_by_percent: ((1 - .value / .at_least) * 100)}
      else {met: (.value <= .at_most), short_by_percent: (if .at_most > 0 then (.value / .at_most - 1) * 100 else null end)} end
  | if .met then .short_by_percent = 0 else . end;

def judge($runs): . as $aim
  | [.workloads[] as $workload
     | {workload: $workload, value: ($runs | map(select(.group == $aim.group and .workload == $workload)) | aimed($aim) | median)}
     | select(.value != null)]
  | select(length > 0) | . as $of
  | $aim + {value: ($of | worst($aim).value), of: $of} | judged;

# Subjects and workloads that were never measured are no part of the result.
def measured($runs): .groups |= (map(.id as $group
  | ($runs | map(select(.group == $group))) as $own
  | .subjects |= map(select(.id as $id | any($own[]; .subject == $id)))
  | .workloads |= map(select(.id as $id | any($own[]; .workload == $id))))
  | map(select(.subjects | length > 0)));

def result($runs): {version: 2} + measured($runs)
  | .results = results($runs) | .aims = [(.aims // [])[] | judge($runs)];
