// The page's state, and the pieces that pages are built of. Data reaches the page only as text nodes
// and as attributes that name nothing to load or to run: there is no innerHTML, and the content security policy
// forbids it (trusted types).

const SYMBOL = { true: "✓", false: "✗", null: "?" };
const KIND = { true: "yes", false: "no", null: "open" };
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
const FINDINGS = {
  abstained: "abstained",
  missed_retrieval: "missed retrieval",
  unsupported_statement: "unsupported",
  answered_from_outside: "from outside",
  wrong_though_supported: "wrong though supported",
};
const PLOT = {
  light: { "#010101": "#40464f", "#020202": "#8a919c", "#030303": "#2463b5", "#040404": "#b4540a" },
  dark: { "#010101": "#c3cad4", "#020202": "#6d7682", "#030303": "#7fb2ff", "#040404": "#ffae62" },
};
const ROW = 34,
  BEYOND = 12;
const page = document.getElementById("page");
const loaded = new Map();
let overview, table, count, metrics, two;
let shown = []; // the numbers of the rows that the filter leaves, in their order
let marked = 0; // which of them the keyboard stands on
let cleanUp = () => {};


function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === null || value === undefined) continue;
    else if (name.startsWith("aria-")) made.setAttribute(name, String(value));
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(
    ...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false && each !== ""),
  );
  return made;
}
// h.p("muted", ...) is a paragraph of the class "muted"
const h = new Proxy(
  {},
  {
    get:
      (_, tag) =>
      (kind, ...children) =>
        el(tag, { class: kind || null }, ...children),
  },
);
const number = (value, digits = 3) => (value === null || value === undefined ? "none" : value.toFixed(digits));
const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(3);
const words = (name) => name.replaceAll("_", " ");
const plural = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
const range = (pair) => `${number(pair[0])} to ${number(pair[1])}`;
const place = (value, metric) => (value - Math.max(metric.low, 0)) / (metric.high - Math.max(metric.low, 0));
const level = (value, metric) => {
  const at = metric.lower_is_better ? 1 - place(value, metric) : place(value, metric);
  return at >= 0.75 ? "yes" : at >= 0.5 ? "open" : "no";
};
const text = (cut) => cut[0];
const flow = (tag, content, extra) => el(tag, { dir: "auto", class: "flow", ...extra }, content);
const rest = (cut) =>
  cut && cut[1] ? h.p("muted", `… ${cut[1].toLocaleString("en")} more characters are not shown here.`) : null;

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

function plot(svg, told) {
  if (!svg) return h.span("muted", "no values");
  return Object.entries(PLOT).map(([theme, colours]) =>
    el("img", {
      class: `plot for-${theme}`,
      alt: told,
      src: "data:image/svg+xml;base64," + btoa(svg.replace(/#0[1-4]0[1-4]0[1-4]/g, (found) => colours[found])),
    }),
  );
}
