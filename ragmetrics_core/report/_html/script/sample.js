// One sample: its metrics, what moved between two runs, and the score of the chosen metric.

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
      answerChoice(side) || "",
      texts(side),
    );
    return root;
  }
  const verdicts = new Map(record.verdicts.map((verdict) => [verdict.number, verdict]));
  const left = h.div(
    "left",
    name,
    formula(record, metrics[metric]),
    answerChoice(side),
    sources(side, record.marks, verdicts, record.references),
    verdictLists(side, record),
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
