// The head of the page, keys, and the start.

function top() {
  const themes = ["auto", "light", "dark"];
  const chosen = document.documentElement.dataset;
  const turn = () => {
    const next = themes[(themes.indexOf(chosen.theme || "auto") + 1) % 3];
    next === "auto" ? delete chosen.theme : (chosen.theme = next);
    colours.textContent = `Colours: ${next}`;
  };
  const colours = button("Colours: auto", turn, { id: "theme" });
  const href = table.whole ? `../${encodeURIComponent(table.whole)}` : "#overview";
  document
    .getElementById("top")
    .append(
      el("a", { class: "brand", href }, "ragmetrics"),
      el(
        "nav",
        { "aria-label": "Parts of the report" },
        el("a", { href, id: "to-overview" }, table.whole ? "Whole report" : "Overview"),
        el("a", { href: "#samples", id: "to-samples" }, `Samples (${table.ids.length.toLocaleString("en")})`),
      ),
      h.span("grow"),
      colours,
    );
}

addEventListener("hashchange", (event) => {
  const from = new URL(event.oldURL).hash;
  show();
  if (from.startsWith("#samples")) filtered = from;
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  page.focus();
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  if (!here().has("samples")) {
    history.pushState(null, "", filtered);
    show();
  }
  document.querySelector("input[type=search]")?.focus();
});

async function start() {
  if (typeof DecompressionStream === "undefined") {
    page.replaceChildren(
      h.p("notice", "This browser is too old to open the report: it cannot decompress data."),
    );
    return;
  }
  [overview, table] = await Promise.all([read("overview"), read("table")]);
  two = overview.runs.length === 2;
  metrics = overview.metrics;
  const names = new Set();
  metrics.forEach((metric, position) => {
    metric.key = names.has(metric.title) ? `${metric.title}~${position}` : metric.title;
    names.add(metric.title);
  });
  count = new Map();
  table.ids.forEach((id, row) => {
    if (!count.has(id)) count.set(id, row);
  });
  top();
  annotateBar();
  show();
}
start();
