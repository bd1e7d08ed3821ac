// The proof of a score: formula, marked texts, verdicts, prompts and replies.

const texts = (side) => h.div("", sources(side, {}, new Map(), []), contexts(side, {}, new Map()));

function formula(record, metric) {
  const [symbol, kind] = STATUS[record.status];
  return h.div(
    "formula",
    h.div(
      "headline",
      record.value !== null
        ? h.span(`score ${level(record.value, metric)}`, number(record.value))
        : h.span(
            `score ${kind}`,
            `${symbol} ${words(record.status)}${record.bounds ? ` ${range(record.bounds)}` : ""}`,
          ),
      record.formula ? h.code("", record.formula) : null,
      record.reason ? el("span", { dir: "auto" }, words(record.reason)) : null,
    ),
    record.parts.length
      ? h.ul(
          "plain mono small",
          record.parts.map(([depth, name, told]) =>
            h.li("", "\u00a0\u00a0".repeat(depth), h.span("muted", `${words(name)}  `), told),
          ),
        )
      : null,
    record.counts.length
      ? h.p(
          "muted small",
          record.counts.map(([name, value]) => `${words(name)} ${Number(value.toPrecision(6))}`).join(" · "),
        )
      : null,
    record.declined ? h.p("open", `! The answer declines to answer: ${record.declined}`) : null,
  );
}

const standingOf = (standing) => [
  " · ",
  standing === "counts" ? h.b("", standing) : h.span("muted", standing),
];

function sources(side, marks, verdicts, standings) {
  const one = (content, name, title) => [
    h.h3("", title),
    content === null
      ? h.p("muted", "(absent)")
      : text(content) === ""
        ? h.p("muted", "(empty)")
        : markedText("p", text(content), marks[name] || [], verdicts),
    rest(content),
  ];
  const several = side.references.length > 1;
  const references = (side.references.length ? side.references : [null]).map((content, at) =>
    one(
      content,
      at ? `reference ${at + 1}` : "reference",
      several
        ? [
            `Reference ${at + 1}`,
            standings[at] ? standingOf(standings[at]) : null,
          ]
        : "Reference",
    ),
  );
  return h.div(
    "sources",
    one(side.answer, "answer", "Answer"),
    references,
    side.more_references ? h.p("muted", `${plural(side.more_references, "more reference")} not shown.`) : null,
  );
}

function contexts(side, marks, verdicts) {
  if (side.contexts === null) return h.div("", h.p("muted", "The sample has no contexts."), stages(side));
  const chunks = [...verdicts.values()].filter((verdict) => verdict.about === "chunk");
  return h.div(
    "",
    h.h3("", `Contexts, in rank order`),
    h.ol(
      "chunks",
      side.contexts.map((chunk, position) => {
        const verdict = chunks[position];
        return el(
          "li",
          { "data-n": verdict ? verdict.number : null, class: verdict ? KIND[verdict.supported] : "" },
          h.div(
            "rank",
            h.b("", position + 1),
            side.context_ids[position] ? ` ${side.context_ids[position]}` : "",
            side.shown[position] ? h.span("muted", ` ${side.shown[position]}`) : null,
            verdict
              ? el("span", { class: KIND[verdict.supported] }, ` ${SYMBOL[verdict.supported]} ${verdict.label}`)
              : null,
          ),
          text(chunk) === ""
            ? h.p("muted", "(empty)")
            : markedText("div", text(chunk), marks[`contexts/${position + 1}`] || [], verdicts),
          rest(chunk),
        );
      }),
    ),
    side.contexts.length ? null : h.p("muted", "(none were shown)"),
    side.more_contexts ? h.p("muted", `${plural(side.more_contexts, "more chunk")} not shown.`) : null,
    stages(side),
  );
}

function stages(side) {
  if (!side.stages.length) return null;
  const rows = side.stages.map(([name, component, query, chunks]) => [
    name,
    `${plural(chunks.length, "chunk")}${component ? ` by ${component}` : ""}${query ? ` for “${query}”` : ""}${
      chunks.length ? `: ${chunks.join(" · ")}` : ""
    }`,
  ]);
  return h.div("", h.h3("", "What became of the retrieval"), facts_of(rows));
}

function markedText(tag, content, marks, verdicts) {
  const made = flow(tag, "");
  const ends = [...new Set([0, content.length, ...marks.flatMap(([start, end]) => [start, end])])]
    .filter((at) => at <= content.length)
    .sort((a, b) => a - b);
  const rank = { no: 2, open: 1, yes: 0 };
  ends.slice(0, -1).forEach((start, position) => {
    const end = ends[position + 1];
    const on = marks.filter((mark) => mark[0] <= start && mark[1] >= end && verdicts.has(mark[2]));
    const piece = content.slice(start, end);
    if (!on.length) return made.append(piece);
    const kinds = on.map((mark) => KIND[verdicts.get(mark[2]).supported]);
    const kind = kinds.reduce((one, other) => (rank[other] > rank[one] ? other : one));
    const numbers = [...new Set(on.map((mark) => mark[2]))];
    made.append(
      el(
        "mark",
        { class: `${kind} ${on.every((mark) => mark[3] === "near") ? "near" : ""}`, "data-n": numbers.join(" ") },
        piece,
      ),
    );
    const over = [
      ...new Map(on.filter((mark) => mark[1] === end).map((mark) => [mark[2], verdicts.get(mark[2])])).values(),
    ].sort((a, b) => a.number - b.number);
    if (over.length)
      made.append(
        h.sup(
          "",
          over.map((verdict) =>
            el(
              "span",
              { class: KIND[verdict.supported], "data-n": verdict.number },
              `${SYMBOL[verdict.supported]}${verdict.number}`,
            ),
          ),
        ),
      );
  });
  return made;
}

