# What scripts/bench shows of its measurements: a table, JSON, a page, Markdown, a drawing.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by bench_options.sh

readonly chart_library=/usr/share/javascript/chart.js/chart.min.js

# of_result EXPRESSION [JQ-OPTION...]: of the jq files beside this one.
of_result() {
  jq --raw-output -L scripts/lib "${@:2}" \
    'include "bench_tables"; include "bench_svg"; include "bench_page"; '"$1" "$workspace/result"
}

# report HEAD RUNS: both are described in README-bench.md.
report() {
  jq -L scripts/lib --slurpfile runs "$2" 'include "bench_result"; result($runs)' "$1" >"$workspace/result"
  echo
  of_result '"\(.title): medians of \(.rounds) rounds of \(.time_seconds) s", machine, run_of, ""'
  of_result text
  [[ -z $json ]] || cp "$workspace/result" "$json"
  [[ -z $markdown ]] || of_result markdown >"$markdown"
  [[ -z $svg ]] || of_result svg >"$svg"
  [[ -z $html ]] || write_page >"$html"
  [[ -z $json$html ]] || say "written:${json:+ $json}${html:+ $html}"
}

# check_page: the library of the charts is there, if a page is wanted.
check_page() {
  [[ -z $html || -r $chart_library ]] || die "there is no $chart_library: install libjs-chart.js for --html"
}

# The template, with a file in place of each line that names one; it asks for nothing elsewhere.
write_page() {
  of_result page_data >"$workspace/page_data"
  of_result page_body >"$workspace/page_body"
  sed -e "/@CHART_LIBRARY@/{r $chart_library" -e 'd}' \
    -e '/@CHARTS@/{r scripts/lib/bench_page.js' -e 'd}' -e '/@STYLE@/{r scripts/lib/bench_page.css' -e 'd}' \
    -e "/@DATA@/{r $workspace/page_data" -e 'd}' -e "/@BODY@/{r $workspace/page_body" -e 'd}' \
    scripts/lib/bench_page.html
}
