// One sample: its metrics, what moved between two runs, and the score of the chosen metric.

async function showSample(row, key) {
  last = row;
  if (!shown.length) shown = table.ids.map((_, each) => each);
  const proof = await proofOf(row);
  if (here().get("sample") !== null ? count.get(here().get("sample")) !== row : Number(here().get("row")) !== row)
    return;
  const measured = measuredOn(row);
  let metric = metrics.findIndex((each) => each.key === key);
  if (!measured.includes(metric)) metric = measured[0];
  const choose = (position) => {
    metric = position;
    history.replaceState(null, "", address(row, position));
  };
  const at = shown.indexOf(row);
  const step = (by) => {
    const to = shown[at + by];
    if (to !== undefined) location.href = linkTo(to, metric).href;
  };
  const typed = (event) => {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    if (event.key === "Escape") location.hash = filtered;
  };
  addEventListener("keydown", typed);
  cleanUp = () => removeEventListener("keydown", typed);
  const side = proof && (proof.sides.at(-1) || proof.sides[0]);
  const turns = (side?.history ?? []).map(earlierTurn);
  fill(
    table.ids[row],
    h.div(
      "path",
      el("a", { href: filtered, id: "back" }, "← Samples"),
      h.span("grow"),
      button("Previous", () => step(-1), { disabled: at <= 0 }),
      h.span("muted", at < 0 ? "" : `${at + 1} of ${shown.length}`),
      button("Next", () => step(1), { disabled: at < 0 || at >= shown.length - 1 }),
    ),
    h.h1("id", h.bdi("", table.ids[row]), " ", findings(row)),
    sessionLine(row),
    questionOf(side, row),
    turns.length ? folded(plural(turns.length, "earlier turn"), turns) : null,
    proof ? diagnosis(proof) : null,
    scorePanel(row, proof, metric, choose),
  );
}

// The proofs of a sample, or null if they are not in this file.
const proofOf = async (row) => (table.chunks[row] < 0 ? null : (await read(String(table.chunks[row])))[row]);
const measuredOn = (row) =>
  metrics
    .map((_, position) => position)
    .filter((position) => table.metrics[position].some((side) => side.statuses[row]));
// The question as the user typed it, and below it the one that can be understood without the history.
const questionOf = (side, row) => [
  flow("p", side?.question ?? [table.questions[row] || "(no question)", 0], { class: "question" }),
  side?.standalone
    ? h.div("standalone", h.span("muted small", "Stand-alone question"), flow("p", side.standalone))
    : null,
];
const earlierTurn = ({ role, content, contexts, calls }) =>
  h.div(
    "earlier",
    el("p", { dir: "auto" }, h.b("", `${role}: `), content),
    calls.length ? folded(plural(calls.length, "tool call"), listed(calls)) : null,
    contexts.items.length
      ? folded(plural(contexts.items.length + contexts.more, "chunk"), listed(contexts.items), more(contexts, "chunk"))
      : null,
  );

// The metrics of a sample as tabs, and the score of the chosen one. A page of several samples names them by a prefix.
function scorePanel(row, proof, first, choose = () => {}, prefix = "") {
  const measured = measuredOn(row);
  let metric = first;
  const stage = el("div", { id: `${prefix}stage`, class: "stage", role: "tabpanel" });
  const turn = (position) => {
    metric = position;
    choose(position);
    draw();
  };
  const tabs = el(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Metrics" },
    measured.map((position) => {
      const onkeydown = (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const next = measured[(measured.indexOf(position) + by + measured.length) % measured.length];
        turn(next);
        document.getElementById(`${prefix}tab-${next}`).focus();
      };
      const value = h.span("value", ...cell(metrics[position], position, row).childNodes);
      const content = [h.span("", words(metrics[position].title)), value];
      const tab = { role: "tab", id: `${prefix}tab-${position}`, "aria-controls": stage.id, onkeydown };
      return button(content, () => turn(position), tab);
    }),
  );
  function draw() {
    for (const tab of tabs.children) {
      const is = tab.id === `${prefix}tab-${metric}`;
      tab.setAttribute("aria-selected", is);
      tab.tabIndex = is ? 0 : -1;
    }
    if (!proof) return stage.replaceChildren(bare(row));
    const sides = proof.sides.map((side, which) =>
      side
        ? scoreOf(side, which, metric, row)
        : h.div("", runName(which), h.p("notice", "This run does not have the sample.")),
    );
    const moved = proof.changes[metric] ? [changes(proof.changes[metric], metric, row)] : [];
    stage.replaceChildren(...moved, h.div(two ? "pair" : "", sides));
  }
  draw();
  return [tabs, stage];
}

let filtered = "#samples";

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
    flow("p", [table.answers[row], 0]),
    labelsOf(Object.entries(table.labels[row])),
  );
}

function diagnosis(proof) {
  const one = (which, code, meaning, texts) =>
    h.li(
      "",
      two ? tag(which) : null,
      h.span("open", `! ${words(code)}: `),
      meaning,
      texts.map((each, place) => [place ? "; " : ": ", bidi(each)]),
    );
  const items = proof.sides.flatMap((side, which) => (side?.findings ?? []).map((each) => one(which, ...each)));
  return items.length
    ? el("details", { class: "diagnosis", open: !two }, h.summary("", "Diagnosis"), h.ul("plain", items))
    : null;
}

function changes(groups, metric, row) {
  const by = difference(metric, row);
  const verdict = (side) => side && h.b(side[0], `${SYMBOL[side[0]]} ${side[1]}`, side[2] && ` (${side[2]})`);
  const one = ([first, second]) =>
    h.li(
      "",
      verdict(first),
      first && second ? " → " : "",
      verdict(second),
      ": ",
      bidi((second || first)[3]),
      first && second && first[3] !== second[3] ? h.div("muted", "before: ", bidi(first[3])) : null,
    );
  const lists = Object.entries(groups).map(([title, items]) => [h.h3("", title), h.ul("", items.map(one))]);
  return h.section(
    "changes",
    h.h2("", "What moved", by === null ? "" : h.span(by > 0 ? "yes" : by < 0 ? "no" : "muted", ` ${signed(by)}`)),
    lists.length ? lists : h.p("muted", "The same texts with the same verdicts."),
  );
}

const runName = (which) => h.h2("run", tag(which), overview.runs[which].name);
const labelsOf = (labels) => (labels.length ? folded("Labels", factsOf(labels)) : null);

function scoreOf(side, which, metric, row) {
  const record = side.records[metric];
  const { marks, standings, groups } = record || { marks: {}, standings: [], groups: [] };
  const origin = record && [["metric", record.signature], ...record.origin, ["settings", record.settings]];
  const left = h.div(
    "left",
    two ? runName(which) : null,
    record ? formula(record, metrics[metric]) : h.p("notice", "This run did not measure the sample with this metric."),
    answerChoice(side),
    sources(side, marks, standings),
    record
      ? [
          verdictLists(side, record),
          record.remarks.items.length ? [h.h3("", "Asked again, or not counted"), listed(record.remarks.items)] : null,
          prompts(side, record),
          folded("Record", factsOf(known(origin))),
        ]
      : null,
    labelsOf(side.labels),
  );
  const root = el("div", { class: "proof", "data-row": row }, left, h.div("right", contexts(side, marks, groups)));
  lightUp(root);
  return root;
}
