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
  // proofs of some samples are on a further page of this report; only numbers of ours name it
  const isElsewhere = table.chunks[row] < 0 && table.pages[row];
  const file = `${encodeURIComponent(table.folder)}/${String(table.pages[row]).padStart(4, "0")}.html`;
  return el("a", { href: (isElsewhere ? file : "") + address(row, metric) }, ...children);
}

function show() {
  const at = here();
  cleanUp();
  cleanUp = () => {};
  for (const link of document.querySelectorAll("nav a")) link.removeAttribute("aria-current");
  const isSample = at.has("sample") || at.has("row");
  const isTable = at.has("samples") || table.whole;
  const isSession = ["sessions", "session", "nth"].some((each) => at.has(each)) && table.sessions.length > 0;
  const current = isSession ? "to-sessions" : isSample || isTable ? "to-samples" : "to-overview";
  document.getElementById(current)?.setAttribute("aria-current", "page");
  if (isSession) return at.has("sessions") ? showSessions() : showSession(at);
  if (!isSample) return isTable ? showSamples(at) : showOverview();
  const row = at.has("sample") ? count.get(at.get("sample")) : Number(at.get("row"));
  if (row !== undefined && row in table.ids) return showSample(row, at.get("metric"));
  fill(
    "No such sample",
    h.h1("", "This report does not have the sample"),
    h.p("", el("a", { href: "#samples" }, "All samples")),
  );
}

function fill(title, ...children) {
  document.title = `${title} · ragmetrics`;
  page.replaceChildren(...children.flat(Infinity).filter(Boolean));
  scrollTo(0, 0);
}
