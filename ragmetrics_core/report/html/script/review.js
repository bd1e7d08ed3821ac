// The review sheet: each question with its quotes and answer, to accept, edit or reject.

const KEPT = "decisions";
const FORMAT = "ragmetrics-question-decisions";
const WHY = [
  "The answer is wrong.",
  "The quotes do not answer it.",
  "It cannot be understood on its own.",
  "It asks several things.",
  "Nobody would ask it.",
];
const DECISIONS = { accept: "Accept", edit: "Edit", reject: "Reject" };
const made = new Map(); // by question id: decision, reason, and the edited question and answer
let sheet;

const isChanged = (item, { question, answer }) =>
  question !== item.raw.question || (answer || null) !== (item.raw.answer || null);
const problemOf = (item, at) => {
  const decision = made.get(item.id);
  if (decision?.decision === "reject" && !decision.reason.trim()) return `Question ${at + 1} is rejected without a reason.`;
  if (decision?.decision !== "edit") return "";
  if (!isChanged(item, decision)) return `Question ${at + 1} is not changed: edit its texts, or accept it.`;
  if (!decision.question.trim()) return `Question ${at + 1} has no text: reject it instead.`;
  return item.raw.answer && !decision.answer.trim() ? `Question ${at + 1} has no answer: write one, or reject it.` : "";
};

function saved() {
  const items = sheet.items
    .filter(({ id }) => made.get(id)?.decision)
    .map((item) => {
      const { decision, reason, question, answer } = made.get(item.id);
      const edit = decision === "edit" ? { question, answer: answer || null } : { question: null, answer: null };
      return { question_id: item.id, shown: item.shown, decision, reason, ...edit };
    });
  return { format: FORMAT, version: 1, annotator: annotator.trim(), items };
}

function takeIn(file) {
  const shown = new Map(sheet.items.map((item) => [item.id, item]));
  const isOurs = ({ question_id, shown: digest }) => shown.get(question_id)?.shown === digest;
  if (file.format !== FORMAT || file.version !== 1 || !file.items.every(isOurs))
    throw new Error("it is not a file of decisions on this sheet");
  annotator = file.annotator;
  for (const { question_id, decision, reason, question, answer } of file.items) {
    const { raw } = shown.get(question_id);
    const texts = decision === "edit" ? { question, answer: answer ?? "" } : { ...raw, answer: raw.answer ?? "" };
    made.set(question_id, { decision, reason, ...texts });
  }
}

function input(label, text, set, more) {
  const area = el(more?.rows ? "textarea" : "input", {
    ...more,
    oninput: () => {
      set(area.value);
      changed();
    },
  });
  area.value = text;
  return h.label("field", label, area);
}

function card(item, at) {
  const decision = () => {
    const { question, answer } = item.raw;
    if (!made.has(item.id)) made.set(item.id, { decision: null, reason: "", question, answer: answer ?? "" });
    return made.get(item.id);
  };
  const fields = h.div("fields");
  const buttons = Object.entries(DECISIONS).map(([name, word]) =>
    button([h.u("", word[0]), word.slice(1)], () => choose(name), { "data-decision": name, "aria-label": word }),
  );
  const draw = () => {
    const chosen = decision();
    for (const each of buttons) each.setAttribute("aria-pressed", each.dataset.decision === chosen.decision);
    article.dataset.decision = chosen.decision ?? "";
    const reason = input("Reason", chosen.reason, (value) => (chosen.reason = value), { list: "why" });
    const edits = [
      input("Question", chosen.question, (value) => (chosen.question = value), { rows: 2 }),
      item.raw.answer === null ? null : input("Answer", chosen.answer, (value) => (chosen.answer = value), { rows: 3 }),
    ];
    const shown = { edit: [...edits, reason], reject: [reason] }[chosen.decision] ?? [];
    fields.replaceChildren(...shown.filter(Boolean));
  };
  const choose = (name) => {
    const chosen = decision();
    chosen.decision = chosen.decision === name ? null : name;
    draw();
    changed();
    if (chosen.decision && name !== "accept") fields.querySelector("textarea, input").focus();
  };
  const article = el(
    "article",
    { class: "card", tabindex: 0, "aria-label": `Question ${at + 1}`, id: `question-${at + 1}` },
    h.p("rank", h.b("", `${at + 1} of ${sheet.items.length}`), " ", item.kind ? h.span("chip none", words(item.kind)) : null),
    questionTexts(item),
    el("div", { class: "deciding", role: "group", "aria-label": `Decision on question ${at + 1}` }, buttons),
    fields,
  );
  article.addEventListener("keydown", (event) => {
    if (event.target !== article || event.ctrlKey || event.metaKey || event.altKey) return;
    const name = { a: "accept", e: "edit", r: "reject" }[event.key];
    if (name) {
      event.preventDefault();
      choose(name);
    }
  });
  draw();
  return article;
}

function showSheet() {
  page.replaceChildren(
    h.h1("", sheet.title),
    h.p(
      "lead",
      sheet.items.length < sheet.total
        ? `${sheet.items.length} of ${plural(sheet.total, "question")}, drawn at random (seed ${sheet.seed}). `
        : `All ${plural(sheet.total, "question")}, in random order. `,
      "Accept a question if a user could ask it and the marked quotes prove its answer. Decide in the order of the sheet, and before you see other people's decisions. Nothing leaves this page until you save it.",
    ),
    h.p(
      "muted small",
      "Keys: ",
      [["j", "next"], ["k", "previous"], ["a", "accept"], ["e", "edit"], ["r", "reject"], ["Esc", "back to the question"]].map(
        ([key, told]) => [h.kbd("", key), ` ${told}  `],
      ),
    ),
    ...sheet.items.map(card),
    el("datalist", { id: "why" }, WHY.map((value) => el("option", { value }))),
  );
}

addEventListener("keydown", (event) => {
  const field = event.target.closest("input, textarea");
  if (event.key === "Escape" && field) return field.closest("article")?.focus();
  if (field || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = { j: 1, k: -1 }[event.key];
  const cards = [...document.querySelectorAll("article")];
  const at = cards.indexOf(document.activeElement?.closest("article"));
  if (by) (cards[at + by] ?? cards[at] ?? cards[0])?.focus();
});

async function start() {
  if (isOld) return;
  sheet = await read("overview");
  annotator = sheet.annotator;
  const head = document.getElementById("top");
  head.classList.add("fixed");
  head.append(h.span("brand", "ragmetrics"));
  const controls = bookkeeping({
    key: `${FORMAT}:${sheet.items.map(({ shown }) => shown).join()}`,
    refusal: "",
    progress: () => {
      const count = sheet.items.filter(({ id }) => made.get(id)?.decision).length;
      return `${count} of ${sheet.items.length} decided` + (unsaved ? `, ${plural(unsaved, "change")} not saved` : "");
    },
    incomplete: () => sheet.items.map(problemOf).find(Boolean),
    redraw: showSheet,
  });
  head.append(...controls, h.span("grow"), coloursButton());
  showSheet();
  keep();
}
start();
