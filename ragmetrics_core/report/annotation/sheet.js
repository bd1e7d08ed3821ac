// The annotation sheet: each answer with its texts, a rating, and the judge's statements to look at.

const data = JSON.parse(document.getElementById("data").textContent);
const RATINGS = [
  [1, "Very poor: the answer is wrong or has nothing to do with the question."],
  [2, "Poor: mostly wrong, but part of it is relevant."],
  [3, "Neither: about as much right as wrong or irrelevant."],
  [4, "Good: mostly right, with small mistakes or superfluous detail."],
  [5, "Very good: completely right, and all of it relevant."],
];

function choice(label, options, value, set) {
  const select = el(
    "select",
    {
      "aria-label": label,
      onchange: () => {
        set(options[select.selectedIndex][1]);
        changed();
      },
    },
    options.map(([text, each]) => el("option", { selected: each === value }, text)),
  );
  return select;
}

function area(label, rows, text, set) {
  const made = el("textarea", {
    rows,
    "aria-label": label,
    oninput: () => {
      set(made.value);
      changed();
    },
  });
  made.value = text;
  return h.label("", label, made);
}

function statementRow(item, metric, { number, text, about, verdict, label }) {
  const said = annotations.get(item)?.metrics.get(metric)?.statements.get(number);
  const options = (question, yes, no) => [
    [question, null],
    [yes, true],
    [no, false],
  ];
  return h.div(
    "statement",
    h.div(
      "",
      h.div("text", `${number}. ${text}`),
      h.small("", `${about}; the judge says: ${verdict === null ? "no verdict" : label}`),
    ),
    choice(
      `Does the text say statement ${number}?`,
      options("said?", "yes, it says this", "no, it does not"),
      said?.extracted ?? null,
      (value) => (statementOf(item, metric, number).extracted = value),
    ),
    choice(
      `Verdict on statement ${number}`,
      options("verdict?", "yes", "no"),
      said?.verdict ?? null,
      (value) => (statementOf(item, metric, number).verdict = value),
    ),
  );
}

function metricPart(item, { metric, statements }) {
  const added = annotations.get(item)?.metrics.get(metric)?.added ?? [];
  return h.details(
    "",
    h.summary("", `${metric}: ${plural(statements.length, "statement")}`),
    statements.map((statement) => statementRow(item, metric, statement)),
    area("Missing statements, one per line", 2, added.join("\n"), (value) => {
      const lines = value.split("\n").map((line) => line.trim());
      metricOf(item, metric).added = lines.filter(Boolean);
    }),
  );
}

function ratingPart(item) {
  const radio = (value) =>
    el("input", {
      type: "radio",
      name: `rating-${item}`,
      checked: annotations.get(item)?.rating === value,
      onchange: () => {
        itemOf(item).rating = value;
        changed();
      },
    });
  return h.fieldset(
    "",
    h.legend("", "How good is the answer?"),
    RATINGS.map(([value, meaning]) => h.label("", radio(value), ` ${value} ${meaning}`)),
  );
}

function article({ item, question, references, answer, contexts, metrics }, place) {
  return h.article(
    "",
    h.h2("", `${place + 1}. ${question ?? "(no question)"}`),
    references.map((text, number) => [
      h.h3("", `Expected answer${references.length > 1 ? ` ${number + 1}` : ""}`),
      h.div("text", text),
    ]),
    h.h3("", "Answer"),
    h.div("text answer", answer ?? "(no answer)"),
    contexts.length
      ? h.details(
          "",
          h.summary("", plural(contexts.length, "context")),
          contexts.map((text, number) => h.div("text", `[${number + 1}] ${text}`)),
        )
      : null,
    ratingPart(item),
    metrics.map((part) => metricPart(item, part)),
    area("Note", 1, annotations.get(item)?.note ?? "", (value) => (itemOf(item).note = value)),
  );
}

function draw() {
  document.getElementById("items").replaceChildren(...data.items.map(article));
}

document.getElementById("title").textContent = data.title;
document.getElementById("controls").append(
  ...bookkeeping({
    seed: data.seed,
    key: `${FILE_FORMAT}:${data.seed}:${data.items.map((each) => each.item).join()}`,
    refusal: "this file is not an export of this sheet",
    progress: () => {
      const rated = data.items.filter(({ item }) => (annotations.get(item)?.rating ?? null) !== null);
      return `${rated.length} of ${data.items.length} rated`;
    },
    redraw: draw,
  }),
);
draw();
keep();
