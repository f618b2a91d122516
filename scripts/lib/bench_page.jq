# The parts of the page that scripts/bench --html writes: its text and tables, and the data of its charts.
include "bench_tables";
include "bench_svg";

# Within <script>: nothing may end it.
def page_data: tojson | gsub("<"; "\\u003c");

def html_cell($tag): "<\($tag)>\(escape)</\($tag)>";

def html_row($tag): "<tr>" + ([.[0] | html_cell("th")] + [.[1:][] | html_cell($tag)] | join("")) + "</tr>";

def html_table:
  "<h3>\(.title | escape)</h3><p class=\"note\">\(.note | escape)</p>",
  "<div class=\"scroll\"><table><thead>\(.columns | html_row("th"))</thead><tbody>",
  (.rows[] | html_row("td")), "</tbody></table></div>";

def aims_html: select(.aims | length > 0) | "<h2>Aims</h2>", "<ul class=\"aims\">",
  (.aims[] | "<li class=\"\(if .met then "met" else "short" end)\"><b>\(.value | fixed(2))</b> "
    + "<span>\(.text | escape), \(if .at_least then "at least \(.at_least)" else "at most \(.at_most)" end)</span> "
    + "<i>\(verdict | escape)</i></li>"), "</ul>";

def fact($name; $value): "<dt>\($name)</dt><dd>\($value | tostring | escape)</dd>";

def facts: "<h2>Where and how</h2>", "<dl>",
  fact("Machine"; "\(.cores) processors (\(.processor)), \(.memory_bytes / 1073741824 | fixed(0)) GiB of memory"),
  fact("Kernel"; .kernel), fact("Load before"; .load_before // "unknown"), fact("Date"; .date), fact("Commit"; .commit),
  (select(.device) | fact("Device"; "\(.device): \(.device_is)")),
  fact("Versions"; versions),
  fact("Rounds"; "\(.rounds), each of \(.time_seconds) s a run; who comes first changes with each"),
  "<dt>To repeat</dt><dd><code>\(.command | escape)</code></dd>", "</dl>";

def group_html: "<section><h2>\(.title | escape)</h2><p>\(.note | escape)</p><ul class=\"legend\">",
  (.subjects[] | "<li><i data-subject=\"\(.id | escape)\"></i><b>\(.name | escape)</b> \(.what | escape)</li>"),
  "</ul><h3>Speed</h3><p class=\"note\">Medians; the line shows lowest to highest. Each chart has a scale of its own.</p><div class=\"charts\" data-group=\"\(.id | escape)\" data-kind=\"speed\"></div>",
  "<h3>Latency</h3><p class=\"note\">Microseconds: solid the mean, pale the 99th percentile. Less is better.</p><div class=\"charts\" data-group=\"\(.id | escape)\" data-kind=\"latency\"></div>",
  "<h3>CPU</h3><p class=\"note\">Percent of one processor, of all processes that serve.</p><div class=\"charts\" data-group=\"\(.id | escape)\" data-kind=\"cpu\"></div></section>";

def page_body: "<h1>\(.title | escape)</h1>",
  "<p class=\"note\">\(.date | escape) · \(.cores) processors · \(.kernel | escape) · commit \(.commit | escape)</p>",
  aims_html, (.groups[] | group_html), "<h2>Tables</h2>", (tables | select(.title != "Aims") | html_table), facts;
