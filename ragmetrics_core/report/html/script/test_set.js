// The report of a test set: what it holds and why, and each question with its quotes, answer and proofs.

const MOST_CARDS = 30;
const CHECKED = new Set(["known_without_documents", "answered_by_first_hit"]); // labels that repeat a check
let candidates;

const STATES = { kept: "Kept", rejected: "Rejected by reviewers", dropped: "Dropped" };
const percent = (share) => `${Math.round(100 * share)} %`;
const listLink = (filter, ...content) => el("a", { href: `#questions=&${new URLSearchParams(filter)}` }, content);
const barWith = (share, text) => h.div("", shareBar(share, 0), ` ${text}`);

function showSummary() {
  const { coverage, cells, reasons, review } = overview;
  const most = Math.max(...reasons.map(({ count }) => count), 1);
  fill(
    overview.name,
    h.h1("", overview.name),
    h.p("lead", overview.lead),
    overview.notices.map((notice) => h.p("notice", notice)),
    section(
      "Questions",
      tableOf(
        ["Documents", "Kind", "Kept", "Asked for", ""],
        cells.map(({ label, kind, kept, asked, why_short, filter }) => [
          el("th", { scope: "row", dir: "auto" }, label),
          h.td("", words(kind)),
          h.td("num", listLink(filter, kept)),
          h.td("num", asked),
          h.td("", barWith(asked ? Math.min(1, kept / asked) : 1, ""), why_short ? h.div("small open", why_short) : null),
        ]),
      ),
    ),
    section(
      "Dropped candidates",
      reasons.length
        ? tableOf(
            ["Reason", "Candidates", ""],
            reasons.map(({ code, sentence, count }) => [
              el("th", { scope: "row" }, sentence, h.div("muted small mono", code)),
              h.td("num", listLink({ state: "dropped", reason: code }, count)),
              h.td("", barWith(count / most, "")),
            ]),
          )
        : h.p("muted", "No candidate was dropped."),
    ),
    section(
      "Review by people",
      review.shares.some(({ n }) => n)
        ? tableOf(
            ["Outcome", "Share", "95% interval", "Questions"],
            review.shares.map(({ outcome, share: [value, low, high], questions, n }) => [
              el("th", { scope: "row" }, outcome),
              h.td("", h.span("big", percent(value)), " ", shareBar(value, 0)),
              h.td("num", low === null ? "none" : `${percent(low)} to ${percent(high)}`),
              h.td("num", `${questions} of ${n}`),
            ]),
          )
        : h.p("muted", "No decisions yet. ", h.code("", `ragmetrics questions review ${overview.folder} --out sheet.html`), " writes a sheet."),
      review.notes.map((note) => h.p("muted small", note)),
    ),
    section(
      "Coverage",
      h.p("", `Quotes touch ${coverage.covered} of ${plural(coverage.passages, "passage")} of the documents.`),
      tableOf(
        ["Document", "Passages with a quote", "", "Questions"],
        coverage.documents.map(({ document: name, questions, passages, covered }) => [
          el("th", { scope: "row", dir: "auto" }, name),
          h.td("num", `${covered} of ${passages}`),
          h.td("", passages ? barWith(covered / passages, percent(covered / passages)) : null),
          h.td("num", questions),
        ]),
      ),
      more({ more: coverage.more_documents }, "document"),
      coverage.uncovered.length
        ? folded(
            `Passages that no question covers (${coverage.uncovered.length + coverage.more})`,
            h.ol(
              "chunks",
              coverage.uncovered.map(({ document: name, start, end, text }) =>
                h.li("", el("div", { class: "rank", dir: "auto" }, `${name}, characters ${start} to ${end}`), flow("p", text)),
              ),
            ),
            more(coverage, "passage"),
          )
        : h.p("muted", "Each passage has a quote."),
    ),
    section("Origin", factsOf(overview.origin)),
  );
}

function matching(at) {
  const look = (at.get("q") || "").toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const tests = [
    at.get("state") && ((each) => each.state === at.get("state")),
    at.get("kind") && ((each) => each.kind === at.get("kind")),
    at.get("reason") && ((each) => each.reasons.some(([code]) => code === at.get("reason"))),
    at.get("id") && ((each) => each.id === at.get("id")),
    at.getAll("label").length &&
      ((each) => at.getAll("label").every((label) => each.labels.some((pair) => pair.join(": ") === label))),
    look.length &&
      ((each) => {
        each.search ??= [each.id, each.question[0], each.answer?.[0], ...each.places.map(({ text }) => text[0])]
          .join("\n")
          .toLocaleLowerCase();
        return look.every((word) => each.search.includes(word));
      }),
  ].filter(Boolean);
  return candidates.filter((each) => tests.every((test) => test(each)));
}

