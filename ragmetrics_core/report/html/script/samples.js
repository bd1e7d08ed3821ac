// The table of samples: filter, sort, and a window on the rows, so that ten thousand scroll.

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
          metric.some((position) => sides(position)?.some((side) => side.statuses[row] === status))) &&
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
  const keys = { id: (row) => table.ids[row], question: (row) => table.questions[row] };
  metrics.forEach((metric, position) => {
    const side = table.metrics[position].find((_, which) => metric.sides[which]);
    keys[`m${position}`] = (row) =>
      two && isPaired(position) ? difference(position, row) : (side.values[row] ?? side.bounds[row]?.[0] ?? null);
  });
  const key = keys[sort];
  if (!key) return down ? rows.reverse() : rows;
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  return rows.sort((a, b) => {
    const [one, other] = [key(a), key(b)];
    if (one === null || other === null) return (one === null) - (other === null);
    return (down ? -1 : 1) * (typeof one === "string" ? compare(one, other) : one - other);
  });
}

function showSamples(at) {
  const input = (name, label, type, attributes) =>
    h.label("", label, el("input", { type, name, value: at.get(name) || "", ...attributes }));
  const select = (name, label, options) => {
    const choices = [["", "any"], ...options].map(([value, told]) =>
      el("option", { value, selected: (at.get(name) || "") === value }, told),
    );
    return options.length ? h.label("", label, el("select", { name }, choices)) : null;
  };
  const labels = new Map();
  table.labels.forEach((pairs) =>
    Object.entries(pairs).forEach(([name, value]) => labels.set(name, (labels.get(name) || new Set()).add(value))),
  );
  const choices = [...labels]
    .filter(([, values]) => values.size <= 30)
    .flatMap(([name, values]) => [...values].sort().map((value) => `${name}: ${value}`));
  const statuses = [...new Set(table.metrics.flat().flatMap((side) => side.statuses))].filter(Boolean);
  const inWords = (names) => names.map((name) => [name, words(name)]);
  const moves = Object.entries({ down: "▼ lower", up: "▲ higher", same: "= same" });
  const form = el(
    "form",
    {
      class: "filter",
      role: "search",
      "aria-label": "Filter the samples",
      onsubmit: (event) => event.preventDefault(),
      oninput: () => change(),
    },
    input("q", "Text", "search", { placeholder: "id, question, answer, label" }),
    select("metric", "Metric", Object.entries(metrics.map((metric) => metric.title))),
    select("status", "Status", inWords(statuses)),
    input("from", "From", "number", { step: "any" }),
    input("to", "To", "number", { step: "any" }),
    select("moved", "Change", two ? moves : []),
    select("finding", "Diagnosis", inWords([...new Set(table.findings.flat(2))])),
    select("label", "Label", choices.map((choice) => [choice, choice])),
    button("Clear", () => (location.hash = "#samples")),
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
      const content = [words(title), el("span", { "aria-hidden": "true", class: "arrow" })];
      const sorts = { scope: "col", "data-sort": key, class: key?.[0] === "m" ? "num" : null };
      return el("th", sorts, key ? button(content, () => order(key)) : title);
    }),
  );
  const body = h.tbody("");
  const widths = [6.5, 12, ...metrics.map((_, position) => (two && isPaired(position) ? 9.5 : 6.7)), 14];
  const columns = h.colgroup(
    "",
    widths.map((width, at) => {
      const made = h.col("");
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
          if (!event.target.closest("a") && !String(getSelection())) location.href = linkTo(row).href;
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
    if (event.key === "Enter" && isRow && event.target === isRow) return (location.href = linkTo(Number(isRow.dataset.row)).href);
    if (!step || !isRow || !shown.length) return;
    event.preventDefault();
    marked = Math.min(shown.length - 1, Math.max(0, marked + step));
    const top = marked * ROW,
      seen = scroller.clientHeight - 2 * ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top > scroller.scrollTop + seen - ROW) scroller.scrollTop = top - seen + ROW;
    draw();
  }
  const seen = new AbortController();
  for (const name of ["beforeprint", "afterprint", "resize"])
    addEventListener(
      name,
      () => {
        if (name !== "resize") [all, drawn] = [name === "beforeprint", ""];
        draw();
      },
      { signal: seen.signal },
    );
  cleanUp = () => seen.abort();
  fill(
    "Samples",
    h.h1("", "Samples"),
    form,
    told,
    scroller,
    h.p(
      "muted small keys",
      metrics.every((_, position) => isPaired(position)) ? "" : "The line under a score shows its place in the metric’s range. ",
      "Keys: / searches, arrows move, Enter opens; in a sample, j and k show the next and previous one, Esc returns."
        .split(/(?<= )(\/|Enter|j|k|Esc)(?= )/)
        .map((part, at) => (at % 2 ? h.kbd("", part) : part)),
    ),
  );
  refresh();
}

let last = -1; // the row that was opened last: the table comes back to it

function cell(metric, position, row) {
  const sides = table.metrics[position];
  const one = ({ values, statuses, bounds }) => {
    const [value, status] = [values[row], statuses[row]];
    if (!status) return h.span("muted", "·");
    if (value !== null) return h.span(level(value, metric), number(value));
    const told = bounds[row]?.map((each) => number(each, 2)).join("–") ?? words(status);
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
    by ? h.b(by > 0 ? "yes" : "no", by > 0 ? " ▲" : " ▼") : null,
  );
}
