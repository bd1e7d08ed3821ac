// Pictures of the first page: where the scores are low, and the samples behind each part.

// The fifth of a metric's range in which a value lies: 0 is the worst one.
const fifth = (value, metric) => {
  const at = metric.lower_is_better ? 1 - place(value, metric) : place(value, metric);
  return Math.max(0, Math.min(4, Math.floor(at * 5)));
};
const FIFTHS = ["worst fifth of the range", "second worst", "middle", "second best", "best fifth"];
const worstFirst = (position) => `sort=m${position}${metrics[position].lower_is_better && !two ? "&down=1" : ""}`;

function labelTables() {
  const { tables, left_out } = overview.labels;
  if (!tables.length && !left_out.length) return null;
  return section(
    "Means by label",
    tables.map(labelTable),
    tables.length
      ? [
          h.p(
            "legend small",
            "Colour: ",
            FIFTHS.map((told, at) => h.span(`heat-${at}`, told)),
          ),
          h.p(
            "muted small",
            "Each cell has the mean, its 95% interval and the number of scores; it leads to its samples. The value with the lowest scores comes first. Many cells are compared here: some are low by chance.",
          ),
        ]
      : null,
    left_out.length
      ? h.p("muted small", "Without a table: ", left_out.map(([name, why]) => `${name} (${why})`).join("; "), ".")
      : null,
  );
}

// A table of many values is folded.
function labelTable({ name, groups }) {
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
          h.div("small", low === null ? "" : `${low.toFixed(2)} to ${high.toFixed(2)}`),
          h.div("small", `n ${n}`),
        );
      }),
    ]);
  };
  const heads = [name, ...(two ? ["Run"] : []), ...metrics.map((metric) => words(metric.title))];
  const content = tableOf(heads, groups.flatMap(one));
  content.classList.add("heat");
  content.style.setProperty("--columns", metrics.length);
  return groups.length <= 12 ? [h.h3("", bidi(name)), content] : folded(`${name}: ${groups.length} rows`, content);
}
