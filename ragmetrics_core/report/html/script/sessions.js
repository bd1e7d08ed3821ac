// Conversations: a table of them, the lowest mean first, and the page of one with its turns in order.

const MOST_SESSIONS = 500,
  MOST_OPEN = 12; // turns of a page whose proofs are open from the start

let sessionNamed; // numbers of sessions by name, and of each row
let sessionOfRow;
function sessionNumbers() {
  if (sessionOfRow) return;
  sessionNamed = new Map();
  sessionOfRow = new Map();
  table.sessions.forEach(([name, rows], at) => {
    if (!sessionNamed.has(name)) sessionNamed.set(name, at);
    for (const row of rows) sessionOfRow.set(row, at);
  });
}
function sessionAddress(at) {
  sessionNumbers();
  const [name] = table.sessions[at];
  const isUnique = name.length <= 150 && !name.endsWith("…") && sessionNamed.get(name) === at;
  return `#${new URLSearchParams(isUnique ? { session: name } : { nth: at })}`;
}
const turnName = (row) => (table.labels[row].turn ? `Turn ${table.labels[row].turn}` : table.ids[row]);

// The way from a sample to its conversation. A further page of the report has the proofs only.
function sessionLine(row) {
  sessionNumbers();
  const at = sessionOfRow.get(row);
  const name = table.labels[row].session;
  if (at === undefined && !(table.whole && name)) return null;
  if (at === undefined) {
    const href = `../${encodeURIComponent(table.whole)}#${new URLSearchParams({ session: name })}`;
    return h.p("session", "Session ", el("a", { href }, h.bdi("", name)));
  }
  const [whole, rows] = table.sessions[at];
  const place = rows.indexOf(row);
  const other = (to, told) => (to === undefined ? null : [" · ", linkTo(to, null, told)]);
  return h.p(
    "session",
    "Session ",
    el("a", { href: sessionAddress(at) }, h.bdi("", whole)),
    h.span("muted", `, turn ${place + 1} of ${rows.length}`),
    other(rows[place - 1], "previous turn"),
    other(rows[place + 1], "next turn"),
  );
}

// Mean of the last run's scores of a metric over rows; null without any.
function meanOf(position, rows) {
  const values = rows.map((row) => table.metrics[position][lastRun(position)].values[row]).filter(isNumber);
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
const meanCell = (position, rows) => {
  const mean = meanOf(position, rows);
  return h.td("num", mean === null ? h.span("muted", "none") : h.span(level(mean, metrics[position]), number(mean)));
};

function showSessions() {
  const listed = table.sessions.slice(0, MOST_SESSIONS);
  const lowest = two ? "Turn that fell most" : "Lowest turn";
  fill(
    "Sessions",
    h.h1("", "Sessions"),
    h.p("lead", `${plural(table.sessions.length, "session")}, the lowest mean first`),
    tableOf(
      ["Session", "Turns", ...metrics.map((metric) => `Mean ${words(metric.title)}`), lowest],
      listed.map(([name, rows], at) => {
        const worst = Math.min(...rows); // rows are numbered from the worst on
        return [
          el("th", { scope: "row" }, el("a", { href: sessionAddress(at) }, h.bdi("", name))),
          h.td("num", rows.length),
          metrics.map((_, position) => meanCell(position, rows)),
          h.td("", linkTo(worst, null, turnName(worst)), " ", findings(worst)),
        ].flat();
      }),
    ),
    more({ more: table.sessions.length - listed.length }, "session"),
    two ? h.p("muted small", "Means are those of the last run that measured the metric.") : null,
  );
}

async function showSession(at) {
  sessionNumbers();
  const wanted = at.has("session") ? sessionNamed.get(at.get("session")) : Number(at.get("nth"));
  if (wanted === undefined || !table.sessions[wanted])
    return fill(
      "No such session",
      h.h1("", "This report does not have the session"),
      h.p("", el("a", { href: "#sessions" }, "All sessions")),
    );
  const [name, rows] = table.sessions[wanted];
  const asked = location.hash;
  const proofs = await Promise.all(rows.map(proofOf));
  if (location.hash !== asked) return;
  const step = (by) => (location.hash = sessionAddress(wanted + by));
  const sections = rows.map((row, place) => turnSection(row, proofs[place], place < MOST_OPEN));
  const jump = (place) => (event) => {
    event.preventDefault();
    sections[place].scrollIntoView();
    sections[place].querySelector("a").focus({ preventScroll: true });
  };
  fill(
    name,
    h.div(
      "path",
      el("a", { href: "#sessions", id: "back" }, "← Sessions"),
      h.span("grow"),
      button("Previous", () => step(-1), { disabled: wanted === 0 }),
      h.span("muted", `${wanted + 1} of ${table.sessions.length}`),
      button("Next", () => step(1), { disabled: wanted === table.sessions.length - 1 }),
    ),
    h.h1("", "Session ", h.bdi("", name)),
    h.p("lead", plural(rows.length, "turn")),
    tableOf(
      ["Turn", "Question", ...metrics.map((metric) => words(metric.title)), "Diagnosis"],
      [
        ...rows.map((row, place) =>
          [
            el("th", { scope: "row" }, el("a", { href: asked, onclick: jump(place) }, turnName(row))),
            el("td", { dir: "auto" }, table.questions[row]),
            metrics.map((metric, position) => cell(metric, position, row)),
            h.td("", findings(row)),
          ].flat(),
        ),
        [
          el("th", { scope: "row" }, "Mean"),
          h.td(""),
          metrics.map((_, position) => meanCell(position, rows)),
          h.td(""),
        ].flat(),
      ],
    ),
    sections,
  );
}

// A turn: its question, and its scores with their proof, which is drawn when it is opened.
function turnSection(row, proof, isOpen) {
  const side = proof && (proof.sides.at(-1) || proof.sides[0]);
  const details = el("details", { class: "turn-proof" }, h.summary("", "Scores and their proof"));
  const draw = () => {
    if (details.open && details.childElementCount === 1)
      details.append(...scorePanel(row, proof, measuredOn(row)[0], undefined, `row-${row}-`));
  };
  details.addEventListener("toggle", draw);
  details.open = isOpen;
  draw();
  return el(
    "section",
    { class: "turn", "aria-label": turnName(row) },
    h.h2("", linkTo(row, null, turnName(row)), " ", h.span("muted small", h.bdi("", table.ids[row])), " ", findings(row)),
    questionOf(side, row),
    isOpen && proof ? null : flow("p", side?.answer ?? [table.answers[row], 0]),
    proof ? diagnosis(proof) : null,
    details,
  );
}
