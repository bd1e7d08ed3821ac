// The first page: means, differences of two runs, where to look first, causes of failures, cost and origin.

function showOverview() {
  const runs = overview.runs;
  const heading = two ? [tag(0), runs[0].name, " and ", tag(1), runs[1].name] : runs[0].name;
  fill(
    runs.map((run) => run.name).join(" and "),
    h.h1("", heading),
    h.p(
      "lead",
      two
        ? `${plural(overview.only[2], "sample")} in both runs; ${overview.only[0]} only in the first, ${overview.only[1]} only in the second` +
            (overview.changed ? `; ${overview.changed} have other texts in the second run` : "")
        : `${plural(runs[0].samples, "sample")} · ${plural(metrics.length, "metric")} · began ${runs[0].started}`,
    ),
    runs.map((run) =>
      run.finished
        ? null
        : h.p(
            "notice",
            `The run ${two ? run.name + " " : ""}is not finished: the numbers are of what it has so far.`,
          ),
    ),
    runs.map((run) => (run.failed_total ? causes(run) : null)),
    two ? comparison() : null,
    means(),
    worst(),
    runs.map((run) => (run.funnel ? retrieval(run) : null)),
    runs.map((run) => (run.failed_total ? null : causes(run))),
    runs.map(origin),
  );
}

function means() {
  const heads = [
    "Metric",
    ...(two ? ["Run"] : []),
    "Mean",
    "95% interval",
    "Distribution",
    "n",
    "Worst to best case",
    "By status",
  ];
  const body = metrics.flatMap((metric, position) =>
    metric.sides.map(
      (side, which) =>
        side &&
        h.tr(
          "",
          which === 0 || !metric.sides[0]
            ? el(
                "th",
                { scope: "row", rowspan: metric.sides.filter(Boolean).length },
                el("a", { href: `#samples=&sort=m${position}` }, metric.title),
                h.div("muted small", side.signature),
              )
            : null,
          two ? h.td("", tag(which)) : null,
          h.td("num big", side.value === null ? h.span("muted", "none") : number(side.value)),
          h.td(
            "num",
            side.interval ? range(side.interval) : "",
            side.sd === null ? "" : h.div("muted small", `sd ${number(side.sd)}`),
          ),
          which === 0 || !metric.sides[0]
            ? el("td", { rowspan: metric.sides.filter(Boolean).length }, plot(metric.plot, distributionText(metric)))
            : null,
          h.td("num", `${side.n} of ${side.total}`),
          h.td(
            "num",
            side.worst === null
              ? ""
              : Math.abs(side.best - side.worst) > 5e-4
                ? h.span("open", range([side.worst, side.best]))
                : h.span("muted", "all known"),
          ),
          h.td(
            "",
            Object.entries(side.statuses).map(([status, times]) =>
              el(
                "a",
                {
                  class: `chip ${STATUS[status][1]}`,
                  href: `#samples=&metric=${position}&status=${status}`,
                },
                `${STATUS[status][0]} ${times} ${words(status)}`,
              ),
            ),
            side.abstained
              ? el("a", { class: "chip none", href: "#samples=&finding=abstained" }, `${side.abstained} abstained`)
              : null,
          ),
        ),
    ),
  );
  return h.section(
    "",
    h.h2("", two ? "Means of each run" : "Means"),
    h.div(
      "wide",
      h.table(
        "means",
        h.thead(
          "",
          h.tr(
            "",
            heads.map((head) => el("th", { scope: "col" }, head)),
          ),
        ),
        h.tbody("", body),
      ),
    ),
    overview.runs.map((run, which) =>
      run.clusters.map((told) => h.p("small", two ? [tag(which), " "] : "", `${told}.`)),
    ),
    h.p(
      "muted small",
      "Intervals: Student’s, of the mean over samples or clusters of them. Worst and best case: the mean if every score that failed or is incomplete had come out as low, or as high, as possible.",
    ),
  );
}

