// The table of samples: filter, sort, and a window on the rows, so that ten thousand scroll.

const MOST_BOXES = 30,
  LONGEST_ID = 26;

// A filter of several values takes the samples that have any of them; values of two labels must both hold.
function wanted(at) {
  const look = (at.get("q") || "").toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const metric = at.get("metric") ? [Number(at.get("metric"))] : metrics.map((_, position) => position);
  const sides = metric.map((position) => table.metrics[position] ?? []);
  const latest = metric.map((position) => table.metrics[position]?.[lastRun(position)]?.values ?? []);
  const statuses = new Set(at.getAll("status")),
    findings = new Set(at.getAll("finding")),
    moved = at.get("moved");
  const low = at.get("from") ? Number(at.get("from")) : -Infinity,
    high = at.get("to") ? Number(at.get("to")) : Infinity;
  const chosen = new Map();
  for (const [name, value] of at.getAll("label").map(labelIn))
    chosen.set(name, (chosen.get(name) || new Set()).add(value));
  const rows = at.get("rows") ? new Set(at.get("rows").split(".").map(Number)) : null;
  const tests = [
    rows && ((row) => rows.has(row)),
    look.length && ((row) => look.every((word) => searchable(row).includes(word))),
    statuses.size && ((row) => sides.flat().some((side) => statuses.has(side.statuses[row]))),
    (low > -Infinity || high < Infinity) &&
      ((row) =>
        latest.some((values) => isNumber(values[row]) && values[row] >= low && values[row] <= high)),
    findings.size && ((row) => table.findings[row].flat().some((finding) => findings.has(finding))),
    chosen.size && ((row) => [...chosen].every(([name, values]) => values.has(table.labels[row][name] ?? null))),
    moved &&
      ((row) =>
        metric.some((position) => {
          const by = difference(position, row);
          return by !== null && (moved === "up" ? by > 0 : moved === "down" ? by < 0 : by === 0);
        })),
  ].filter(Boolean);
  return table.ids.map((_, row) => row).filter((row) => tests.every((test) => test(row)));
}
// A label and its value as one text of the address: "name: value", or "name" for samples without the label.
const labelText = (name, value) => (value === null ? name : `${name}: ${value}`);
const labelIn = (text) => labelChoices().get(text) ?? [text, null];
let choicesOfLabels;
function labelChoices() {
  if (choicesOfLabels) return choicesOfLabels;
  choicesOfLabels = new Map();
  const times = new Map();
  for (const pairs of table.labels)
    for (const [name, value] of Object.entries(pairs)) {
      const text = labelText(name, value);
      choicesOfLabels.set(text, [name, value]);
      times.set(text, (times.get(text) || 0) + 1);
    }
  return (choicesOfLabels = new Map([...choicesOfLabels].sort((a, b) => times.get(b[0]) - times.get(a[0]))));
}
const searchable = (row) =>
  ((table.search ??= [])[row] ??= [
    table.ids[row],
    table.questions[row],
    table.answers[row],
    ...Object.entries(table.labels[row]).flat(),
  ]
    .join("\n")
    .toLocaleLowerCase());
// The labels that have a table of their own come first, as they are the ones that tell samples apart.
const labelsInShort = (row) => {
  const pairs = table.labels[row];
  const names = new Set([...overview.labels.tables.map((each) => each.name), ...Object.keys(pairs)]);
  return [...names].filter((name) => name in pairs).map((name) => `${name}: ${pairs[name]}`).join(" · ");
};
// A long id keeps its beginning and its end.
function cutInside(text, most) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}
const difference = (position, row) => {
  const [first, second] = table.metrics[position].map((side) => side.values[row]);
  return first === undefined || first === null || second === null || second === undefined ? null : second - first;
};

