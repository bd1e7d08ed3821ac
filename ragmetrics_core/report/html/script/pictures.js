// Pictures of the first page: where the scores are low, and the samples behind each part.

const drawn = (tag, attributes, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
// A part of a picture that leads to samples and says in words which they are.
const leading = (href, told, shape, more) =>
  drawn("a", { href, "aria-label": told, ...more }, shape, drawn("title", {}, told));
const samplesAt = (rows) => (rows.length === 1 ? linkTo(rows[0]).href : `#samples=&rows=${rows.join(".")}`);

// A picture with a line of numbers below and, if y has a name, one on its left. An axis has its ends `low` and `high`,
// its `ticks` as pairs of value and text, and its `name`; `draw` gets the two functions from a value to its place.
function picture(told, { x, y, width = 230, height = 76 }, draw) {
  const left = y.name ? 46 : 8,
    bottom = height - (x.name ? 34 : 18);
  const scale = (axis, from, to) => (value) =>
    from + ((Math.min(axis.high, Math.max(axis.low, value)) - axis.low) / (axis.high - axis.low || 1)) * (to - from);
  const inset = y.name ? 14 : 0; // so that no point covers a number
  const atX = scale(x, left + inset, width - 10 - inset),
    atY = scale(y, bottom - inset, 10 + inset);
  const anchor = (place, content) => {
    const half = content.length * 3.2;
    return place < half ? "start" : place > width - half ? "end" : "middle";
  };
  const text = (content, attributes) => drawn("text", { "text-anchor": "middle", ...attributes }, content);
  return drawn(
    "svg",
    { class: "picture", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": told },
    drawn("line", { class: "axis", x1: left, x2: width - 10, y1: bottom, y2: bottom }),
    x.ticks.map(([value, content]) => text(content, { x: atX(value), y: bottom + 14, "text-anchor": anchor(atX(value), content) })),
    x.name ? text(x.name, { x: (left + width) / 2, y: height - 4 }) : null,
    y.name
      ? [
          drawn("line", { class: "axis", x1: left, x2: left, y1: 10, y2: bottom }),
          y.ticks.map(([value, content]) => text(content, { x: left - 5, y: atY(value) + 4, "text-anchor": "end" })),
          text(y.name, { transform: `translate(11 ${bottom / 2}) rotate(-90)` }),
        ]
      : null,
    draw(atX, atY),
  );
}
const short = (value) => String(Number(value.toPrecision(2)));
const axisOf = (low, high, name) => ({
  low,
  high,
  name,
  ticks: [low, (low + high) / 2, high].map((value) => [value, short(value)]),
});
const figure = (title, ...content) => h.figure("", h.figcaption("", title), content);

// The lower end of a metric's picture: a range that begins below zero is shown from zero on, if no value is below.
const lowest = (metric, values) => (metric.low >= 0 || values.some((value) => value < 0) ? metric.low : 0);
const valuesOf = (position, run) => table.metrics[position][run].values;
const isNumber = (value) => value !== null && value !== undefined;

const BINS = 20;
function binsOf(values, low, high) {
  const bins = Array.from({ length: BINS }, () => []);
  for (const value of values.filter(isNumber)) {
    const at = Math.floor(((value - low) / (high - low)) * BINS);
    bins[Math.min(BINS - 1, Math.max(0, at))].push(value);
  }
  return bins;
}

// The scores of a metric in bars, with a line at the mean; of two runs the first is an outline.
function distribution(position, told) {
  const metric = metrics[position],
    runs = metric.sides.flatMap((side, run) => (side && side.n ? [run] : []));
  if (!runs.length) return h.span("muted", "no values");
  const low = lowest(metric, runs.flatMap((run) => valuesOf(position, run).filter(isNumber))),
    high = metric.high,
    step = (high - low) / BINS;
  const sides = runs.map((run) => binsOf(valuesOf(position, run), low, high));
  const most = Math.max(...sides.flat().map((bin) => bin.length));
  const last = lastRun(position);
  return picture(told, { x: axisOf(low, high), y: { low: 0, high: most } }, (atX, atY) =>
    runs.map((run, side) => [
      sides[side].map((bin, number) => {
        if (!bin.length) return null;
        const [x, y] = [atX(low + step * number) + 0.7, atY(bin.length)];
        const kind = run === last ? (run ? "second" : "first") : "outline";
        const bar = drawn("rect", { class: kind, x, y, width: atX(low + step) - atX(low) - 1.4, height: atY(0) - y });
        if (run !== last) return bar;
        const [least, greatest] = [Math.min(...bin), Math.max(...bin)];
        const ends = least === greatest ? short(least) : `${least.toFixed(2)} to ${greatest.toFixed(2)}`;
        const href = `#samples=&metric=${position}&from=${least}&to=${greatest}`;
        return leading(href, `${plural(bin.length, "sample")} at ${ends}`, bar);
      }),
      drawn("line", {
        class: run === last ? "mean" : "mean outline",
        x1: atX(metric.sides[run].value),
        x2: atX(metric.sides[run].value),
        y1: 6,
        y2: atY(0),
      }),
    ]),
  );
}

function differencePicture({ mean, interval, verdict }, told) {
  const { reach } = overview;
  const ticks = [-reach, 0, reach].map((value) => [value, value ? (value > 0 ? "+" : "−") + short(Math.abs(value)) : "0"]);
  return picture(told, { x: { low: -reach, high: reach, ticks }, y: { low: 0, high: 1 }, height: 46 }, (atX, atY) => [
    drawn("line", { class: "axis", x1: atX(0), x2: atX(0), y1: 4, y2: atY(0) }),
    drawn("line", { class: "interval", x1: atX(interval[0]), x2: atX(interval[1]), y1: atY(0.5), y2: atY(0.5) }),
    drawn("circle", { class: verdict === "cannot tell" ? "hollow" : "first", cx: atX(mean), cy: atY(0.5), r: 4.5 }),
  ]);
}

// A share as a bar.
const shareBar = (share, run) =>
  drawn(
    "svg",
    { class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawn("rect", { class: "back", width: 100, height: 8 }),
    drawn("rect", { class: run ? "second" : "first", width: 100 * share, height: 8 }),
  );

// Points of samples, as [row, x, y]. Those at one place are one point, the larger the more they are.
function scatter(told, x, y, points, { diagonal = false, kind = () => "first" } = {}) {
  const places = new Map();
  for (const [row, atX, atY] of points) {
    const key = [(atX - x.low) / (x.high - x.low), (atY - y.low) / (y.high - y.low)].map((at) => Math.round(at * 100)).join();
    if (!places.has(key)) places.set(key, { x: atX, y: atY, rows: [] });
    places.get(key).rows.push(row);
  }
  // more points than this are too many to step through: the line below the picture leads to their samples
  const tabindex = places.size > 40 ? -1 : null;
  const most = [...places.values()].reduce((sum, { rows }) => Math.max(sum, rows.length), 1);
  return picture(told, { x, y, width: 280, height: 250 }, (atX, atY) => [
    diagonal
      ? drawn("line", { class: "axis dashed", x1: atX(x.low), y1: atY(y.low), x2: atX(x.high), y2: atY(y.high) })
      : null,
    [...places.values()]
      .sort((a, b) => b.rows.length - a.rows.length)
      .map((point) => {
        const names = point.rows.length === 1 ? table.ids[point.rows[0]] : plural(point.rows.length, "sample");
        const values = [point.x, point.y].map((value) => String(Number(value.toFixed(3)))).join(", ");
        const r = 4 + 8 * Math.sqrt((point.rows.length - 1) / most);
        const shape = drawn("circle", { class: `point ${kind(point)}`, cx: atX(point.x), cy: atY(point.y), r });
        return leading(samplesAt(point.rows), `${names}: ${values}`, shape, { tabindex });
      }),
  ]);
}

function runAgainstRun() {
  const figures = metrics.flatMap((metric, position) => {
    if (!isPaired(position)) return [];
    const [before, after] = [0, 1].map((run) => valuesOf(position, run));
    const points = before.flatMap((value, row) => (isNumber(value) && isNumber(after[row]) ? [[row, value, after[row]]] : []));
    if (!points.length) return [];
    const low = lowest(metric, points.flatMap(([, ...pair]) => pair));
    const axis = (run) => axisOf(low, metric.high, cutInside(overview.runs[run].name, 30));
    const sign = (point) => Math.sign(point.y - point.x) * (metric.lower_is_better ? -1 : 1);
    const count = (which) => points.filter(([, x, y]) => sign({ x, y }) === which).length;
    const told = `${count(1)} better in the second run, ${count(-1)} worse, ${count(0)} equal`;
    return figure(
      words(metric.title),
      scatter(`${metric.title}, first run across, second upwards: ${told}`, axis(0), axis(1), points, {
        diagonal: true,
        kind: (point) => ["no", "muted", "yes"][sign(point) + 1],
      }),
      h.p("small", el("a", { href: `#samples=&sort=m${position}` }, plural(points.length, "pair")), `: ${told}`),
    );
  });
  return figures.length
    ? section(
        "Run against run",
        h.div("figures", figures),
        h.p(
          "muted small",
          "Each point is a sample, or several at the same place; it leads to them. The first run is across, the second upwards: on the dashed line a sample scores the same in both.",
        ),
      )
    : null;
}

// How many samples have each diagnosis, and each status other than ok.
function failureKinds() {
  const kinds = new Map();
  const count = (filter, told, look, run) => {
    if (!kinds.has(filter)) kinds.set(filter, { told, look, counts: overview.runs.map(() => 0) });
    kinds.get(filter).counts[run] += 1;
  };
  table.ids.forEach((_, row) =>
    overview.runs.forEach((_, run) => {
      for (const code of new Set(table.findings[row][run])) count(`finding=${code}`, words(code), ["!", "open"], run);
      for (const status of new Set(table.metrics.map((sides) => sides[run].statuses[row])))
        if (status && status !== "ok") count(`status=${status}`, words(status), STATUS[status], run);
    }),
  );
  if (!kinds.size) return null;
  const total = (each) => Math.max(...each.counts);
  const rows = [...kinds].sort(([, a], [, b]) => total(b) - total(a));
  return section(
    "Kinds of failure",
    tableOf(
      ["Kind", "Samples", "Share of the samples"],
      rows.map(([filter, { told, look, counts }]) => [
        el("th", { scope: "row" }, chip(look[1], filter, `${look[0]} ${told}`)),
        h.td("num", counts.map((times, run) => h.div("", two ? tag(run) : null, times.toLocaleString("en")))),
        h.td(
          "shares",
          counts.map((times, run) => {
            const of = overview.runs[run].samples;
            return h.div("", shareBar(times / of, run), ` ${Math.round((100 * times) / of)} %`);
          }),
        ),
      ]),
    ),
    h.p("muted small", "A sample counts for each diagnosis (!) and for each status of a score other than ok; it may count several times."),
  );
}

// The fifth of a metric's range in which a value lies: 0 is the worst one.
const fifth = (value, metric) => {
  const at = metric.lower_is_better ? 1 - place(value, metric) : place(value, metric);
  return Math.max(0, Math.min(4, Math.floor(at * 5)));
};
const FIFTHS = ["worst fifth of the range", "second worst", "middle", "second best", "best fifth"];
const worstFirst = (position) => `sort=m${position}${metrics[position].lower_is_better && !two ? "&down=1" : ""}`;

function labelTables() {
  const { tables, left_out } = overview.labels;
  const isEmpty = metrics.every((metric) => metric.sides.every((side) => !side?.n));
  if (isEmpty || (!tables.length && !left_out.length)) return null;
  return section(
    "Means by label",
    tables.map(labelTable()),
    tables.length
      ? [
          h.p(
            "legend small",
            "Colour: ",
            FIFTHS.map((told, at) => h.span(`heat-${at}`, told)),
          ),
          h.p(
            "muted small",
            "Each cell has the mean, its 95% interval and the number of scores; it leads to its samples. The value with the worst scores comes first. Many cells are compared here: some are low by chance.",
          ),
        ]
      : null,
    left_out.length
      ? h.p("muted small", "Without a table: ", left_out.map(([name, why]) => `${name} (${why})`).join("; "), ".")
      : null,
  );
}

// The first tables are open, as many as a screen or two has room for.
function labelTable() {
  let room = innerWidth < 700 ? 8 : 30;
  return ({ name, groups }) => {
    const content = heatMap(name, groups);
    const rows = groups.length * overview.runs.length;
    const open = rows <= room;
    if (open) room -= rows;
    const told = `${name}: ${plural(groups.length, "row")}, the worst first`;
    return el("details", { class: "by-label", open }, h.summary("", bidi(told)), content);
  };
}

function heatMap(name, groups) {
  const one = (group) => {
    const filter = group.others ? null : `label=${encodeURIComponent(labelText(name, group.value))}`;
    const title = group.others ? `${plural(group.others, "other value")}` : (group.value ?? "(without it)");
    const leads = (href, ...content) => (filter ? el("a", { href }, content) : content);
    return group.sides.map((cells, run) => [
      run === 0
        ? el(
            "th",
            { scope: "row", rowspan: group.sides.length },
            leads(`#samples=&${filter}`, bidi(title)),
            h.div("muted small", plural(group.samples, "sample")),
          )
        : null,
      ...(two ? [h.td("", tag(run))] : []),
      ...cells.map((cell, position) => {
        if (!cell || cell[0] === null) return h.td("num muted", cell ? "no value" : "");
        const [mean, low, high, n] = cell;
        return h.td(
          `num heat-${fifth(mean, metrics[position])}`,
          leads(`#samples=&${filter}&metric=${position}&${worstFirst(position)}`, h.b("", mean.toFixed(2))),
          h.span("small", n < group.samples ? ` n ${n} of ${group.samples}` : ` n ${n}`),
          h.div("small", low === null ? "" : `${low.toFixed(2)} to ${high.toFixed(2)}`),
        );
      }),
    ]);
  };
  const heads = [name, ...(two ? ["Run"] : []), ...metrics.map((metric) => words(metric.title))];
  const content = tableOf(heads, groups.flatMap(one));
  content.classList.add("heat");
  content.style.setProperty("--columns", metrics.length);
  return content;
}

addEventListener("beforeprint", () => document.querySelectorAll(".by-label").forEach((each) => (each.open = true)));

// Of truth values the axis says yes and no.
const peopleAxis = (label, name) =>
  label.is_truth
    ? { low: 0, high: 1, name, ticks: [[0, "no"], [1, "yes"]] }
    : axisOf(label.ends[0], label.ends[1] > label.ends[0] ? label.ends[1] : label.ends[0] + 1, name);

function metricsAgainstPeople() {
  if (!overview.people) return null;
  const { labels, notes } = overview.people;
  const figures = labels.flatMap((label) =>
    metrics.map((metric, position) => {
      const values = valuesOf(position, 0);
      const points = label.values.flatMap(([row, said]) => (isNumber(values[row]) ? [[row, said, values[row]]] : []));
      if (!points.length) return null;
      const [spearman, n] = label.correlations[position];
      const title = `${words(metric.title)} and ${label.name}`;
      const told = `${plural(n, "sample")}${spearman ? `, Spearman ${spearman}` : ""}${metric.lower_is_better ? "; lower is better" : ""}`;
      const y = axisOf(lowest(metric, points.map(([, , value]) => value)), metric.high, cutInside(words(metric.title), 30));
      return figure(
        title,
        scatter(`${title}: ${told}`, peopleAxis(label, cutInside(label.name, 30)), y, points),
        h.p("small", el("a", { href: samplesAt(points.map(([row]) => row)) }, plural(n, "sample")), told.slice(plural(n, "sample").length)),
      );
    }),
  );
  return section(
    "Metrics against people",
    h.div("figures", figures),
    figures.some(Boolean)
      ? h.p("muted small", "People’s label is across, the metric upwards. Each point is a sample, or several at the same place; it leads to them. Spearman’s correlation has its 95% interval.")
      : null,
    notes.map((note) => h.p("muted small", note)),
  );
}

function ratersAgainstRaters() {
  const figures = (overview.people?.labels ?? []).flatMap((label) =>
    label.pairs.map(([one, other, points]) => {
      const equal = points.filter(([, x, y]) => x === y).length;
      const told = `${equal} of ${plural(points.length, "sample")} have the same label from both`;
      return figure(
        `${label.name}: ${one} and ${other}`,
        scatter(`${one} across, ${other} upwards: ${told}`, peopleAxis(label, cutInside(one, 30)), peopleAxis(label, cutInside(other, 30)), points, {
          diagonal: true,
          kind: ({ x, y }) => (x === y ? "muted" : "no"),
        }),
        h.p("small", el("a", { href: samplesAt(points.filter(([, x, y]) => x !== y).map(([row]) => row)) }, plural(points.length - equal, "difference")), `; ${told}`),
      );
    }),
  );
  return figures.length ? section("Annotator against annotator", h.div("figures", figures)) : null;
}

// A line through estimates with their intervals; each point leads to its samples.
const trace = (points, atX, atY, run) => [
  drawn("polyline", { class: `trace ${run ? "second" : "first"}`, points: points.map(({ x, mean }) => `${atX(x)},${atY(mean)}`).join(" ") }),
  points.map(({ x, mean, low, high, rows, told }) => [
    isNumber(low) ? drawn("line", { class: `spread ${run ? "second" : "first"}`, x1: atX(x), x2: atX(x), y1: atY(low), y2: atY(high) }) : null,
    leading(samplesAt(rows), told, drawn("circle", { class: run ? "second" : "first", cx: atX(x), cy: atY(mean), r: 4 })),
  ]),
];

function calibrationCurves() {
  const figures = (overview.people?.verdicts ?? []).map(({ title, n, error, bins }) => {
    const told = `${plural(n, "verdict")}, expected calibration error ${number(error)}`;
    const points = bins.map(({ mean, share, n: count, rows }) => ({
      x: mean,
      mean: share[0],
      low: share[1],
      high: share[2],
      rows,
      told: `${plural(count, "verdict")} at ${mean.toFixed(2)}: ${share[0].toFixed(2)} supported`,
    }));
    const size = { x: axisOf(0, 1, "judge’s probability"), y: axisOf(0, 1, "share that people support"), width: 280, height: 250 };
    return figure(
      title,
      picture(`${title}: ${told}`, size, (atX, atY) => [
        drawn("line", { class: "axis dashed", x1: atX(0), y1: atY(0), x2: atX(1), y2: atY(1) }),
        trace(points, atX, atY, 0),
      ]),
      h.p("small", told),
    );
  });
  return figures.length
    ? section(
        "Calibration of the judge",
        h.div("figures", figures),
        h.p("muted small", "On the dashed line a verdict’s probability is the share of such verdicts that people support. Lines are 95% intervals (Wilson)."),
      )
    : null;
}

function trends() {
  return overview.times.map(({ name, spans }) => {
    const [first, last] = [spans[0].time, spans.at(-1).time];
    const dated = (time) => new Date(time * 1000).toISOString().slice(...(last - first < 172800 ? [5, 16] : [0, 10])).replace("T", " ");
    const x = { low: first, high: last, name, ticks: [first, last].map((time) => [time, dated(time)]) };
    const figures = metrics.flatMap((metric, position) => {
      const lines = spans[0].sides.map((_, run) =>
        spans.flatMap(({ time, rows, sides }) => {
          const [mean, low, high, n] = sides[run][position];
          return isNumber(mean) ? [{ x: time, mean, low, high, rows, told: `${dated(time)}: ${number(mean)}, n ${n}` }] : [];
        }),
      );
      if (lines.flat().length < 2) return [];
      const y = axisOf(Math.max(0, metric.low), metric.high, cutInside(words(metric.title), 30));
      const told = lines.map((points) => points.map((point) => point.told).join("; ")).join("; second run: ");
      return figure(
        words(metric.title),
        picture(`${metric.title} over time: ${told}`, { x, y, width: 280, height: 220 }, (atX, atY) =>
          lines.map((points, run) => trace(points, atX, atY, run)),
        ),
      );
    });
    return figures.length
      ? section(
          `Over time: ${name}`,
          h.div("figures", figures),
          h.p("muted small", "Means of spans of equal length with their 95% intervals, the latest on the right. A point leads to its samples."),
        )
      : null;
  });
}
