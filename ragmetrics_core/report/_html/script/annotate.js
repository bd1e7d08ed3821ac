// What a person says of verdicts and answers, saved as the file of an annotation sheet; `study annotations` reads it.

const FILE_FORMAT = "ragmetrics-annotations";
const SEED = 0; // the one that the names of the items are made with
const RATINGS = [
  ["good", 4],
  ["bad", 2],
];
const annotations = new Map(); // by item: rating, note and, by signature, statements and what was missing
let annotator = "",
  isAnnotating = false,
  unsaved = 0;

function itemOf(item) {
  if (!annotations.has(item)) annotations.set(item, { rating: null, note: "", metrics: new Map() });
  return annotations.get(item);
}
function statementOf(item, signature, number) {
  const metrics = itemOf(item).metrics;
  if (!metrics.has(signature)) metrics.set(signature, { statements: new Map(), added: [] });
  const statements = metrics.get(signature).statements;
  if (!statements.has(number)) statements.set(number, { extracted: null, verdict: null });
  return statements.get(number);
}

// Buttons of which one at most is pressed; pressing it again takes the answer back.
function choiceOf(label, options, get, set) {
  const buttons = options.map(([word, value]) =>
    el(
      "button",
      {
        type: "button",
        "aria-label": `${label}: ${word}`,
        onclick: () => {
          set(get() === value ? null : value);
          unsaved += 1;
          draw();
          keep();
        },
      },
      word,
    ),
  );
  const draw = () => buttons.forEach((each, at) => each.setAttribute("aria-pressed", get() === options[at][1]));
  draw();
  return el("span", { class: "marking", role: "group", "aria-label": label }, buttons);
}

function verdictChoice(side, record, verdict) {
  if (!isAnnotating || !side.item) return null;
  const signature = record.exact || record.signature;
  const options =
    verdict.supported === null
      ? [
          ["supported", true],
          ["not supported", false],
        ]
      : [
          ["right", verdict.supported],
          ["wrong", !verdict.supported],
        ];
  return choiceOf(
    `Verdict ${verdict.number}`,
    options,
    () => annotations.get(side.item)?.metrics.get(signature)?.statements.get(verdict.number)?.verdict ?? null,
    (value) => (statementOf(side.item, signature, verdict.number).verdict = value),
  );
}

function answerChoice(side) {
  if (!isAnnotating || !side.item) return null;
  const note = el("input", {
    type: "text",
    "aria-label": "Note on the answer",
    placeholder: "note",
    value: annotations.get(side.item)?.note || null,
    oninput: () => {
      itemOf(side.item).note = note.value;
      unsaved += 1;
      keep();
    },
  });
  return h.p(
    "",
    "The answer is ",
    choiceOf(
      "The answer",
      RATINGS,
      () => annotations.get(side.item)?.rating ?? null,
      (value) => (itemOf(side.item).rating = value),
    ),
    " ",
    note,
  );
}

// r and w, on a statement, say right and wrong.
function markByKey(event) {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = { r: 0, w: 1 }[event.key];
  if (at !== undefined) event.currentTarget.querySelectorAll(".marking button")[at]?.click();
}

function saved() {
  const items = [];
  for (const [item, said] of annotations) {
    const parts = [...said.metrics].map(([metric, part]) => ({
      metric,
      statements: [...part.statements]
        .filter(([, each]) => each.extracted !== null || each.verdict !== null)
        .map(([number, each]) => ({ number, ...each })),
      added: part.added,
    }));
    const told = parts.filter((part) => part.statements.length || part.added.length);
    if (said.rating !== null || said.note || told.length)
      items.push({ item, rating: said.rating, note: said.note, metrics: told });
  }
  return { format: FILE_FORMAT, version: 1, annotator: annotator.trim(), seed: SEED, items };
}

function takeIn(file) {
  if (file.format !== FILE_FORMAT || file.version !== 1 || file.seed !== SEED)
    throw new Error("it holds no annotations of a report");
  const items = file.items.map((each) => [
    each.item,
    {
      rating: each.rating,
      note: each.note,
      metrics: new Map(
        each.metrics.map((part) => [
          part.metric,
          {
            statements: new Map(part.statements.map(({ number, extracted, verdict }) => [number, { extracted, verdict }])),
            added: part.added,
          },
        ]),
      ),
    },
  ]);
  annotator = file.annotator;
  for (const [item, said] of items) annotations.set(item, said);
}

const keptAs = () => `${FILE_FORMAT}:${overview.paths.join()}:${overview.runs.map((run) => run.started).join()}`;
function keep() {
  const count = saved().items.length;
  document.getElementById("marked").textContent =
    `${plural(count, "answer")} marked` + (unsaved ? `, ${plural(unsaved, "change")} not saved` : "");
  try {
    localStorage.setItem(keptAs(), JSON.stringify(saved()));
  } catch {
    // a page opened from a file may not be allowed to keep anything: the saved file is what counts
  }
}

function annotateBar() {
  const problem = el("span", { role: "alert", class: "no", id: "annotate-problem" });
  const name = el("input", {
    type: "text",
    id: "annotator",
    autocomplete: "off",
    oninput: () => {
      annotator = name.value;
      keep();
    },
  });
  const load = el("input", {
    type: "file",
    id: "annotate-load",
    accept: ".json",
    onchange: async () => {
      try {
        takeIn(JSON.parse(await load.files[0].text()));
        problem.textContent = "";
        name.value = annotator;
        keep();
        show();
      } catch (error) {
        problem.textContent = `The file cannot be used: ${error.message}`;
      }
    },
  });
  const save = () => {
    const file = saved();
    if (!file.annotator) {
      problem.textContent = "Write your name first: marks without one cannot be told from others.";
      return name.focus();
    }
    problem.textContent = "";
    const link = el("a", { download: `annotations-${file.annotator.replace(/[^\w-]+/g, "_")}.json` });
    link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" }));
    link.click();
    URL.revokeObjectURL(link.href);
    unsaved = 0;
    keep();
  };
  const bar = el(
    "section",
    { id: "annotating", "aria-label": "Annotations", hidden: true },
    el("label", {}, "Your name ", name),
    el("button", { type: "button", onclick: save }, "Save annotations"),
    el("label", {}, "Go on with ", load),
    el("span", { id: "marked", role: "status" }),
    problem,
    h.span("muted", "Open a sample; r and w on a statement say that its verdict is right or wrong."),
  );
  const toggle = el(
    "button",
    {
      type: "button",
      id: "annotate",
      "aria-pressed": false,
      "aria-controls": "annotating",
      onclick: () => {
        isAnnotating = !isAnnotating;
        toggle.setAttribute("aria-pressed", isAnnotating);
        bar.hidden = !isAnnotating;
        show();
      },
    },
    "Annotate",
  );
  document.getElementById("top").append(toggle);
  document.getElementById("top").after(bar);
  try {
    const kept = localStorage.getItem(keptAs());
    if (kept) takeIn(JSON.parse(kept));
  } catch {
    // nothing was kept
  }
  name.value = annotator;
  keep();
}
