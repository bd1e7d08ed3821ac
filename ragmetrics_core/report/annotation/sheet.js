"use strict";
// Texts of the data reach the page through textContent only.
const data = JSON.parse(document.getElementById("data").textContent);
const ratings = [
  [1, "Very poor: the answer is wrong or has nothing to do with the question."],
  [2, "Poor: mostly wrong, but something in it is to the point."],
  [3, "Neither: about as much right as wrong or beside the point."],
  [4, "Good: right in the main, with small mistakes or superfluous detail."],
  [5, "Very good: right in full, and all of it to the point."],
];
const key = "ragmetrics-annotations:" + data.seed + ":" + data.items.map((each) => each.item).join();
const answers = new Map(data.items.map((each) => [each.item, { rating: null, note: "", metrics: new Map() }]));

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function metricOf(item, metric) {
  const metrics = answers.get(item).metrics;
  if (!metrics.has(metric)) metrics.set(metric, { statements: new Map(), added: [] });
  return metrics.get(metric);
}

function statementOf(item, metric, number) {
  const statements = metricOf(item, metric).statements;
  if (!statements.has(number)) statements.set(number, { extracted: null, verdict: null });
  return statements.get(number);
}

function choice(label, options, value, changed) {
  const select = element("select", { ariaLabel: label });
  for (const [text, each] of options) {
    select.append(element("option", { textContent: text, value: String(each), selected: each === value }));
  }
  select.addEventListener("change", () => {
    const chosen = options.find(([, each]) => String(each) === select.value);
    changed(chosen[1]);
    keep();
  });
  return select;
}

function statementRow(item, metric, statement) {
  const said = answers.get(item).metrics.get(metric)?.statements.get(statement.number);
  const judged = statement.verdict === null ? "no verdict" : statement.label;
  return element(
    "div",
    { className: "statement" },
    element(
      "div",
      {},
      element("div", { className: "text", textContent: statement.number + ". " + statement.text }),
      element("small", { textContent: statement.about + "; the judge says: " + judged })
    ),
    choice(
      "Does the text say statement " + statement.number + "?",
      [["said?", null], ["is said", true], ["is not said", false]],
      said ? said.extracted : null,
      (value) => { statementOf(item, metric, statement.number).extracted = value; }
    ),
    choice(
      "Verdict on statement " + statement.number,
      [["verdict?", null], ["yes", true], ["no", false]],
      said ? said.verdict : null,
      (value) => { statementOf(item, metric, statement.number).verdict = value; }
    )
  );
}

function metricPart(item, part) {
  const added = element("textarea", { rows: 2, ariaLabel: "Statements that are missing, one a line" });
  added.value = (answers.get(item).metrics.get(part.metric)?.added ?? []).join("\n");
  added.addEventListener("input", () => {
    metricOf(item, part.metric).added = added.value.split("\n").map((line) => line.trim()).filter(Boolean);
    keep();
  });
  return element(
    "details",
    {},
    element("summary", { textContent: part.metric + ": " + part.statements.length + " statements" }),
    ...part.statements.map((statement) => statementRow(item, part.metric, statement)),
    element("label", {}, "Statements that are missing, one a line", added)
  );
}

function ratingPart(item) {
  const group = element("fieldset", {}, element("legend", { textContent: "How good is the answer?" }));
  for (const [value, meaning] of ratings) {
    const radio = element("input", { type: "radio", name: "rating-" + item, value: String(value) });
    radio.checked = answers.get(item).rating === value;
    radio.addEventListener("change", () => { answers.get(item).rating = value; keep(); });
    group.append(element("label", {}, radio, " " + value + " " + meaning));
  }
  return group;
}

