// A question with its quotes in place and its answer, in the report of a test set and on the review sheet.

const textOf = (title, content) =>
  content ? [h.h3("", title), flow("p", content)] : [h.h3("", title), h.p("muted", "The documents do not answer it.")];

function quotesInPlace(places) {
  const place = ({ document: name, text, quotes, is_start, is_end, is_found }) => {
    const marks = quotes.map(([start, end, number]) => [start, end, number, is_found ? "yes" : "no", ""]);
    const [made, below] = markedText("p", text, marks);
    if (is_found && !is_start) made.prepend(h.span("muted", "… "));
    if (is_found && !is_end && !text[1]) made.append(h.span("muted", " …"));
    const fault = is_found ? null : h.p("no", "✗ The document does not have this text at the quote's place.");
    return h.li("", el("div", { class: "rank", dir: "auto" }, name), made, below, fault);
  };
  return [
    h.h3("", "Quotes in place"),
    places.length ? h.ol("chunks", places.map(place)) : h.p("muted", "It has no quotes."),
  ];
}

const earlierTurns = (history) =>
  history.length
    ? h.div("turns", history.map(([role, said]) => el("p", { dir: "auto" }, h.b("", `${role}: `), said)))
    : null;

const questionTexts = (item) => [
  earlierTurns(item.history),
  flow("p", item.question, { class: "question" }),
  textOf("Answer", item.answer),
  quotesInPlace(item.places),
];
