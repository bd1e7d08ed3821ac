"use strict";
// The page of a report. Data reaches the page only as text nodes and as attributes that name nothing to load
// or to run: there is no innerHTML, and the content security policy forbids it (trusted types).
(() => {
  const SYMBOL = { true: "✓", false: "✗", null: "?" };
  const KIND = { true: "yes", false: "no", null: "open" };
  const STATUS = {
    ok: ["✓", "yes"],
    incomplete: ["◐", "open"],
    undefined: ["∅", "none"],
    skipped: ["–", "none"],
    parse_error: ["✗", "no"],
    model_error: ["✗", "no"],
    timeout: ["✗", "no"],
    cancelled: ["✗", "no"],
  };
  const FINDINGS = {
    abstained: "abstained",
    missed_retrieval: "missed retrieval",
    unsupported_statement: "unsupported",
    answered_from_outside: "from outside",
    wrong_though_supported: "wrong though supported",
  };
  const PLOT = {
    light: { "#010101": "#40464f", "#020202": "#8a919c", "#030303": "#2463b5", "#040404": "#b4540a" },
    dark: { "#010101": "#c3cad4", "#020202": "#6d7682", "#030303": "#7fb2ff", "#040404": "#ffae62" },
  };
  const ROW = 34,
    BEYOND = 12;
  const page = document.getElementById("page");
  const loaded = new Map();
  let overview, table, count, metrics, two;
  let shown = []; // the numbers of the rows that the filter leaves, in their order
  let marked = 0; // which of them the keyboard stands on
  let cleanUp = () => {};

  // --- building blocks

  function el(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === null || value === undefined) continue;
      else if (name.startsWith("aria-")) made.setAttribute(name, String(value));
      else if (value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(
      ...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false && each !== ""),
    );
    return made;
  }
  // h.p("muted", ...) is a paragraph of the class "muted"
  const h = new Proxy(
    {},
    {
      get:
        (_, tag) =>
        (kind, ...children) =>
          el(tag, { class: kind || null }, ...children),
    },
  );
  const number = (value, digits = 3) => (value === null || value === undefined ? "none" : value.toFixed(digits));
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(3);
  const words = (name) => name.replaceAll("_", " ");
  const plural = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
  const range = (pair) => `${number(pair[0])} to ${number(pair[1])}`;
  const place = (value, metric) => (value - Math.max(metric.low, 0)) / (metric.high - Math.max(metric.low, 0));
  const level = (value, metric) => {
    const at = metric.lower_is_better ? 1 - place(value, metric) : place(value, metric);
    return at >= 0.75 ? "yes" : at >= 0.5 ? "open" : "no";
  };
  const text = (cut) => cut[0];
  const flow = (tag, content, extra) => el(tag, { dir: "auto", class: "flow", ...extra }, content);
  const rest = (cut) =>
    cut && cut[1] ? h.p("muted", `… ${cut[1].toLocaleString("en")} more characters are not shown here.`) : null;

  async function read(name) {
    if (!loaded.has(name)) {
      loaded.set(
        name,
        (async () => {
          if (!document.getElementById(`d-${name}`) && document.readyState === "loading")
            await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
          const node = document.getElementById(`d-${name}`);
          const bytes = Uint8Array.from(atob(node.textContent), (char) => char.charCodeAt(0));
          const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
          return JSON.parse(await new Response(stream).text());
        })(),
      );
    }
    return loaded.get(name);
  }

  function plot(svg, told) {
    if (!svg) return h.span("muted", "no values");
    return Object.entries(PLOT).map(([theme, colours]) =>
      el("img", {
        class: `plot for-${theme}`,
        alt: told,
        src: "data:image/svg+xml;base64," + btoa(svg.replace(/#0[1-4]0[1-4]0[1-4]/g, (found) => colours[found])),
      }),
    );
  }

  // --- places: what is after # in the address

  const here = () => new URLSearchParams(location.hash.slice(1));
  const isSame = (row) =>
    table.ids[row].length <= 150 && !table.ids[row].endsWith("…") && count.get(table.ids[row]) === row;
  const address = (row, metric) => {
    const to = new URLSearchParams(isSame(row) ? { sample: table.ids[row] } : { row });
    if (metric !== undefined && metric !== null) to.set("metric", metrics[metric].key);
    return `#${to}`;
  };
  function linkTo(row, metric, ...children) {
    if (table.chunks[row] < 0 && table.pages[row]) {
      // proofs of this sample are on a further page of this report; only numbers of ours name it
      const file = String(table.pages[row]).padStart(4, "0");
      return el("a", { href: `${encodeURIComponent(table.folder)}/${file}.html${address(row, metric)}` }, ...children);
    }
    return el("a", { href: address(row, metric) }, ...children);
  }

  function show() {
    const at = here();
    cleanUp();
    cleanUp = () => {};
    for (const link of document.querySelectorAll("nav a")) link.removeAttribute("aria-current");
    const current = (name) => document.getElementById(name)?.setAttribute("aria-current", "page");
    if (at.has("sample") || at.has("row")) {
      const row = at.has("sample") ? count.get(at.get("sample")) : Number(at.get("row"));
      current("to-samples");
      if (row === undefined || !(row in table.ids)) return absent();
      return showSample(row, at.get("metric"));
    }
    if (at.has("samples") || table.whole) {
      current("to-samples");
      return showSamples(at);
    }
    current("to-overview");
    return showOverview();
  }

  function fill(title, ...children) {
    document.title = `${title} · ragmetrics`;
    page.replaceChildren(...children.flat(Infinity).filter(Boolean));
    scrollTo(0, 0);
  }

  function absent() {
    fill(
      "No such sample",
      h.h1("", "There is no such sample in this report"),
      h.p("", el("a", { href: "#samples" }, "All samples")),
    );
  }

  // --- overview

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
                : side.best - side.worst > 5e-4
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
      h.p(
        "muted small",
        "Intervals: Student’s, of the mean over samples. Worst and best case: the mean if every score that failed or is incomplete had come out as low, or as high, as possible.",
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
        "Each sample is compared with itself, as “ragmetrics study compare” does. The interval is of the mean difference (paired bootstrap over samples). “Better” and “worse” mean that it lies on one side of zero and that Wilcoxon’s signed-rank test, adjusted by Holm for the number of metrics, gives p below 0.05.",
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

  const facts_of = (pairs) =>
    h.dl(
      "",
      pairs.flatMap(([name, value]) => [h.dt("", name), el("dd", { dir: "auto" }, value)]),
    );
  const findings = (row) =>
    [...new Set(table.findings[row].flat())].map((code) => h.span("chip open", `! ${FINDINGS[code] || words(code)}`));

  // --- samples: filter, sort, a window on the rows

  function wanted(at) {
    const look = (at.get("q") || "").toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const metric =
      at.has("metric") && at.get("metric") !== "" ? [Number(at.get("metric"))] : metrics.map((_, position) => position);
    const status = at.get("status"),
      finding = at.get("finding"),
      moved = at.get("moved");
    const low = at.get("from") ? Number(at.get("from")) : null,
      high = at.get("to") ? Number(at.get("to")) : null;
    const label = at.get("label");
    const sides = (position) => table.metrics[position];
    return table.ids
      .map((_, row) => row)
      .filter(
        (row) =>
          (!look.length ||
            ((table.search ??= searchable())[row] && look.every((word) => table.search[row].includes(word)))) &&
          (!status ||
            metric.some(
              (position) => sides(position)[0] && sides(position).some((side) => side.statuses[row] === status),
            )) &&
          ((low === null && high === null) ||
            metric.some((position) => {
              const value = sides(position).at(-1).values[row];
              return value !== null && (low === null || value >= low) && (high === null || value <= high);
            })) &&
          (!finding || table.findings[row].flat().includes(finding)) &&
          (!label || Object.entries(table.labels[row]).some(([name, value]) => `${name}: ${value}` === label)) &&
          (!moved ||
            metric.some((position) => {
              const by = difference(position, row);
              return by !== null && (moved === "up" ? by > 0 : moved === "down" ? by < 0 : by === 0);
            })),
      );
  }
  const searchable = () =>
    table.ids.map((id, row) =>
      [id, table.questions[row], table.answers[row], ...Object.entries(table.labels[row]).flat()]
        .join("\n")
        .toLocaleLowerCase(),
    );
  const difference = (position, row) => {
    const [first, second] = table.metrics[position].map((side) => side.values[row]);
    return first === undefined || first === null || second === null || second === undefined ? null : second - first;
  };

  function sorted(rows, sort, down) {
    let key;
    if (sort === "id") key = (row) => table.ids[row];
    else if (sort === "question") key = (row) => table.questions[row];
    else if (sort && /^m\d+$/.test(sort) && metrics[Number(sort.slice(1))]) {
      const position = Number(sort.slice(1));
      const side = table.metrics[position].find((_, which) => metrics[position].sides[which]);
      key = (row) =>
        two && isPaired(position) ? difference(position, row) : (side.values[row] ?? side.bounds[row]?.[0] ?? null);
    } else return down ? rows.reverse() : rows;
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    return rows.sort((a, b) => {
      const [one, other] = [key(a), key(b)];
      if (one === null || other === null) return (one === null) - (other === null);
      return (down ? -1 : 1) * (typeof one === "string" ? compare(one, other) : one - other);
    });
  }

  function showSamples(at) {
    const control = (name, label, made) => h.label("", label, made);
    const select = (name, options) => {
      const made = el(
        "select",
        { name },
        options.map(([value, told]) => el("option", { value, selected: (at.get(name) || "") === value }, told)),
      );
      return made;
    };
    const labels = new Map();
    table.labels.forEach((pairs) =>
      Object.entries(pairs).forEach(([name, value]) => labels.set(name, (labels.get(name) || new Set()).add(value))),
    );
    const choices = [...labels]
      .filter(([, values]) => values.size <= 30)
      .flatMap(([name, values]) => [...values].sort().map((value) => [`${name}: ${value}`, `${name}: ${value}`]));
    const statuses = [...new Set(table.metrics.flat().flatMap((side) => side.statuses))].filter(Boolean);
    const codes = [...new Set(table.findings.flat(2))];
    const form = el(
      "form",
      {
        class: "filter",
        role: "search",
        "aria-label": "Filter the samples",
        onsubmit: (event) => event.preventDefault(),
        oninput: () => change(),
      },
      control(
        "q",
        "Text",
        el("input", {
          type: "search",
          name: "q",
          value: at.get("q") || "",
          placeholder: "id, question, answer, label",
        }),
      ),
      control(
        "metric",
        "Metric",
        select("metric", [["", "any"], ...metrics.map((metric, position) => [String(position), metric.title])]),
      ),
      control(
        "status",
        "Status",
        select("status", [["", "any"], ...statuses.map((status) => [status, words(status)])]),
      ),
      control("from", "From", el("input", { type: "number", name: "from", step: "any", value: at.get("from") || "" })),
      control("to", "To", el("input", { type: "number", name: "to", step: "any", value: at.get("to") || "" })),
      two
        ? control(
            "moved",
            "Change",
            select("moved", [
              ["", "any"],
              ["down", "▼ lower"],
              ["up", "▲ higher"],
              ["same", "= same"],
            ]),
          )
        : null,
      codes.length
        ? control(
            "finding",
            "Diagnosis",
            select("finding", [["", "any"], ...codes.map((code) => [code, FINDINGS[code] || words(code)])]),
          )
        : null,
      choices.length ? control("label", "Label", select("label", [["", "any"], ...choices])) : null,
      el(
        "button",
        {
          type: "button",
          onclick: () => {
            location.hash = "#samples";
          },
        },
        "Clear",
      ),
    );
    const told = el("p", { role: "status", class: "muted", id: "count" });
    const heads = [
      ["id", "Sample"],
      ["question", "Question"],
      ...metrics.map((metric, position) => [`m${position}`, metric.title]),
      [null, "Diagnosis"],
    ];
    const sort = () => [here().get("sort") || "", here().get("down") === "1"];
    const head = el(
      "tr",
      { "aria-rowindex": 1 },
      heads.map(([key, title]) => {
        const kind = key && key[0] === "m" ? "num" : "";
        return key
          ? el(
              "th",
              { scope: "col", "data-sort": key, class: kind },
              el(
                "button",
                { type: "button", onclick: () => order(key) },
                words(title),
                el("span", { "aria-hidden": "true", class: "arrow" }),
              ),
            )
          : el("th", { scope: "col" }, title);
      }),
    );
    const body = h.tbody("");
    const widths = [6.5, 12, ...metrics.map((_, position) => (two && isPaired(position) ? 9.5 : 6.7)), 14];
    const columns = h.colgroup(
      "",
      widths.map((width, at) => {
        const made = el("col");
        made.style.width = at === 1 ? "" : `${width}em`;
        return made;
      }),
    );
    const grid = el(
      "table",
      { class: "samples", role: "grid", "aria-label": "Samples", "aria-rowcount": 1 },
      columns,
      h.thead("", head),
      body,
    );
    grid.style.minWidth = `${widths.reduce((sum, width) => sum + width, 0)}em`;
    const scroller = el(
      "div",
      { class: "scroller", onscroll: () => requestAnimationFrame(draw), onkeydown: (event) => keys(event) },
      grid,
    );

    function change() {
      const next = new URLSearchParams({ samples: "" });
      for (const [name, value] of new FormData(form)) if (value !== "") next.set(name, value);
      for (const name of ["sort", "down"]) if (here().has(name)) next.set(name, here().get(name));
      history.replaceState(null, "", `#${next}`);
      refresh();
    }
    function order(key) {
      const next = here();
      const [now, down] = sort();
      if (!next.has("samples")) next.set("samples", "");
      next.set("sort", key);
      now === key && !down ? next.set("down", "1") : next.delete("down");
      history.replaceState(null, "", `#${next}`);
      refresh();
    }
    function refresh() {
      const [key, down] = sort();
      shown = sorted(wanted(here()), key, down);
      marked = Math.max(0, shown.indexOf(last));
      told.textContent =
        shown.length === table.ids.length
          ? plural(shown.length, "sample") + (key ? "" : two ? ", those that fell most first" : ", the worst first")
          : `${shown.length.toLocaleString("en")} of ${plural(table.ids.length, "sample")}`;
      grid.setAttribute("aria-rowcount", shown.length + 1);
      for (const cell of head.querySelectorAll("[data-sort]")) {
        const is = cell.dataset.sort === key;
        cell.setAttribute("aria-sort", is ? (down ? "descending" : "ascending") : "none");
        cell.querySelector(".arrow").textContent = is ? (down ? " ▼" : " ▲") : "";
      }
      scroller.scrollTop = Math.max(0, marked * ROW - 200);
      drawn = "";
      draw();
    }
    let drawn = "",
      all = false;
    function draw() {
      const first = all ? 0 : Math.max(0, Math.floor(scroller.scrollTop / ROW) - BEYOND);
      const end = Math.min(shown.length, all ? 500 : first + Math.ceil(scroller.clientHeight / ROW) + 2 * BEYOND);
      if (drawn === `${first} ${end} ${marked}`) return;
      drawn = `${first} ${end} ${marked}`;
      const hadFocus = body.contains(document.activeElement);
      body.replaceChildren(
        gap(first),
        ...shown.slice(first, end).map((row, offset) => line(row, first + offset)),
        gap(shown.length - end),
      );
      if (all && shown.length > end)
        body.append(h.tr("", el("td", { colspan: heads.length }, `${shown.length - end} more are not printed.`)));
      if (hadFocus) body.querySelector("tr[tabindex='0']")?.focus({ preventScroll: true });
    }
    const gap = (rows) => {
      const made = el("tr", { "aria-hidden": "true", class: "gap" }, el("td", { colspan: heads.length }));
      made.style.height = `${all ? 0 : rows * ROW}px`;
      return made;
    };
    function line(row, position) {
      return el(
        "tr",
        {
          "aria-rowindex": position + 2,
          tabindex: position === marked ? 0 : -1,
          "data-row": row,
          onclick: (event) => {
            if (!event.target.closest("a") && !String(getSelection())) open(row);
          },
          onfocus: () => {
            marked = position;
          },
        },
        h.td("", linkTo(row, null, h.bdi("", table.ids[row]))),
        el("td", { dir: "auto", title: table.questions[row] }, table.questions[row]),
        metrics.map((metric, position) => cell(metric, position, row)),
        el("td", { title: [...new Set(table.findings[row].flat())].map(words).join(", ") }, findings(row)),
      );
    }
    function keys(event) {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity }[event.key];
      const isRow = event.target.closest("tr[data-row]");
      if (event.key === "Enter" && isRow && event.target === isRow) return open(Number(isRow.dataset.row));
      if (!step || !isRow || !shown.length) return;
      event.preventDefault();
      marked = Math.min(shown.length - 1, Math.max(0, marked + step));
      const top = marked * ROW,
        seen = scroller.clientHeight - 2 * ROW;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      else if (top > scroller.scrollTop + seen - ROW) scroller.scrollTop = top - seen + ROW;
      draw();
    }
    const print = (now) => {
      all = now;
      drawn = "";
      draw();
    };
    const before = () => print(true),
      after = () => print(false),
      resized = () => draw();
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    addEventListener("resize", resized);
    cleanUp = () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
      removeEventListener("resize", resized);
    };
    fill(
      "Samples",
      h.h1("", "Samples"),
      form,
      told,
      scroller,
      h.p(
        "muted small keys",
        "Keys: ",
        h.kbd("", "/"),
        " search, arrows move, ",
        h.kbd("", "Enter"),
        " opens, in a sample ",
        h.kbd("", "j"),
        " and ",
        h.kbd("", "k"),
        " go on and back, ",
        h.kbd("", "Esc"),
        " returns.",
      ),
    );
    refresh();
  }

  let last = -1; // the row that was opened last: the table comes back to it
  function open(row) {
    const made = linkTo(row, null);
    location.href = made.href;
  }

  function cell(metric, position, row) {
    const sides = table.metrics[position];
    const one = (side) => {
      const value = side.values[row],
        status = side.statuses[row],
        bounds = side.bounds[row];
      if (!status) return h.span("muted", "·");
      if (value !== null) return el("span", { class: level(value, metric) }, number(value));
      const told = bounds ? `${number(bounds[0], 2)}–${number(bounds[1], 2)}` : words(status);
      return el("span", { class: `${STATUS[status][1]} small`, title: words(status) }, `${STATUS[status][0]} ${told}`);
    };
    if (!two || !isPaired(position)) {
      const side = sides.find((_, which) => metric.sides[which]);
      const made = h.td("num", one(side));
      if (side.values[row] !== null) {
        made.classList.add("bar");
        made.style.setProperty("--at", Math.max(0, Math.min(1, place(side.values[row], metric))));
      }
      return made;
    }
    const by = difference(position, row);
    return h.td(
      "num",
      one(sides[0]),
      " → ",
      one(sides[1]),
      by ? el("b", { class: by > 0 ? "yes" : "no" }, by > 0 ? " ▲" : " ▼") : null,
    );
  }

  // --- one sample

  async function showSample(row, key) {
    last = row;
    if (!shown.length) shown = table.ids.map((_, each) => each);
    const proof = table.chunks[row] < 0 ? null : (await read(String(table.chunks[row])))[row];
    if (here().get("sample") !== null ? count.get(here().get("sample")) !== row : Number(here().get("row")) !== row)
      return;
    const measured = metrics
      .map((_, position) => position)
      .filter((position) => table.metrics[position].some((side) => side.statuses[row]));
    let metric = metrics.findIndex((each) => each.key === key);
    if (!measured.includes(metric)) metric = measured[0];
    const at = shown.indexOf(row);
    const step = (by) => {
      const to = shown[at + by];
      if (to !== undefined) location.href = linkTo(to, metric).href;
    };
    const stage = h.div("");
    const tabs = el(
      "div",
      { class: "tabs", role: "tablist", "aria-label": "Metrics" },
      measured.map((position) =>
        el(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${position}`,
            "aria-selected": position === metric,
            "aria-controls": "stage",
            tabindex: position === metric ? 0 : -1,
            onclick: () => choose(position),
            onkeydown: (event) => {
              const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (!by) return;
              event.preventDefault();
              const next = measured[(measured.indexOf(position) + by + measured.length) % measured.length];
              choose(next);
              document.getElementById(`tab-${next}`).focus();
            },
          },
          h.span("", words(metrics[position].title)),
          cellText(metrics[position], position, row),
        ),
      ),
    );
    function choose(position) {
      metric = position;
      history.replaceState(null, "", address(row, position));
      for (const tab of tabs.children) {
        const is = tab.id === `tab-${position}`;
        tab.setAttribute("aria-selected", is);
        tab.tabIndex = is ? 0 : -1;
      }
      draw();
    }
    function draw() {
      if (!proof) return stage.replaceChildren(bare(row));
      const sides = proof.sides.map((side, which) =>
        side
          ? scoreOf(side, which, metric, row)
          : h.div("", runName(which), h.p("notice", "This run does not have the sample.")),
      );
      const moved = two && proof.changes[metric] ? changes(proof.changes[metric], metric, row) : null;
      stage.replaceChildren(...[moved, el("div", { class: two ? "pair" : "" }, sides)].filter(Boolean));
    }
    const typed = (event) => {
      if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "j") step(1);
      if (event.key === "k") step(-1);
      if (event.key === "Escape") back();
    };
    addEventListener("keydown", typed);
    cleanUp = () => removeEventListener("keydown", typed);
    const side = proof && (proof.sides.at(-1) || proof.sides[0]);
    fill(
      table.ids[row],
      h.div(
        "path",
        el("a", { href: filtered, id: "back" }, "← Samples"),
        h.span("grow"),
        el("button", { type: "button", disabled: at <= 0, onclick: () => step(-1) }, "Previous"),
        h.span("muted", at < 0 ? "" : `${at + 1} of ${shown.length}`),
        el("button", { type: "button", disabled: at < 0 || at >= shown.length - 1, onclick: () => step(1) }, "Next"),
      ),
      h.h1("id", h.bdi("", table.ids[row]), " ", findings(row)),
      flow("p", side && side.question ? text(side.question) : table.questions[row] || "(no question)", {
        class: "question",
      }),
      side && rest(side.question),
      side && side.history.length
        ? h.details(
            "",
            h.summary("", `${plural(side.history.length, "earlier turn")}`),
            side.history.map(([role, said]) => el("p", { dir: "auto" }, h.b("", `${role}: `), said)),
          )
        : null,
      side ? diagnosis(proof) : null,
      tabs,
      stage,
    );
    stage.id = "stage";
    stage.setAttribute("role", "tabpanel");
    draw();
  }

  let filtered = "#samples";
  function back() {
    location.hash = filtered;
  }

  function cellText(metric, position, row) {
    const made = cell(metric, position, row);
    return h.span("value", ...made.childNodes);
  }

  function bare(row) {
    const run = overview.paths.at(-1);
    return h.div(
      "",
      h.p(
        "notice",
        "The proof of this sample is not in this file. On the terminal: ",
        h.code("", `ragmetrics show ${run} ${table.ids[row]}`),
        "; or write the report with ",
        h.code("", "--all"),
        ".",
      ),
      h.h2("", "Answer"),
      flow("p", table.answers[row] || "(none)"),
      labelsOf(Object.entries(table.labels[row])),
    );
  }

  function diagnosis(proof) {
    const lists = proof.sides
      .map((side, which) =>
        side && side.findings.length
          ? h.ul(
              "plain",
              side.findings.map(([code, meaning, texts]) =>
                h.li(
                  "",
                  two ? tag(which) : null,
                  h.span("open", `! ${words(code)}: `),
                  meaning,
                  texts.length ? ": " : "",
                  texts.map((each, place) => [place ? "; " : "", el("q", { dir: "auto", class: "isolate" }, each)]),
                ),
              ),
            )
          : null,
      )
      .filter(Boolean);
    return lists.length ? el("details", { class: "diagnosis", open: !two }, h.summary("", "Diagnosis"), lists) : null;
  }

  function changes(groups, metric, row) {
    const by = difference(metric, row);
    const shownVerdict = (side) => side && [el("b", { class: KIND[side[1]] }, `${SYMBOL[side[1]]} ${side[2]}`)];
    const lists = Object.entries(groups).map(([title, items]) => [
      h.h3("", title),
      h.ul(
        "",
        items.map(([first, second]) =>
          h.li(
            "",
            shownVerdict(first),
            first && second ? " → " : "",
            shownVerdict(second),
            ": ",
            el("span", { dir: "auto", class: "isolate" }, (second || first)[3]),
            first && second && first[3] !== second[3]
              ? h.div("muted", "before: ", el("span", { dir: "auto", class: "isolate" }, first[3]))
              : null,
          ),
        ),
      ),
    ]);
    return h.section(
      "changes",
      h.h2(
        "",
        "What moved",
        by === null ? "" : el("span", { class: by > 0 ? "yes" : by < 0 ? "no" : "muted" }, ` ${signed(by)}`),
      ),
      lists.length ? lists : h.p("muted", "The same texts with the same verdicts."),
    );
  }

  const tag = (which) => h.span(`tag ${which ? "second" : "first"}`, which + 1);
  const runName = (which) => h.h2("run", tag(which), overview.runs[which].name);

  function scoreOf(side, which, metric, row) {
    const record = side.records[metric];
    const root = el("div", { class: "proof", "data-row": row });
    const name = two ? runName(which) : null;
    if (!record) {
      root.append(
        name || "",
        h.p("notice", "This run did not measure the sample with this metric."),
        texts(side, {}, {}),
      );
      return root;
    }
    const verdicts = new Map(record.verdicts.map((verdict) => [verdict.number, verdict]));
    const left = h.div(
      "left",
      name,
      formula(record, metrics[metric]),
      sources(side, record.marks, verdicts),
      verdictLists(record),
      remarks(record),
      prompts(side, record),
      recordFacts(record),
      labelsOf(side.labels),
    );
    const right = h.div("right", contexts(side, record.marks, verdicts));
    root.append(left, right);
    lightUp(root);
    return root;
  }
  const texts = (side) => h.div("", sources(side, {}, new Map()), contexts(side, {}, new Map()));

  function formula(record, metric) {
    const [symbol, kind] = STATUS[record.status];
    return h.div(
      "formula",
      h.div(
        "headline",
        record.value !== null
          ? h.span(`score ${level(record.value, metric)}`, number(record.value))
          : h.span(
              `score ${kind}`,
              `${symbol} ${words(record.status)}${record.bounds ? ` ${range(record.bounds)}` : ""}`,
            ),
        record.formula ? h.code("", record.formula) : null,
        record.reason ? el("span", { dir: "auto" }, words(record.reason)) : null,
      ),
      record.parts.length
        ? h.ul(
            "plain mono small",
            record.parts.map(([depth, name, told]) =>
              h.li("", "\u00a0\u00a0".repeat(depth), h.span("muted", `${words(name)}  `), told),
            ),
          )
        : null,
      record.counts.length
        ? h.p(
            "muted small",
            record.counts.map(([name, value]) => `${words(name)} ${Number(value.toPrecision(6))}`).join(" · "),
          )
        : null,
      record.declined ? h.p("open", `! The answer declines to answer: ${record.declined}`) : null,
    );
  }

  function sources(side, marks, verdicts) {
    const one = (name, title) => [
      h.h3("", title),
      side[name] === null
        ? h.p("muted", "(absent)")
        : text(side[name]) === ""
          ? h.p("muted", "(empty)")
          : markedText("p", text(side[name]), marks[name] || [], verdicts),
      rest(side[name]),
    ];
    return h.div("sources", one("answer", "Answer"), one("reference", "Reference"));
  }

  function contexts(side, marks, verdicts) {
    if (side.contexts === null) return h.p("muted", "The sample has no contexts.");
    const chunks = [...verdicts.values()].filter((verdict) => verdict.about === "chunk");
    return h.div(
      "",
      h.h3("", `Contexts, in rank order`),
      h.ol(
        "chunks",
        side.contexts.map((chunk, position) => {
          const verdict = chunks[position];
          return el(
            "li",
            { "data-n": verdict ? verdict.number : null, class: verdict ? KIND[verdict.supported] : "" },
            h.div(
              "rank",
              h.b("", position + 1),
              side.context_ids[position] ? ` ${side.context_ids[position]}` : "",
              verdict
                ? el("span", { class: KIND[verdict.supported] }, ` ${SYMBOL[verdict.supported]} ${verdict.label}`)
                : null,
            ),
            text(chunk) === ""
              ? h.p("muted", "(empty)")
              : markedText("div", text(chunk), marks[`contexts/${position + 1}`] || [], verdicts),
            rest(chunk),
          );
        }),
      ),
      side.contexts.length ? null : h.p("muted", "(none were retrieved)"),
      side.more_contexts ? h.p("muted", `${plural(side.more_contexts, "more chunk")} not shown.`) : null,
    );
  }

  function markedText(tag, content, marks, verdicts) {
    const made = flow(tag, "");
    const ends = [...new Set([0, content.length, ...marks.flatMap(([start, end]) => [start, end])])]
      .filter((at) => at <= content.length)
      .sort((a, b) => a - b);
    const rank = { no: 2, open: 1, yes: 0 };
    ends.slice(0, -1).forEach((start, position) => {
      const end = ends[position + 1];
      const on = marks.filter((mark) => mark[0] <= start && mark[1] >= end && verdicts.has(mark[2]));
      const piece = content.slice(start, end);
      if (!on.length) return made.append(piece);
      const kinds = on.map((mark) => KIND[verdicts.get(mark[2]).supported]);
      const kind = kinds.reduce((one, other) => (rank[other] > rank[one] ? other : one));
      const numbers = [...new Set(on.map((mark) => mark[2]))];
      made.append(
        el(
          "mark",
          { class: `${kind} ${on.every((mark) => mark[3] === "near") ? "near" : ""}`, "data-n": numbers.join(" ") },
          piece,
        ),
      );
      const over = [
        ...new Map(on.filter((mark) => mark[1] === end).map((mark) => [mark[2], verdicts.get(mark[2])])).values(),
      ].sort((a, b) => a.number - b.number);
      if (over.length)
        made.append(
          h.sup(
            "",
            over.map((verdict) =>
              el(
                "span",
                { class: KIND[verdict.supported], "data-n": verdict.number },
                `${SYMBOL[verdict.supported]}${verdict.number}`,
              ),
            ),
          ),
        );
    });
    return made;
  }

  function verdictLists(record) {
    const groups = new Map();
    for (const verdict of record.verdicts) groups.set(verdict.about, [...(groups.get(verdict.about) || []), verdict]);
    const title = (about) => {
      const many = about.endsWith("y") ? `${about.slice(0, -1)}ies` : `${about}s`;
      return many.charAt(0).toUpperCase() + many.slice(1);
    };
    return [...groups]
      .map(([about, verdicts]) => [
        h.h3("", title(about)),
        h.ol(
          "verdicts",
          verdicts.map((verdict) =>
            el(
              "li",
              { tabindex: 0, class: KIND[verdict.supported], "data-n": verdict.number },
              el("span", { class: "sign", "aria-hidden": "true" }, SYMBOL[verdict.supported]),
              h.div(
                "",
                h.div(
                  "",
                  h.span("muted", `${verdict.number} `),
                  el("b", { class: KIND[verdict.supported] }, verdict.label),
                  " ",
                  el("span", { dir: "auto", class: "isolate" }, verdict.text),
                  verdict.cosine === undefined ? null : h.span("muted", ` cosine ${number(verdict.cosine)}`),
                ),
                verdict.tally
                  ? el("div", { class: verdict.tally.endsWith("tie") ? "open" : "muted" }, verdict.tally)
                  : null,
                verdict.reason ? el("div", { class: "muted", dir: "auto" }, verdict.reason) : null,
                (verdict.evidence || []).map(([quote, where, exact]) =>
                  h.div(
                    "quote",
                    el("q", { dir: "auto", class: "isolate" }, quote),
                    " ",
                    el(
                      "span",
                      { class: where ? "muted" : "no" },
                      where ? `${where}${exact ? "" : ", not letter for letter"}` : "✗ found nowhere",
                    ),
                  ),
                ),
                verdict.overruled ? h.div("open", `! ${verdict.overruled}`) : null,
              ),
            ),
          ),
        ),
      ])
      .concat(record.more_verdicts ? [h.p("muted", `${plural(record.more_verdicts, "more verdict")} not shown.`)] : []);
  }

  function remarks(record) {
    const dropped = [...new Set([...record.notes, ...record.steps.flatMap((step) => step.dropped || [])])];
    return dropped.length
      ? [
          h.h3("", "Read and not counted"),
          h.ul(
            "",
            dropped.map((each) => el("li", { dir: "auto" }, each)),
          ),
        ]
      : null;
  }

  const lazily = (made, build) => {
    made.addEventListener("toggle", () => {
      if (made.open && made.childElementCount === 1) made.append(...build().flat(Infinity).filter(Boolean));
    });
    return made;
  };

  function prompts(side, record) {
    if (!record.steps.length) return null;
    return h.section(
      "",
      h.h3("", "Prompts and replies"),
      record.steps.map((step) =>
        lazily(
          h.details(
            "step",
            h.summary(
              "",
              `${step.path} `,
              h.b("", step.prompt || (step.kind === "compare" ? "comparison" : "rating")),
              step.rule ? [" read by ", el("b", { class: step.rule === "unread" ? "no" : "" }, step.rule)] : null,
              (step.details || []).map((each) => ` · ${each}`),
            ),
          ),
          () => [
            step.numbers ? h.p("mono", step.numbers) : null,
            step.problem ? h.p("notice", step.problem) : null,
            (step.messages || []).map(([role, number]) => [
              h.h4("", `Prompt, ${role}`),
              el("pre", { dir: "auto" }, text(side.messages[number])),
              rest(side.messages[number]),
            ]),
            step.reply
              ? [h.h4("", "Reply"), el("pre", { dir: "auto" }, text(step.reply) || "(empty)"), rest(step.reply)]
              : null,
            step.value
              ? [
                  h.h4("", `What the rule “${step.rule}” read`),
                  el("pre", { dir: "auto" }, text(step.value)),
                  rest(step.value),
                ]
              : null,
            step.dropped && step.dropped.length
              ? [
                  h.h4("", "Seen and not counted"),
                  h.ul(
                    "",
                    step.dropped.map((each) => el("li", { dir: "auto" }, each)),
                  ),
                ]
              : null,
          ],
        ),
      ),
    );
  }

  const recordFacts = (record) =>
    h.details(
      "",
      h.summary("", "Record"),
      facts_of([
        ["metric", record.signature],
        ...record.models,
        ...(record.settings ? [["settings", record.settings]] : []),
        ["seal", record.digest || "none"],
        ["versions", record.versions],
      ]),
    );
  const labelsOf = (labels) => (labels.length ? h.details("", h.summary("", "Labels"), facts_of(labels)) : null);

  // Pointing at a statement, or standing on it with the keyboard, shows what it rests on; and the other way round.
  function lightUp(root) {
    const light = (numbers, from, isFirm) => {
      for (const each of root.querySelectorAll(".lit")) each.classList.remove("lit");
      if (!numbers.length) return;
      const lit = [...root.querySelectorAll("[data-n]")].filter((each) =>
        each.dataset.n.split(" ").some((number) => numbers.includes(number)),
      );
      lit.forEach((each) => each.classList.add("lit"));
      const box = root.querySelector(".right");
      const first = lit.find((each) => box.contains(each));
      if (!first || box.contains(from)) return;
      if (box.scrollHeight > box.clientHeight) {
        const by = first.getBoundingClientRect().top - box.getBoundingClientRect().top;
        if (by < 0 || by > box.clientHeight - 60) box.scrollTop += by - 60;
      } else if (isFirm) first.scrollIntoView({ block: "nearest" });
    };
    const numbers = (target) => (target.closest && target.closest("[data-n]")?.dataset.n.split(" ")) || [];
    const held = () => root.querySelector(".verdicts li:focus");
    root.addEventListener("mouseover", (event) =>
      light(numbers(event.target).length ? numbers(event.target) : held() ? numbers(held()) : [], event.target),
    );
    root.addEventListener("mouseleave", () => light(held() ? numbers(held()) : [], root));
    root.addEventListener("focusin", (event) => light(numbers(event.target), event.target, true));
    root.addEventListener("focusout", () => light([], root));
    root.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const items = [...root.querySelectorAll(".verdicts li")],
        at = items.indexOf(event.target);
      if (by && at >= 0) {
        event.preventDefault();
        items[at + by]?.focus();
      }
    });
  }

  // --- start

  function top() {
    const themes = ["auto", "light", "dark"];
    const button = el(
      "button",
      {
        type: "button",
        id: "theme",
        onclick: () => {
          const next = themes[(themes.indexOf(document.documentElement.dataset.theme || "auto") + 1) % 3];
          next === "auto"
            ? delete document.documentElement.dataset.theme
            : (document.documentElement.dataset.theme = next);
          button.textContent = `Colours: ${next}`;
        },
      },
      "Colours: auto",
    );
    document
      .getElementById("top")
      .append(
        el(
          "a",
          { class: "brand", href: table.whole ? `../${encodeURIComponent(table.whole)}` : "#overview" },
          "ragmetrics",
        ),
        el(
          "nav",
          { "aria-label": "Parts of the report" },
          table.whole
            ? el("a", { href: `../${encodeURIComponent(table.whole)}` }, "Whole report")
            : el("a", { href: "#overview", id: "to-overview" }, "Overview"),
          el("a", { href: "#samples", id: "to-samples" }, `Samples (${table.ids.length.toLocaleString("en")})`),
        ),
        h.span("grow"),
        button,
      );
  }

  addEventListener("hashchange", show);
  addEventListener("hashchange", (event) => {
    const from = new URL(event.oldURL).hash;
    if (from.startsWith("#samples")) filtered = from;
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    page.focus();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    if (!here().has("samples")) {
      history.pushState(null, "", filtered);
      show();
    }
    document.querySelector("input[type=search]")?.focus();
  });

  async function start() {
    if (typeof DecompressionStream === "undefined") {
      page.replaceChildren(
        h.p("notice", "This browser is too old to open the report: it cannot decompress data by itself."),
      );
      return;
    }
    [overview, table] = await Promise.all([read("overview"), read("table")]);
    two = overview.runs.length === 2;
    metrics = overview.metrics;
    const names = new Set();
    metrics.forEach((metric, position) => {
      metric.key = names.has(metric.title) ? `${metric.title}~${position}` : metric.title;
      names.add(metric.title);
    });
    count = new Map();
    table.ids.forEach((id, row) => {
      if (!count.has(id)) count.set(id, row);
    });
    top();
    show();
  }
  start();
})();
