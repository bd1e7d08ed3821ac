// Annotations of answers and verdicts: kept in the browser, and saved as a file for `study annotations`.

const FILE_FORMAT = "ragmetrics-annotations";
const annotations = new Map(); // by item: rating, note and, by signature, statements and what was missing
let annotator = "";
let unsaved = 0;
let book; // the page's own: seed, key, refusal, and functions for its progress and to draw it again

function itemOf(item) {
  if (!annotations.has(item)) annotations.set(item, { rating: null, note: "", metrics: new Map() });
  return annotations.get(item);
}
function metricOf(item, signature) {
  const metrics = itemOf(item).metrics;
  if (!metrics.has(signature)) metrics.set(signature, { statements: new Map(), added: [] });
  return metrics.get(signature);
}
function statementOf(item, signature, number) {
  const statements = metricOf(item, signature).statements;
  if (!statements.has(number)) statements.set(number, { extracted: null, verdict: null });
  return statements.get(number);
}

function saved() {
  const items = [];
  for (const [item, { rating, note, metrics }] of annotations) {
    const parts = [...metrics].map(([metric, { statements, added }]) => ({
      metric,
      statements: [...statements]
        .filter(([, each]) => each.extracted !== null || each.verdict !== null)
        .map(([number, each]) => ({ number, ...each })),
      added,
    }));
    const told = parts.filter((part) => part.statements.length || part.added.length);
    if (rating !== null || note || told.length) items.push({ item, rating, note, metrics: told });
  }
  return { format: FILE_FORMAT, version: 1, annotator: annotator.trim(), seed: book.seed, items };
}

function takeIn(file) {
  if (file.format !== FILE_FORMAT || file.version !== 1 || file.seed !== book.seed) throw new Error(book.refusal);
  const statements = (part) =>
    new Map(part.statements.map(({ number, extracted, verdict }) => [number, { extracted, verdict }]));
  const items = file.items.map(({ item, rating, note, metrics }) => [
    item,
    {
      rating,
      note,
      metrics: new Map(metrics.map((part) => [part.metric, { statements: statements(part), added: part.added }])),
    },
  ]);
  annotator = file.annotator;
  for (const [item, said] of items) annotations.set(item, said);
}

function changed() {
  unsaved += 1;
  keep();
}
function keep() {
  document.getElementById("progress").textContent = book.progress();
  try {
    localStorage.setItem(book.key, JSON.stringify(saved()));
  } catch {
    // a page opened from a file may not be allowed to keep anything: the saved file is what counts
  }
}

// The controls: who annotates, saving, and going on with a saved file. To be put on the page at once.
function bookkeeping(settings) {
  book = settings;
  const problem = el("span", { role: "alert", class: "no", id: "problem" });
  const name = el("input", {
    type: "text",
    id: "annotator",
    autocomplete: "name",
    oninput: () => {
      annotator = name.value;
      keep();
    },
  });
  const load = el("input", {
    type: "file",
    id: "load",
    accept: ".json,application/json",
    onchange: async () => {
      try {
        takeIn(JSON.parse(await load.files[0].text()));
        problem.textContent = "";
        name.value = annotator;
        keep();
        book.redraw();
      } catch (error) {
        problem.textContent = `The file cannot be used: ${error.message}`;
      }
    },
  });
  const save = () => {
    const file = saved();
    if (!file.annotator) {
      problem.textContent = "Enter your name first: annotations need a name.";
      return name.focus();
    }
    problem.textContent = "";
    const link = el("a", {
      download: `annotations-${file.annotator.replace(/[^\w-]+/g, "_")}.json`,
      href: URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" })),
    });
    link.click();
    URL.revokeObjectURL(link.href);
    unsaved = 0;
    keep();
  };
  try {
    const kept = localStorage.getItem(book.key);
    if (kept) takeIn(JSON.parse(kept));
  } catch {
    // nothing was kept
  }
  name.value = annotator;
  return [
    el("label", {}, "Your name ", name),
    button("Save annotations", save),
    el("label", {}, "Continue from ", load),
    el("span", { id: "progress", role: "status" }),
    problem,
  ];
}
