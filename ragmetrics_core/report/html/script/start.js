// The head of the report, keys, and the start.

function top() {
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
        table.sessions.length
          ? el("a", { href: "#sessions", id: "to-sessions" }, `Sessions (${table.sessions.length.toLocaleString("en")})`)
          : null,
      ),
      h.span("grow"),
      coloursButton(),
    );
}

addEventListener("hashchange", (event) => {
  const from = new URL(event.oldURL).hash;
  show();
  if (from.startsWith("#samples")) filtered = from;
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
  if (isOld) return;
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