const distributionText = (metric) =>
  `Distribution of ${metric.title}: ` +
  metric.sides
    .filter(Boolean)
    .map((side) => `mean ${number(side.value)}, n ${side.n}`)
    .join("; ");

const isPaired = (position) => metrics[position].sides.every(Boolean) && metrics[position].sides.length === 2;

const probability = (p) => (p === null ? "" : p < 0.001 ? "< 0.001" : p.toFixed(3));

function comparison() {
  const without = metrics.filter((_, position) => !overview.differences[position]);
  const told = {
    better: ["✓ better", "yes"],
    worse: ["✗ worse", "no"],
    "cannot tell": ["≈ cannot tell", "none"],
  };
  if (without.length === metrics.length)
    return h.section(
      "",
      h.h2("", "Differences, sample by sample"),
      h.p("notice", overview.not_compared || "The runs share no metric that both measure in the same way."),
    );
  return h.section(
    "",
    h.h2("", "Differences, sample by sample"),
    h.div(
      "wide",
      h.table(
        "means",
        h.thead(
          "",
          h.tr(
            "",
            ["Metric", "Second less first", "95% interval", "", "The second run is", "p (Holm)", "Pairs", "Samples"].map((head) =>
              el("th", { scope: "col" }, head),
            ),
          ),
        ),
        h.tbody(
          "",
          overview.differences.map(
            (each, position) =>
              each &&
              h.tr(
                "",
                el(
                  "th",
                  { scope: "row" },
                  el("a", { href: `#samples=&sort=m${position}` }, metrics[position].title),
                  each.lower_is_better ? h.div("muted small", "lower is better") : null,
                ),
                h.td("num big", each.mean === null ? h.span("muted", "none") : signed(each.mean)),
                h.td("num", each.interval ? `${signed(each.interval[0])} to ${signed(each.interval[1])}` : ""),
                h.td(
                  "",
                  each.plot
                    ? plot(
                        each.plot,
                        `Difference ${signed(each.mean)}, interval ${signed(each.interval[0])} to ${signed(each.interval[1])}`,
                      )
                    : "",
                ),
                h.td(
                  "",
                  h.span(`chip ${told[each.verdict][1]}`, told[each.verdict][0]),
                  each.note ? h.div("muted small", each.note) : null,
                ),
                h.td("num", probability(each.holm)),
                h.td("num", each.n),
                h.td(
                  "",
                  el("a", { class: `chip ${each.lower_is_better ? "no" : "yes"}`, href: `#samples=&metric=${position}&moved=up` }, `▲ ${each.up}`),
                  el("a", { class: `chip ${each.lower_is_better ? "yes" : "no"}`, href: `#samples=&metric=${position}&moved=down` }, `▼ ${each.down}`),
                ),
              ),
          ),
        ),
      ),
    ),
    without.length
      ? h.p("muted small", `Not measured in the same way by both runs: ${without.map((metric) => metric.title).join(", ")}.`)
      : null,
    h.p(
      "muted small",
      "Each sample is compared with itself, as “ragmetrics study compare” does. The interval is of the mean difference (paired bootstrap). “Better” and “worse” mean that it lies on one side of zero, with lost scores at their worst, and that the sign-flip permutation test, adjusted by Holm for all tests, gives p below 0.05.",
    ),
  );
}

function worst() {
  const rows = table.ids.map((_, row) => row).slice(0, 5);
  return h.section(
    "",
    h.h2("", two ? "What fell most" : "Where to look first"),
    h.ol(
      "plain",
      rows.map((row) =>
        h.li(
          "",
          linkTo(row, null, table.ids[row]),
          " ",
          el("span", { dir: "auto", class: "isolate" }, table.questions[row]),
          " ",
          findings(row),
        ),
      ),
    ),
    h.p("", el("a", { href: "#samples" }, `All ${plural(table.ids.length, "sample")}`)),
  );
}

