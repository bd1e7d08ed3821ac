// The proof of a score: formula, marked texts, verdicts, prompts and replies.

function formula(record, metric) {
  const [symbol, kind] = STATUS[record.status];
  return h.div(
    "formula",
    h.div(
      "headline",
      record.value === null
        ? h.span(`score ${kind}`, symbol, record.bounds ? ` ${range(record.bounds)}` : "")
        : h.span(`score ${level(record.value, metric)}`, number(record.value)),
      el(record.status === "ok" ? "code" : "span", { dir: "auto" }, record.headline),
    ),
    record.parts.length
      ? h.ul(
          "plain mono small",
          record.parts.map(([depth, name, told]) =>
            h.li("", "\u00a0\u00a0".repeat(depth), h.span("muted", `${name}  `), told),
          ),
        )
      : null,
    record.numbers ? h.p("muted small", record.numbers) : null,
    record.coverage.map((line) => h.p("muted small", line)),
    record.judge_notes.map((line) => h.p("muted small", `Judge: ${line}`)),
    record.declined ? h.p("open", `! The answer declines to answer: ${record.declined}`) : null,
  );
}

const standingOf = (standing) =>
  standing ? [" · ", standing === "counts" ? h.b("", standing) : h.span("muted", standing)] : null;

function sources(side, marks, standings) {
  const one = (title, name, content) => [
    h.h3("", title),
    content ? markedText("p", content, marks[name]) : h.p("muted", "(absent)"),
  ];
  const { items: references } = side.references;
  return h.div(
    "sources",
    one("Answer", "answer", side.answer),
    references.length ? null : one("Reference", "reference", null),
    references.map((content, at) =>
      one(
        references.length > 1 ? [`Reference ${at + 1}`, standingOf(standings[at])] : "Reference",
        at ? `reference ${at + 1}` : "reference",
        content,
      ),
    ),
    more(side.references, "reference"),
  );
}

function contexts(side, marks, groups) {
  const verdicts = groups.filter((group) => group.about === "chunk").flatMap((group) => group.verdicts.items);
  return h.div(
    "",
    side.contexts
      ? [
          h.h3("", `Contexts, in rank order ${side.found_by}`),
          h.ol(
            "chunks",
            side.contexts.items.map(({ text, id, standing, is_shown }, position) => {
              const { number: name, look, label, unsure } = verdicts[position] || {};
              return el(
                "li",
                { "data-n": name, class: look },
                h.div(
                  "rank",
                  h.b("", position + 1),
                  id ? ` ${id}` : "",
                  standing ? h.span(is_shown ? "muted" : "no", ` ${standing}`) : null,
                  look ? h.span(look, ` ${SYMBOL[look]} ${label}`, unsure && ` (${unsure})`) : null,
                ),
                markedText("div", text, marks[`chunk ${position + 1}`]),
              );
            }),
          ),
          side.contexts.items.length ? null : h.p("muted", "(none were shown)"),
          more(side.contexts, "chunk"),
        ]
      : h.p("muted", "The sample has no contexts."),
    side.stages.length
      ? [
          h.h3("", "Retrieval, stage by stage"),
          factsOf(
            side.stages.flatMap(({ name, what, chunks, unaccounted }) => [
              [name, [what, ...chunks.items].join(" · ")],
              ...unaccounted.items.map((text) => ["unknown", text]),
            ]),
          ),
        ]
      : null,
  );
}

// Marks are counted in characters: those beyond the basic plane take two units of a text here.
function markedText(tag, [content, left], marks = []) {
  if (!marks.length) return flow(tag, [content, left]);
  const letters = Array.from(content);
  const [made, ...below] = flow(tag, [" ", left]);
  made.replaceChildren();
  const ends = [...new Set([0, letters.length, ...marks.flatMap(([start, end]) => [start, end])])]
    .filter((at) => at <= letters.length)
    .sort((a, b) => a - b);
  const rank = { contradicted: 4, no: 3, open: 2, unsure: 1, yes: 0 };
  ends.slice(0, -1).forEach((start, position) => {
    const end = ends[position + 1];
    const on = marks.filter((mark) => mark[0] <= start && mark[1] >= end);
    const piece = letters.slice(start, end).join("");
    if (!on.length) return made.append(piece);
    const kind = on.map((mark) => mark[3]).reduce((one, other) => (rank[other] > rank[one] ? other : one));
    const numbers = [...new Set(on.map((mark) => mark[2]))];
    made.append(
      el(
        "mark",
        { class: `${kind} ${on.every((mark) => mark[4] === "near") ? "near" : ""}`, "data-n": numbers.join(" ") },
        piece,
      ),
    );
    const over = new Map(on.filter((mark) => mark[1] === end).map((mark) => [mark[2], mark[3]]));
    if (over.size)
      made.append(
        h.sup(
          "",
          [...over]
            .sort(([a], [b]) => a - b)
            .map(([name, look]) => el("span", { class: look, "data-n": name }, `${SYMBOL[look]}${name}`)),
        ),
      );
  });
  return [made, below];
}

