// Annotating in the report: buttons on verdicts and answers.

let isAnnotating = false;

// Buttons of which one at most is pressed; pressing it again takes the answer back.
function choiceOf(label, options, get, set) {
  const buttons = options.map(([word, value]) => {
    const press = () => {
      set(get() === value ? null : value);
      draw();
      changed();
    };
    return button(word, press, { "aria-label": `${label}: ${word}` });
  });
  const draw = () => buttons.forEach((each, at) => each.setAttribute("aria-pressed", get() === options[at][1]));
  draw();
  return el("span", { class: "marking", role: "group", "aria-label": label }, buttons);
}

function verdictChoice(side, record, verdict) {
  if (!isAnnotating || !side.item) return null;
  const [yes, no] = verdict.supported === null ? ["supported", "not supported"] : ["right", "wrong"];
  const right = verdict.supported ?? true;
  return choiceOf(
    `Verdict ${verdict.number}`,
    Object.entries({ [yes]: right, [no]: !right }),
    () => annotations.get(side.item)?.metrics.get(record.exact)?.statements.get(verdict.number)?.verdict ?? null,
    (value) => (statementOf(side.item, record.exact, verdict.number).verdict = value),
  );
}

function answerChoice(side) {
  if (!isAnnotating || !side.item) return null;
  const note = el("input", {
    type: "text",
    "aria-label": "Note on the answer",
    placeholder: "note",
    value: annotations.get(side.item)?.note,
    oninput: () => {
      itemOf(side.item).note = note.value;
      changed();
    },
  });
  const ratings = Object.entries({ good: 4, bad: 2 });
  const choice = choiceOf(
    "The answer",
    ratings,
    () => annotations.get(side.item)?.rating ?? null,
    (value) => (itemOf(side.item).rating = value),
  );
  return h.p("", "The answer is ", choice, " ", note);
}

// r and w, on a statement, say right and wrong.
function markByKey(event) {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = { r: 0, w: 1 }[event.key];
  if (at !== undefined) event.currentTarget.querySelectorAll(".marking button")[at]?.click();
}

function annotateBar() {
  const controls = bookkeeping({
    seed: 0, // the one that the names of the items are made with
    key: `${FILE_FORMAT}:${overview.paths.join()}:${overview.runs.map((run) => run.started).join()}`,
    refusal: "it is not a file of annotations",
    progress: () =>
      `${plural(saved().items.length, "answer")} marked` + (unsaved ? `, ${plural(unsaved, "change")} not saved` : ""),
    redraw: show,
  });
  const hint = h.span("muted", "Open a sample; on a statement, press r or w to mark its verdict right or wrong.");
  const bar = el("section", { id: "annotating", "aria-label": "Annotations", hidden: true }, controls, hint);
  const turn = () => {
    isAnnotating = !isAnnotating;
    toggle.setAttribute("aria-pressed", isAnnotating);
    bar.hidden = !isAnnotating;
    show();
  };
  const toggle = button("Annotate", turn, { id: "annotate", "aria-pressed": false, "aria-controls": "annotating" });
  document.getElementById("top").append(toggle);
  document.getElementById("top").after(bar);
  keep();
}