function article(each, place) {
  const note = element("textarea", { rows: 1, ariaLabel: "Note", value: answers.get(each.item).note });
  note.addEventListener("input", () => { answers.get(each.item).note = note.value; keep(); });
  const part = element(
    "article",
    { id: "item-" + each.item },
    element("h2", { textContent: place + 1 + ". " + (each.question ?? "(no question)") })
  );
  each.references.forEach((text, number) => {
    const title = each.references.length > 1 ? "Expected answer " + (number + 1) : "Expected answer";
    part.append(element("h3", { textContent: title }), element("div", { className: "text", textContent: text }));
  });
  part.append(
    element("h3", { textContent: "Answer" }),
    element("div", { className: "text answer", textContent: each.answer ?? "(no answer)" })
  );
  if (each.contexts.length) {
    part.append(
      element(
        "details",
        {},
        element("summary", { textContent: each.contexts.length + " contexts" }),
        ...each.contexts.map((text, number) => element("div", { className: "text", textContent: "[" + (number + 1) + "] " + text }))
      )
    );
  }
  part.append(ratingPart(each.item), ...each.metrics.map((metric) => metricPart(each.item, metric)));
  part.append(element("label", {}, "Note ", note));
  return part;
}

function exported() {
  const items = [];
  for (const [item, said] of answers) {
    const metrics = [];
    for (const [metric, part] of said.metrics) {
      const statements = [...part.statements]
        .filter(([, each]) => each.extracted !== null || each.verdict !== null)
        .map(([number, each]) => ({ number, ...each }));
      if (statements.length || part.added.length) metrics.push({ metric, statements, added: part.added });
    }
    if (said.rating !== null || said.note || metrics.length) {
      items.push({ item, rating: said.rating, note: said.note, metrics });
    }
  }
  const annotator = document.getElementById("annotator").value.trim();
  return { format: "ragmetrics-annotations", version: 1, annotator, seed: data.seed, items };
}

function taken(found) {
  if (found.format !== "ragmetrics-annotations" || found.seed !== data.seed) {
    throw new Error("this file is not an export of this sheet");
  }
  document.getElementById("annotator").value = found.annotator;
  for (const each of found.items) {
    const said = answers.get(each.item);
    if (!said) continue;
    Object.assign(said, { rating: each.rating, note: each.note, metrics: new Map() });
    for (const part of each.metrics) {
      metricOf(each.item, part.metric).added = part.added;
      for (const { number, extracted, verdict } of part.statements) {
        Object.assign(statementOf(each.item, part.metric, number), { extracted, verdict });
      }
    }
  }
  draw();
}

function keep() {
  document.getElementById("progress").textContent =
    [...answers.values()].filter((each) => each.rating !== null).length + " of " + answers.size + " rated";
  try {
    localStorage.setItem(key, JSON.stringify(exported()));
  } catch {
    // a page opened from a file may not be allowed to keep anything: the export is what counts
  }
}

function problem(text) {
  document.getElementById("problem").textContent = text;
}

function draw() {
  document.getElementById("items").replaceChildren(...data.items.map(article));
  keep();
}

document.getElementById("title").textContent = data.title;
document.getElementById("annotator").addEventListener("input", keep);
document.getElementById("export").addEventListener("click", () => {
  const found = exported();
  if (!found.annotator) {
    problem("Write your name first: answers without one cannot be told from others.");
    document.getElementById("annotator").focus();
    return;
  }
  problem("");
  const link = element("a", { download: "annotations-" + found.annotator.replace(/[^\w-]+/g, "_") + ".json" });
  link.href = URL.createObjectURL(new Blob([JSON.stringify(found, null, 1)], { type: "application/json" }));
  link.click();
  URL.revokeObjectURL(link.href);
});
document.getElementById("load").addEventListener("change", async (event) => {
  try {
    taken(JSON.parse(await event.target.files[0].text()));
    problem("");
  } catch (error) {
    problem("The file cannot be used: " + error.message);
  }
});
try {
  const kept = localStorage.getItem(key);
  if (kept) taken(JSON.parse(kept));
} catch {
  // nothing was kept
}
draw();