function verdictLists(side, record) {
  const groups = new Map();
  for (const verdict of record.verdicts) groups.set(verdict.about, [...(groups.get(verdict.about) || []), verdict]);
  const standing = (about) => {
    const which = /\(reference (\d+)\)$/.exec(about);
    const told = which && record.references[which[1] - 1];
    return told ? standingOf(told) : null;
  };
  const title = (about) => {
    const [, one, which] = /^(.*?)( \(.*)?$/s.exec(about);
    const many = (one.endsWith("y") ? `${one.slice(0, -1)}ies` : `${one}s`) + (which || "");
    return many.charAt(0).toUpperCase() + many.slice(1);
  };
  return [...groups]
    .map(([about, verdicts]) => [
      h.h3("", title(about), standing(about)),
      h.ol(
        "verdicts",
        verdicts.map((verdict) =>
          el(
            "li",
            { tabindex: 0, class: KIND[verdict.supported], "data-n": verdict.number, onkeydown: markByKey },
            el("span", { class: "sign", "aria-hidden": "true" }, SYMBOL[verdict.supported]),
            h.div(
              "",
              h.div(
                "",
                h.span("muted", `${verdict.number} `),
                el("b", { class: KIND[verdict.supported] }, verdict.label),
                " ",
                el("span", { dir: "auto", class: "isolate" }, verdict.text),
                verdict.cosine === undefined ? null : h.span("muted", ` cosine ${number(verdict.cosine)}`),
              ),
              verdict.tally
                ? el("div", { class: verdict.tally.endsWith("tie") ? "open" : "muted" }, verdict.tally)
                : null,
              verdict.reason ? el("div", { class: "muted", dir: "auto" }, verdict.reason) : null,
              (verdict.evidence || []).map(([quote, where, exact]) =>
                h.div(
                  "quote",
                  el("q", { dir: "auto", class: "isolate" }, quote),
                  " ",
                  el(
                    "span",
                    { class: where ? "muted" : "no" },
                    where ? `${where}${exact ? "" : ", not letter for letter"}` : "✗ found nowhere",
                  ),
                ),
              ),
              verdict.overruled ? h.div("open", `! ${verdict.overruled}`) : null,
              verdictChoice(side, record, verdict),
            ),
          ),
        ),
      ),
    ])
    .concat(record.more_verdicts ? [h.p("muted", `${plural(record.more_verdicts, "more verdict")} not shown.`)] : []);
}

function remarks(record) {
  const dropped = [...new Set([...record.notes, ...record.steps.flatMap((step) => step.dropped || [])])];
  return dropped.length
    ? [
        h.h3("", "Asked again, or not counted"),
        h.ul(
          "",
          dropped.map((each) => el("li", { dir: "auto" }, each)),
        ),
      ]
    : null;
}

const lazily = (made, build) => {
  made.addEventListener("toggle", () => {
    if (made.open && made.childElementCount === 1) made.append(...build().flat(Infinity).filter(Boolean));
  });
  return made;
};

function prompts(side, record) {
  if (!record.steps.length) return null;
  return h.section(
    "",
    h.h3("", "Prompts and replies"),
    record.steps.map((step) =>
      lazily(
        h.details(
          "step",
          h.summary(
            "",
            `${step.path} `,
            h.b("", step.prompt || (step.kind === "compare" ? "comparison" : "rating")),
            step.rule ? [" read as ", el("b", { class: step.rule === "unread" ? "no" : "" }, step.rule)] : null,
            (step.details || []).map((each) => ` · ${each}`),
          ),
        ),
        () => [
          step.numbers ? h.p("mono", step.numbers) : null,
          step.problem ? h.p("notice", step.problem) : null,
          (step.messages || []).map(([role, number]) => [
            h.h4("", `Prompt, ${role}`),
            el("pre", { dir: "auto" }, text(side.messages[number])),
            rest(side.messages[number]),
          ]),
          step.reply
            ? [h.h4("", "Reply"), el("pre", { dir: "auto" }, text(step.reply) || "(empty)"), rest(step.reply)]
            : null,
          step.value
            ? [
                h.h4("", `What was read as ${step.rule}`),
                el("pre", { dir: "auto" }, text(step.value)),
                rest(step.value),
              ]
            : null,
          step.dropped && step.dropped.length
            ? [
                h.h4("", "What is wrong with it"),
                h.ul(
                  "",
                  step.dropped.map((each) => el("li", { dir: "auto" }, each)),
                ),
              ]
            : null,
        ],
      ),
    ),
  );
}

const recordFacts = (record) =>
  h.details(
    "",
    h.summary("", "Record"),
    facts_of([
      ["metric", record.signature],
      ...record.models,
      ...(record.settings ? [["settings", record.settings]] : []),
      ["seal", record.digest || "none"],
      ["versions", record.versions],
    ]),
  );
const labelsOf = (labels) => (labels.length ? h.details("", h.summary("", "Labels"), facts_of(labels)) : null);

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
  const numbers = (target) => (target.closest && target.closest("[data-n]")?.dataset.n.split(" ")) || [];
  const held = () => root.querySelector(".verdicts li:focus");
  root.addEventListener("mouseover", (event) =>
    light(numbers(event.target).length ? numbers(event.target) : held() ? numbers(held()) : [], event.target),
  );
  root.addEventListener("mouseleave", () => light(held() ? numbers(held()) : [], root));
  root.addEventListener("focusin", (event) => light(numbers(event.target), event.target, true));
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
