// What is after # in the address says what is shown.

const here = () => new URLSearchParams(location.hash.slice(1));
const isSame = (row) =>
  table.ids[row].length <= 150 && !table.ids[row].endsWith("…") && count.get(table.ids[row]) === row;
const address = (row, metric) => {
  const to = new URLSearchParams(isSame(row) ? { sample: table.ids[row] } : { row });
  if (metric !== undefined && metric !== null) to.set("metric", metrics[metric].key);
  return `#${to}`;
};
function linkTo(row, metric, ...children) {
  if (table.chunks[row] < 0 && table.pages[row]) {
    // proofs of this sample are on a further page of this report; only numbers of ours name it
    const file = String(table.pages[row]).padStart(4, "0");
    return el("a", { href: `${encodeURIComponent(table.folder)}/${file}.html${address(row, metric)}` }, ...children);
  }
  return el("a", { href: address(row, metric) }, ...children);
}

function show() {
  const at = here();
  cleanUp();
  cleanUp = () => {};
  for (const link of document.querySelectorAll("nav a")) link.removeAttribute("aria-current");
  const current = (name) => document.getElementById(name)?.setAttribute("aria-current", "page");
  if (at.has("sample") || at.has("row")) {
    const row = at.has("sample") ? count.get(at.get("sample")) : Number(at.get("row"));
    current("to-samples");
    if (row === undefined || !(row in table.ids)) return absent();
    return showSample(row, at.get("metric"));
  }
  if (at.has("samples") || table.whole) {
    current("to-samples");
    return showSamples(at);
  }
  current("to-overview");
  return showOverview();
}

function fill(title, ...children) {
  document.title = `${title} · ragmetrics`;
  page.replaceChildren(...children.flat(Infinity).filter(Boolean));
  scrollTo(0, 0);
}

function absent() {
  fill(
    "No such sample",
    h.h1("", "There is no such sample in this report"),
    h.p("", el("a", { href: "#samples" }, "All samples")),
  );
}
