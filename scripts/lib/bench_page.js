'use strict';
const result = JSON.parse(document.getElementById('data').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)');
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const others = ['#7d8896', '#c0873e', '#8a6bb8', '#4f9a7a', '#b8606b', '#6b7fb8', '#9a9a4f'];

const colorOf = (group, subject) => subject === group.base
  ? style('--ours')
  : others[group.subjects.filter((s) => s.id !== group.base).findIndex((s) => s.id === subject) % others.length];

const pale = (color) => color + '66';
const scaled = (value, metric) => metric.endsWith('_ns') ? value / 1000
  : metric.startsWith('bandwidth') ? value / 1048576 : value;
const unitOf = (metric) => metric.endsWith('_ns') ? 'us' : metric.startsWith('bandwidth') ? 'MiB/s' : 'a second';

const cellsOf = (group, workload) => result.results.filter((r) => r.group === group.id && r.workload === workload.id);
const nameOf = (group, id) => group.subjects.find((s) => s.id === id).name;
const bar = (label, data, color, more) => ({ label, data, backgroundColor: color, maxBarThickness: 18, ...more });

// Bars of the medians, and over each a thin one from the lowest to the highest.
function speed(group, workload) {
  const metric = workload.shows;
  const cells = cellsOf(group, workload).filter((c) => c.metrics[metric]);
  const colors = cells.map((c) => colorOf(group, c.subject));
  const range = cells.map((c) => [c.metrics[metric].min, c.metrics[metric].max].map((v) => scaled(v, metric)));
  return [{
    title: `${workload.name}, ${unitOf(metric)}`,
    labels: cells.map((c) => nameOf(group, c.subject)),
    datasets: [
      bar('lowest to highest', range, style('--text'), { grouped: false, maxBarThickness: 2, order: 0 }),
      bar('median', cells.map((c) => scaled(c.metrics[metric].median, metric)), colors, { grouped: false, order: 1 }),
    ],
  }];
}

// The mean over the 99th percentile; a mix has a chart of its reads and one of its writes.
function latency(group, workload) {
  return [['', ''], ['read_', ': reads'], ['write_', ': writes']].flatMap(([infix, text]) => {
    const [mean, p99] = [`latency_${infix}mean_ns`, `latency_${infix}p99_ns`];
    const cells = cellsOf(group, workload).filter((c) => c.metrics[mean] || c.metrics[p99]);
    if (!cells.length) return [];
    const colors = cells.map((c) => colorOf(group, c.subject));
    const values = (metric) => cells.map((c) => c.metrics[metric] ? scaled(c.metrics[metric].median, metric) : null);
    return [{
      title: workload.name + text + ', us',
      labels: cells.map((c) => nameOf(group, c.subject)),
      datasets: [
        bar('mean', values(mean), colors, { grouped: false, order: 0 }),
        bar('99th percentile', values(p99), colors.map(pale), { grouped: false, order: 1 }),
      ],
    }];
  });
}

// The processes of a subject, one after the other; the busiest one is solid.
function cpu(group, workload) {
  const cells = cellsOf(group, workload).map((c) => ({
    subject: c.subject,
    used: Object.entries(c.cpu_percent).filter(([name]) => name !== 'fio').sort((a, b) => b[1].median - a[1].median),
  })).filter((c) => c.used.length);
  if (!cells.length) return [];
  const names = [...new Set(cells.flatMap((c) => c.used.map(([name]) => name)))];
  const alpha = (cell, name) => ['ff', '88', '55'][Math.max(0, cell.used.findIndex(([used]) => used === name)) % 3];
  return [{
    title: workload.name + ', percent',
    labels: cells.map((c) => nameOf(group, c.subject)),
    datasets: names.map((name) => bar(name,
      cells.map((c) => Object.fromEntries(c.used)[name]?.median ?? null),
      cells.map((c) => colorOf(group, c.subject) + alpha(c, name)), { stack: 'cpu' })),
  }];
}

const compact = (value) => Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(value);

function options() {
  const grid = { color: style('--line') };
  return {
    indexAxis: 'y', animation: false, maintainAspectRatio: false,
    scales: {
      x: { beginAtZero: true, grid, ticks: { color: style('--faint'), maxTicksLimit: 6, maxRotation: 0, callback: compact } },
      y: { grid: { display: false }, ticks: { color: style('--text'), autoSkip: false } },
    },
    plugins: {
      legend: { display: false },
      tooltip: { callbacks: { label: (c) => `${c.dataset.label}: ${[c.raw].flat().map(compact).join(' to ')}` } },
    },
  };
}

function add(place, chart) {
  const panel = document.createElement('div');
  const title = document.createElement('h4');
  const box = document.createElement('div');
  const canvas = document.createElement('canvas');
  title.textContent = chart.title;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${chart.title}; the figures are in the tables below`);
  panel.className = 'chart';
  box.style.height = `${chart.labels.length * 26 + 34}px`;
  box.append(canvas);
  panel.append(title, box);
  place.append(panel);
  return new Chart(canvas, { type: 'bar', data: { labels: chart.labels, datasets: chart.datasets }, options: options() });
}

let charts = [];
function draw() {
  charts.forEach((chart) => chart.destroy());
  charts = [];
  Chart.defaults.font.family = 'system-ui, sans-serif';
  for (const place of document.querySelectorAll('.charts')) {
    const group = result.groups.find((g) => g.id === place.dataset.group);
    const made = group.workloads.flatMap((w) => ({ speed, latency, cpu })[place.dataset.kind](group, w));
    place.replaceChildren();
    made.filter((c) => c.labels.length).forEach((c) => charts.push(add(place, c)));
  }
  for (const group of result.groups) {
    for (const { id } of group.subjects) {
      document.querySelectorAll(`[data-group="${CSS.escape(group.id)}"]`).forEach((place) => {
        const mark = place.closest('section').querySelector(`[data-subject="${CSS.escape(id)}"]`);
        if (mark) mark.style.background = colorOf(group, id);
      });
    }
  }
}
draw();
dark.addEventListener('change', draw);