function verdictLists(side, record) {
  const one = (verdict) =>
    el(
      "li",
      { tabindex: 0, class: verdict.look, "data-n": verdict.number, onkeydown: markByKey },
      el("span", { class: "sign", "aria-hidden": "true" }, SYMBOL[verdict.look]),
      h.div(
        "",
        h.div(
          "",
          h.span("muted", `${verdict.number} `),
          h.b(verdict.look, verdict.label),
          " ",
          bidi(verdict.text),
          verdict.cosine === null ? null : h.span("muted", ` cosine ${number(verdict.cosine)}`),
          verdict.probability ? h.span("muted", ` ${verdict.probability}`) : null,
        ),
        verdict.unsure ? h.div("unsure", verdict.unsure) : null,
        verdict.tally ? h.div(verdict.tally.endsWith("tie") ? "open" : "muted", verdict.tally) : null,
        verdict.reason ? el("div", { class: "muted", dir: "auto" }, verdict.reason) : null,
        verdict.quotes.map(({ text, where, is_found }) =>
          h.div(
            "quote",
            bidi(text),
            " ",
            h.span(is_found ? "muted" : "no", `${is_found ? "" : "✗ "}${where}`),
          ),
        ),
        verdict.decision ? h.div("open", `! ${verdict.decision}`) : null,
        verdictChoice(side, record, verdict),
      ),
    );
  return [
    record.groups.map(({ title, standing, unsure, verdicts }) => [
      h.h3("", title, standingOf(standing)),
      unsure ? h.p("unsure small", unsure) : null,
      h.ol("verdicts", verdicts.items.map(one)),
      more(verdicts, "verdict"),
    ]),
    record.legend ? h.p("small", h.b("unsure", SYMBOL.unsure), ` ${record.legend}`) : null,
  ];
}

function prompts(side, record) {
  const step = ({ path, title, rule, details, judge, messages, reply, value, remarks, numbers }) => {
    const part = (name, content) => (content[0] ? [h.h4("", name), flow("pre", content)] : null);
    const made = folded([
      `${path} `,
      h.b("", title),
      rule ? [" read as ", h.b(rule === "unread" ? "no" : "", rule)] : null,
      [...details, judge].filter(Boolean).map((each) => ` · ${each}`),
    ]);
    made.className = "step";
    made.addEventListener("toggle", () => {
      if (!made.open || made.childElementCount > 1) return;
      const content = [
        part("Numbers", numbers),
        messages.map(([role, place]) => part(`Prompt, ${role}`, side.messages[place])),
        rule ? [h.h4("", "Reply"), flow("pre", reply)] : null,
        part(`Reply read as ${rule}`, value),
        remarks.length ? [h.h4("", "Problems"), listed(remarks)] : null,
      ];
      made.append(...content.flat(Infinity).filter(Boolean));
    });
    return made;
  };
  return record.steps.length
    ? h.section(
        "",
        h.h3("", "Prompts and replies"),
        record.problem ? h.p("notice", record.problem) : null,
        record.steps.map(step),
      )
    : null;
}

// Pointing at a statement, or standing on it with the keyboard, shows what it rests on; and the other way round.
function lightUp(root) {
  const light = (numbers, from, isFirm) => {
    for (const each of root.querySelectorAll(".lit")) each.classList.remove("lit");
    if (!numbers.length) return;
    const lit = [...root.querySelectorAll("[data-n]")].filter((each) =>
      each.dataset.n.split(" ").some((number) => numbers.includes(number)),
    );
    lit.forEach((each) => each.classList.add("lit"));
    const box = root.querySelector(".right");
    const first = lit.find((each) => box.contains(each));
    if (!first || box.contains(from)) return;
    if (box.scrollHeight > box.clientHeight) {
      const by = first.getBoundingClientRect().top - box.getBoundingClientRect().top;
      if (by < 0 || by > box.clientHeight - 60) box.scrollTop += by - 60;
    } else if (isFirm) first.scrollIntoView({ block: "nearest" });
  };
  const numbersAt = (target) => target?.closest?.("[data-n]")?.dataset.n.split(" ") || [];
  const held = () => numbersAt(root.querySelector(".verdicts li:focus"));
  root.addEventListener("mouseover", ({ target }) => {
    const numbers = numbersAt(target);
    light(numbers.length ? numbers : held(), target);
  });
  root.addEventListener("mouseleave", () => light(held(), root));
  root.addEventListener("focusin", ({ target }) => light(numbersAt(target), target, true));
  root.addEventListener("focusout", () => light([], root));
  root.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const items = [...root.querySelectorAll(".verdicts li")],
      at = items.indexOf(event.target);
    if (by && at >= 0) {
      event.preventDefault();
      items[at + by]?.focus();
    }
  });
}
