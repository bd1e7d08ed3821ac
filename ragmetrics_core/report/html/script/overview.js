// The first page: means, differences of two runs, pictures, where to look first, causes of failures, cost and origin.

function showOverview() {
  const runs = overview.runs;
  const failing = runs.filter((run) => run.failed_total);
  fill(
    runs.map((run) => run.name).join(" and "),
    h.h1("", two ? [tag(0), runs[0].name, " and ", tag(1), runs[1].name] : runs[0].name),
    h.p(
      "lead",
      two
        ? `${plural(overview.only[2], "sample")} in both runs; ${overview.only[0]} only in the first, ${overview.only[1]} only in the second` +
            (overview.changed ? `; ${overview.changed} have other texts in the second run` : "")
        : `${plural(runs[0].samples, "sample")} · ${plural(metrics.length, "metric")} · began ${runs[0].started}`,
    ),
    runs
      .filter((run) => !run.finished)
      .map((run) => h.p("notice", `The run${ofRun(run, " ")} is not finished: the numbers cover only its samples so far.`)),
    overview.doubts?.map((doubt) => h.p("notice", `${doubt[0].toUpperCase()}${doubt.slice(1)}.`)),
    failing.map(causes),
    two ? comparison() : null,
    means(),
    labelTables(),
    failureKinds(),
    section(
      two ? "What fell most" : "Where to look first",
      h.ol(
        "plain",
        table.ids
          .slice(0, 5)
          .map((id, row) => h.li("", linkTo(row, null, id), " ", bidi(table.questions[row]), " ", findings(row))),
      ),
      h.p("", el("a", { href: "#samples" }, `All ${plural(table.ids.length, "sample")}`)),
    ),
    two ? runAgainstRun() : null,
    metricsAgainstPeople(),
    ratersAgainstRaters(),
    calibrationCurves(),
    trends(),
    runs.map((run) => (run.funnel ? retrieval(run) : null)),
    runs.filter((run) => !run.failed_total).map(causes),
    runs.map(origin),
  );
}

const ofRun = (run, between) => (two ? between + run.name : "");
const sortedBy = (position) => el("a", { href: `#samples=&sort=m${position}` }, metrics[position].title);
const chip = (kind, filter, ...content) => el("a", { class: `chip ${kind}`, href: `#samples=&${filter}` }, content);

function means() {
  const heads = ["Metric", "Mean", "95% interval", "Distribution", "n", "Worst to best case", "By status"];
  if (two) heads.splice(1, 0, "Run");
  const rowOf = (metric, position) => (side, at, sides) => {
    const rowspan = sides.length;
    const told = sides.map((each) => `mean ${number(each.value)}, n ${each.n}`).join("; ");
    const isKnown = side.worst !== null && side.best !== null;
    const isOpen = isKnown && Math.abs(side.best - side.worst) > 5e-4;
    const name = [sortedBy(position), h.div("muted small", side.metric)];
    return [
      at === 0 ? el("th", { scope: "row", rowspan }, name) : null,
      ...(two ? [h.td("", tag(metric.sides.indexOf(side)))] : []),
      h.td("num big", side.value === null ? h.span("muted", "none") : number(side.value)),
      h.td(
        "num",
        side.interval ? range(side.interval) : "",
        side.sd === null ? "" : h.div("muted small", `sd ${number(side.sd)}`),
      ),
      at === 0 ? el("td", { rowspan }, distribution(position, `Distribution of ${metric.title}: ${told}`)) : null,
      h.td("num", `${side.n} of ${side.total}`),
      h.td("num", isOpen ? h.span("open", range([side.worst, side.best])) : isKnown && h.span("muted", "all known")),
      h.td(
        "",
        Object.entries(side.statuses).map(([status, times]) =>
          chip(
            STATUS[status][1],
            `metric=${position}&status=${status}`,
            `${STATUS[status][0]} ${times} ${words(status)}`,
          ),
        ),
        side.abstained ? chip("none", "finding=abstained", `${side.abstained} abstained`) : null,
      ),
    ];
  };
  return section(
    two ? "Means of each run" : "Means",
    tableOf(
      heads,
      metrics.flatMap((metric, position) => metric.sides.filter(Boolean).map(rowOf(metric, position))),
    ),
    overview.runs.map((run, which) =>
      [answers(run.declines), ...run.clusters].map((told) => h.p("small", two ? [tag(which), " "] : "", `${told}.`)),
    ),
    h.p(
      "muted small",
      "Intervals: Student’s t for the mean over samples or clusters. Distribution: a bar for the samples of similar score, a line at the mean; a bar leads to its samples. Worst and best case: the mean if every failed or incomplete score had its lowest or highest possible value.",
    ),
  );
}

const answers = (counts) =>
  `Answers: ${counts.answered} answered, ${counts.declined} declined, ${counts.undecided} undecided`;
const isPaired = (position) => metrics[position].sides.every(Boolean) && metrics[position].sides.length === 2;
const probability = (p) => (p === null ? "" : p < 0.001 ? "< 0.001" : p.toFixed(3));
const VERDICTS = {
  better: ["✓ better", "yes"],
  worse: ["✗ worse", "no"],
  "cannot tell": ["≈ cannot tell", "none"],
};