function showQuestions(at) {
  const options = (values, told) => [...new Set(values)].filter(Boolean).map((value) => [value, told(value)]);
  const select = (name, label, choices) => {
    const all = [["", "any"], ...choices].map(([value, told]) =>
      el("option", { value, selected: (at.get(name) || "") === value }, told),
    );
    return choices.length > 1 || at.get(name) ? h.label("", label, el("select", { name }, all)) : null;
  };
  const labels = candidates.flatMap((each) => each.labels.map((pair) => pair.join(": ")));
  const form = el(
    "form",
    { class: "filter", role: "search", "aria-label": "Filter the questions", onsubmit: (event) => event.preventDefault() },
    h.label("", "Text", el("input", { type: "search", name: "q", value: at.get("q") || "" })),
    select("state", "State", options(candidates.map((each) => each.state), (value) => STATES[value])),
    select("kind", "Kind", options(candidates.map((each) => each.kind), words)),
    select("reason", "Reason", options(candidates.flatMap((each) => each.reasons.map(([code]) => code)), words)),
    select("label", "Label", options(labels, (value) => value)),
    button("Clear", () => (location.hash = "#questions")),
  );
  const heading = h.h1("", "");
  const list = h.div("cards");
  const draw = () => {
    const chosen = matching(here());
    heading.textContent = `${chosen.length} of ${plural(candidates.length, "candidate")}`;
    list.replaceChildren();
    const next = button("Show more", () => append(), { class: "more" });
    const append = () => {
      const from = list.childElementCount;
      list.append(...chosen.slice(from, from + MOST_CARDS).map(candidateCard));
      next.hidden = list.childElementCount >= chosen.length;
    };
    append();
    rest.replaceChildren(next);
  };
  const rest = h.p("");
  form.addEventListener("input", () => {
    const given = new URLSearchParams([["questions", ""]]);
    for (const [name, value] of new FormData(form)) if (value) given.append(name, value);
    history.replaceState(null, "", `#${given}`);
    draw();
  });
  fill("Questions", heading, form, list, rest);
  draw();
}

function candidateCard(item) {
  const { id, state, kind, reasons, labels, decisions, before, checks } = item;
  return el(
    "article",
    { class: `card ${state}`, "data-id": id },
    h.p(
      "rank",
      kind ? h.span("chip none", words(kind)) : null,
      state === "kept" ? null : h.span("chip no", STATES[state]),
      item.outcome ? h.span(`chip ${item.outcome === "disputed" ? "open" : "none"}`, item.outcome) : null,
      labels.filter(([name]) => !CHECKED.has(name)).map((pair) => h.span("chip none", bidi(pair.join(": ")))),
      " ",
      el("a", { class: "mono small", href: `#questions=&id=${encodeURIComponent(id)}` }, id),
    ),
    reasons.length ? h.ul("plain why", reasons.map(([, sentence]) => h.li("no", "✗ ", bidi(sentence)))) : null,
    questionTexts(item),
    before ? folded("Before the edit (the checks are of these texts)", flow("p", before[0]), before[1] ? flow("p", before[1]) : null) : null,
    decisions.length
      ? [
          h.h3("", "Decisions of people"),
          h.ul("plain", decisions.map(([who, what, why]) => h.li("", bidi(who), ": ", h.b("", what), why ? [", ", bidi(why)] : null))),
        ]
      : null,
    checks.length ? [h.h3("", "Checks"), h.div("checks", checks.map((check, at) => checkOf(item, check, at)))] : null,
  );
}

function checkOf(item, { metric, status, value, look }, at) {
  const { title, answers } = metrics[metric];
  const [symbol] = STATUS[status];
  const told = value === null ? words(status) : (answers?.[value] ?? number(value, 2));
  const sign = { yes: SYMBOL.yes, no: SYMBOL.no, none: "·" }[look] ?? symbol;
  const made = folded([h.span(look, `${sign} `), title, " ", h.b(look, told)]);
  made.addEventListener("toggle", async () => {
    if (!made.open || made.childElementCount > 1) return;
    const missing = ["The proof is not in this file. On the terminal: ", h.code("", `ragmetrics show ${item.commands[at]}`)];
    if (item.chunk < 0) return made.append(h.p("notice", missing));
    const sides = (await read(String(item.chunk)))[item.at];
    if (made.childElementCount === 1) made.append(scoreOf(sides[at], 0, metric, item.at));
  });
  return made;
}

function show() {
  const at = here();
  const isList = at.has("questions");
  for (const link of document.querySelectorAll("nav a")) link.removeAttribute("aria-current");
  document.getElementById(isList ? "to-questions" : "to-overview").setAttribute("aria-current", "page");
  return isList ? showQuestions(at) : showSummary();
}

addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  if (!here().has("questions")) location.hash = "#questions";
  setTimeout(() => document.querySelector("input[type=search]")?.focus());
});

async function start() {
  if (isOld) return;
  [overview, candidates] = await Promise.all([read("overview"), read("table")]);
  metrics = overview.metrics;
  candidates.forEach((each, at) => (each.at = at));
  document.getElementById("top").append(
    el("a", { class: "brand", href: "#overview" }, "ragmetrics"),
    el(
      "nav",
      { "aria-label": "Parts of the report" },
      el("a", { href: "#overview", id: "to-overview" }, "Test set"),
      el("a", { href: "#questions", id: "to-questions" }, `Questions (${candidates.length.toLocaleString("en")})`),
    ),
    h.span("grow"),
    coloursButton(),
  );
  show();
}
start();
