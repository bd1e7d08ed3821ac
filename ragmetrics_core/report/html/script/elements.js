// The report's state, how it writes numbers and texts, and the pieces that it has in several places.

// By the look of a verdict, which is also its class.
const SYMBOL = { yes: "✓", no: "✗", contradicted: "≠", unsure: "≈", open: "?" };
const STATUS = {
  ok: ["✓", "yes"],
  incomplete: ["◐", "open"],
  undefined: ["∅", "none"],
  skipped: ["–", "none"],
  unverified_contexts: ["✗", "no"],
  parse_error: ["✗", "no"],
  model_error: ["✗", "no"],
  metric_error: ["✗", "no"],
  timeout: ["✗", "no"],
  cancelled: ["✗", "no"],
};
const ROW = 34,
  BEYOND = 12;
const page = document.getElementById("page");
const loaded = new Map();
let overview, table, count, metrics, two;
let shown = []; // the numbers of the rows that the filter leaves, in their order
let marked = 0; // which of them the keyboard stands on
let cleanUp = () => {};

const lastRun = (position) => metrics[position].sides.findLastIndex(Boolean);
const number = (value, digits = 3) => (value === null || value === undefined ? "none" : value.toFixed(digits));
const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(3);
const words = (name) => name.replaceAll("_", " ");
const range = (pair) => `${number(pair[0])} to ${number(pair[1])}`;
const place = (value, metric) => (value - Math.max(metric.low, 0)) / (metric.high - Math.max(metric.low, 0));
const level = (value, metric) => {
  const at = metric.lower_is_better ? 1 - place(value, metric) : place(value, metric);
  return at >= 0.75 ? "yes" : at >= 0.5 ? "open" : "no";
};
const flow = (tag, [content, left], extra) => [
  content === "" ? h.p("muted", "(empty)") : el(tag, { dir: "auto", class: "flow", ...extra }, content),
  left ? h.p("muted", `… ${left.toLocaleString("en")} more characters are not shown here.`) : null,
];
const bidi = (content) => el("span", { dir: "auto", class: "isolate" }, content);
const section = (title, ...content) => h.section("", h.h2("", title), content);
const listed = (items) => h.ul("", items.map((each) => el("li", { dir: "auto" }, each)));
const more = ({ more: count }, what) => (count ? h.p("muted", `${plural(count, `more ${what}`)} not shown.`) : null);
// A row is its cells, with null where one from above goes on. Narrow screens print its header above each cell.
const tableOf = (heads, rows) => {
  const head = h.tr("", heads.map((each) => el("th", { scope: "col" }, each)));
  rows.forEach((cells) => cells.forEach((cell, at) => cell?.setAttribute("data-head", heads[at])));
  return h.div("wide", h.table("means", h.thead("", head), h.tbody("", rows.map((cells) => h.tr("", cells)))));
};
const factsOf = (pairs) =>
  h.dl("", pairs.map(([name, value]) => [h.dt("", name), el("dd", { dir: "auto" }, value)]));
const known = (pairs) => pairs.filter(([, value]) => value);
const folded = (title, ...content) => h.details("", h.summary("", title), content);
const tag = (which) => h.span(`tag ${which ? "second" : "first"}`, which + 1);
const findings = (row) =>
  [...new Set(table.findings[row].flat())].map((code) => h.span("chip open", `! ${words(code)}`));

async function read(name) {
  if (!loaded.has(name)) {
    loaded.set(
      name,
      (async () => {
        if (!document.getElementById(`d-${name}`) && document.readyState === "loading")
          await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
        const node = document.getElementById(`d-${name}`);
        const bytes = Uint8Array.from(atob(node.textContent), (char) => char.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
        return JSON.parse(await new Response(stream).text());
      })(),
    );
  }
  return loaded.get(name);
}