function comparison() {
  const title = "Differences, sample by sample";
  const without = metrics.filter((_, position) => !overview.differences[position]);
  if (without.length === metrics.length)
    return section(
      title,
      h.p("notice", overview.not_compared || "The runs have no metric that both measured in the same way."),
    );
  const row = (each, position) => {
    const [up, down] = each.lower_is_better ? ["no", "yes"] : ["yes", "no"];
    const [verdict, kind] = VERDICTS[each.verdict];
    const interval = each.interval ? each.interval.map(signed).join(" to ") : "";
    const isLow = each.lower_is_better && h.div("muted small", "lower is better");
    return [
      el("th", { scope: "row" }, sortedBy(position), isLow),
      h.td("num big", each.mean === null ? h.span("muted", "none") : signed(each.mean)),
      h.td("num", interval, each.interval && h.div("", differencePicture(each, `Difference ${signed(each.mean)}, interval ${interval}`))),
      h.td("", h.span(`chip ${kind}`, verdict), each.note ? h.div("muted small", each.note) : null),
      h.td("num", probability(each.holm)),
      h.td("num", each.n),
      h.td(
        "",
        chip(up, `metric=${position}&moved=up`, `▲ ${each.up}`),
        chip(down, `metric=${position}&moved=down`, `▼ ${each.down}`),
      ),
    ];
  };
  return section(
    title,
    tableOf(
      ["Metric", "Second minus first", "95% interval", "The second run is", "p (Holm)", "Pairs", "Samples"],
      overview.differences.flatMap((each, position) => (each ? [row(each, position)] : [])),
    ),
    without.length
      ? h.p(
          "muted small",
          `Not measured in the same way in both runs: ${without.map((metric) => metric.title).join(", ")}.`,
        )
      : null,
    h.p(
      "muted small",
      "Scores are paired by sample, as in “ragmetrics study compare”. The interval is for the mean difference (paired bootstrap). “Better” and “worse” require that the interval with lost scores at their worst lies on one side of zero, and that the sign-flip permutation test, adjusted by Holm for all tests, gives p below 0.05.",
    ),
  );
}

function causes(run) {
  const isOne = run.rejected_total === 1;
  const lists = [
    [
      `${plural(run.failed_total, "score")} of ${run.scores.toLocaleString("en")} failed`,
      run.failed.map(([status, reason, times]) => [`${times} × `, h.span("no", `✗ ${words(status)}`), `: ${reason}`]),
      run.failed_more,
    ],
    ["Skipped", run.skipped.map(([metric, field, times]) => `${metric}: ${plural(times, "sample")} without ${field}`)],
    [
      `${plural(run.rejected_total, "row")} of the data ${isOne ? "is not a sample" : "are not samples"}`,
      run.rejected.map((row) => row.join(": ")),
      run.rejected_total - run.rejected.length,
    ],
    ["Notes", run.notes],
  ].filter(([, items]) => items.length);
  return lists.length
    ? section(
        `Failures and notes${ofRun(run, " of ")}`,
        lists.map(([title, items, left]) => [
          h.h3("", title),
          listed(items),
          left ? h.p("muted", `and ${left} more`) : null,
        ]),
      )
    : null;
}

const TALLY = {
  calls: "calls",
  cached: "from the cache",
  shared: "answered by a call already made",
  retried: "asked again after a failure",
  failed: "failed",
  embedded: "texts embedded",
  rated: "pairs rated",
  prompt_tokens: "tokens read",
  completion_tokens: "tokens written",
};

function origin(run) {
  const cost = Object.entries(TALLY)
    .filter(([name]) => run.tally[name])
    .map(([name, what]) => `${run.tally[name].toLocaleString("en")} ${what}`)
    .join(" · ");
  const isKnown = Object.keys(run.tally).length > 0;
  return section(
    `Cost and origin${ofRun(run, " of ")}`,
    factsOf(known([
      ["cost", isKnown ? cost || "no call was made" : "unknown: the run did not finish"],
      ["judge", run.judge && [run.judge, run.judge_lines.map((line) => h.div("muted small", line))]],
      ...["embedder", "scorer"].map((name) => [name, run[name]]),
      ["data", run.source],
      ["began", run.started],
      ["repeats", run.repeats > 1 && run.repeats],
      ["versions", run.versions.map((pair) => pair.join(" ")).join(", ")],
    ])),
    run.prompts.length
      ? folded(plural(run.prompts.length, "prompt"), h.ul("mono small", run.prompts.map((pair) => h.li("", pair.join("  ")))))
      : null,
  );
}

function retrieval(run) {
  const { shown: lines, rows, used, findings: found, recall } = run.funnel;
  return section(
    `Retrieval, stage by stage${ofRun(run, " of ")}`,
    lines.map((line) => h.p("", line)),
    tableOf(
      ["stage", "samples", "chunks", "hit", "recall", "lost here"],
      rows.map(([name, ...cells], stage) => [
        h.td("", name),
        ...cells.map((cell, at) => h.td("num", cell, at === 3 && isNumber(recall[stage]) ? shareBar(recall[stage]) : null)),
      ]),
    ),
    used ? h.p("muted", `${used} of the chunks that the model received support a statement.`) : null,
    found.length ? listed(found.map(([id, finding, what]) => `${id}: ${finding}${what ? ` (${what})` : ""}`)) : null,
  );
}