function sorted(rows, sort, down) {
  const keys = { id: (row) => table.ids[row], question: (row) => table.questions[row], labels: labelsInShort };
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
  const picked = at.get("rows");
  const input = (name, label, type, attributes) =>
    h.label("", label, el("input", { type, name, value: at.get(name) || "", ...attributes }));
  const select = (name, label, options) => {
    const choices = [["", "any"], ...options].map(([value, told]) =>
      el("option", { value, selected: (at.get(name) || "") === value }, told),
    );
    return options.length ? h.label("", label, el("select", { name }, choices)) : null;
  };
  // Several values at once: a list of boxes to tick, which folds away.
  const several = (name, label, groups) => {
    const chosen = at.getAll(name);
    const boxes = groups.map(([title, options]) => {
      const box = ([value, told]) =>
        h.label("", el("input", { type: "checkbox", name, value, checked: chosen.includes(value) }), bidi(told));
      const ticked = options.filter(([value], place) => place < MOST_BOXES || chosen.includes(value));
      const hidden = options.length - ticked.length;
      return [
        title ? h.b("", title) : null,
        ticked.map(box),
        hidden ? h.span("muted", `${plural(hidden, "more value")}: search for them as text.`) : null,
      ];
    });
    const heading = h.summary("", label, h.span(""));
    return groups.some(([, options]) => options.length)
      ? el("details", { class: "several", "data-name": name }, heading, el("div", { role: "group", "aria-label": label }, boxes))
      : null;
  };
  const tell = () => {
    for (const each of form.querySelectorAll(".several")) {
      const ticked = [...each.querySelectorAll("input:checked")];
      const first = ticked[0]?.closest("label").textContent;
      each.querySelector("summary span").textContent =
        ticked.length > 1 ? plural(ticked.length, "value") : (first ?? "any");
    }
  };
  const inWords = (list) => [["", [...new Set(list)].filter(Boolean).map((each) => [each, words(each)])]];
  const names = [...new Set(table.labels.flatMap(Object.keys))];
  const labels = names.map((name) => {
    const options = [...labelChoices()].filter(([, [own]]) => own === name).map(([text, [, value]]) => [text, value]);
    const isEverywhere = table.labels.every((pairs) => name in pairs);
    return [name, isEverywhere ? options : [...options, [name, "(without it)"]]];
  });
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
    several("status", "Status", inWords(table.metrics.flat().flatMap((side) => side.statuses))),
    input("from", "From", "number", { step: "any" }),
    input("to", "To", "number", { step: "any" }),
    select("moved", "Change", two ? moves : []),
    several("finding", "Diagnosis", inWords(table.findings.flat(2))),
    several("label", "Labels", labels),
    picked
      ? h.label("", "Picture", h.span("", el("input", { type: "checkbox", name: "rows", value: picked, checked: true }), ` only ${plural(picked.split(".").length, "sample")} of it`))
      : null,
    button("Clear", () => (location.hash = "#samples")),
  );
  const told = el("p", { role: "status", class: "muted", id: "count" });
  const heads = [
    ["id", "Sample"],
    ["question", "Question"],
    ...metrics.map((metric, position) => [`m${position}`, metric.title]),
    ...(names.length ? [["labels", "Labels"]] : []),
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
  const longest = table.ids.reduce((most, id) => Math.max(most, id.length), 0);
  const widths = [
    Math.max(6.5, Math.min(longest, LONGEST_ID) * 0.6 + 1.5),
    12,
    ...metrics.map((_, position) => (two && isPaired(position) ? 9.5 : 6.7)),
    ...(names.length ? [14] : []),
    14,
  ];
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
    for (const [name, value] of new FormData(form)) if (value !== "") next.append(name, value);
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
    tell();
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
      el("td", { title: table.ids[row] }, linkTo(row, null, h.bdi("", cutInside(table.ids[row], LONGEST_ID)))),
      el("td", { dir: "auto", title: table.questions[row] }, table.questions[row]),
      metrics.map((metric, position) => cell(metric, position, row)),
      names.length ? el("td", { dir: "auto", class: "small", title: labelsInShort(row) }, labelsInShort(row)) : null,
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
  // a list of boxes folds away when the reader goes elsewhere
  for (const name of ["pointerdown", "focusin", "keydown"])
    addEventListener(
      name,
      ({ target, key }) => {
        for (const each of form.querySelectorAll("details[open]"))
          if (name === "keydown" ? key === "Escape" : !each.contains(target)) each.open = false;
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