function causes(run) {
  const parts = [];
  const list = (title, items, more) =>
    items.length && parts.push(h.h3("", title), h.ul("", items, more ? h.li("muted", `and ${more} more`) : null));
  list(
    `${plural(run.failed_total, "score")} of ${run.scores.toLocaleString("en")} failed`,
    run.failed.map(([status, reason, times]) =>
      h.li(
        "",
        `${times} × `,
        h.span("no", `✗ ${words(status)}`),
        ": ",
        el("span", { dir: "auto", class: "isolate" }, reason),
      ),
    ),
    run.failed_more,
  );
  list(
    "Skipped",
    run.skipped.map(([metric, field, times]) => h.li("", `${metric}: ${plural(times, "sample")} without ${field}`)),
  );
  list(
    `${plural(run.rejected_total, "row")} of the data ${run.rejected_total === 1 ? "is" : "are"} no sample`,
    run.rejected.map(([where, message]) => h.li("", `${where}: ${message}`)),
    run.rejected_total - run.rejected.length,
  );
  list(
    "Notes",
    run.notes.map((note) => el("li", { dir: "auto" }, note)),
  );
  return parts.length
    ? h.section("", h.h2("", two ? `Failures and notes of ${run.name}` : "Failures and notes"), parts)
    : null;
}

function origin(run) {
  const tally = new Map(run.tally);
  const named = [
    ["calls", "calls"],
    ["cached", "from the journal"],
    ["shared", "answered by a call already made"],
    ["retried", "asked again after a failure"],
    ["failed", "failed"],
    ["embedded", "texts embedded"],
    ["rated", "pairs rated"],
    ["prompt_tokens", "tokens read"],
    ["completion_tokens", "tokens written"],
  ];
  const cost = named
    .filter(([name]) => tally.get(name))
    .map(([name, what]) => `${tally.get(name).toLocaleString("en")} ${what}`)
    .join(" · ");
  const facts = [
    ["cost", run.tally.length ? cost || "no call was made" : "unknown: the run did not finish"],
    ...run.models,
    ...(run.source ? [["data", run.source]] : []),
    ["began", run.started],
    ...(run.repeats > 1 ? [["repeats", run.repeats]] : []),
    ["versions", run.versions.map((pair) => pair.join(" ")).join(", ")],
  ];
  return h.section(
    "",
    h.h2("", two ? `Cost and origin of ${run.name}` : "Cost and origin"),
    facts_of(facts),
    run.prompts.length
      ? h.details(
          "",
          h.summary("", plural(run.prompts.length, "prompt")),
          h.ul(
            "mono small",
            run.prompts.map(([name, digest]) => h.li("", `${name}  ${digest}`)),
          ),
        )
      : null,
  );
}

function retrieval(run) {
  const { shown, rows, used, findings, plot: picture } = run.funnel;
  const heads = ["stage", "samples", "chunks", "hit", "recall", "lost here"];
  return h.section(
    "",
    h.h2("", two ? `What became of the retrieval of ${run.name}` : "What became of the retrieval"),
    shown.map((line) => h.p("", line)),
    picture
      ? plot(picture, rows.map(([name, , , , recall]) => `${name}: ${recall || "unknown"}`).join("; "))
      : null,
    h.table(
      "",
      h.thead(
        "",
        h.tr(
          "",
          heads.map((head) => h.th("", head)),
        ),
      ),
      h.tbody(
        "",
        rows.map(([name, ...cells]) =>
          h.tr(
            "",
            h.td("", name),
            cells.map((cell) => h.td("num", cell)),
          ),
        ),
      ),
    ),
    used ? h.p("muted", `${used} of the shown chunks are used by a supported statement.`) : null,
    findings.length
      ? h.ul(
          "",
          findings.map(([id, finding, what]) => h.li("", `${id}: ${finding}${what ? ` (${what})` : ""}`)),
        )
      : null,
  );
}

const facts_of = (pairs) =>
  h.dl(
    "",
    pairs.flatMap(([name, value]) => [h.dt("", name), el("dd", { dir: "auto" }, value)]),
  );
const findings = (row) =>
  [...new Set(table.findings[row].flat())].map((code) => h.span("chip open", `! ${FINDINGS[code] || words(code)}`));
