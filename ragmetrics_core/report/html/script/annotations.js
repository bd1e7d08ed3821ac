// Annotations of answers and verdicts: kept in the browser, and saved as a file for `study annotations`.

const FILE_FORMAT = "ragmetrics-annotations";
const annotations = new Map(); // by item: rating, note and, by signature, statements and what was missing
const KEPT = "annotations"; // the name of what is saved

function itemOf(item) {
  if (!annotations.has(item)) annotations.set(item, { rating: null, note: "", metrics: new Map() });
  return annotations.get(item);
}
function metricOf(item, signature) {
  const metrics = itemOf(item).metrics;
  if (!metrics.has(signature)) metrics.set(signature, { statements: new Map(), added: [] });
  return metrics.get(signature);
}
function statementOf(item, signature, number) {
  const statements = metricOf(item, signature).statements;
  if (!statements.has(number)) statements.set(number, { extracted: null, verdict: null });
  return statements.get(number);
}

function saved() {
  const items = [];
  for (const [item, { rating, note, metrics }] of annotations) {
    const parts = [...metrics].map(([metric, { statements, added }]) => ({
      metric,
      statements: [...statements]
        .filter(([, each]) => each.extracted !== null || each.verdict !== null)
        .map(([number, each]) => ({ number, ...each })),
      added,
    }));
    const told = parts.filter((part) => part.statements.length || part.added.length);
    if (rating !== null || note || told.length) items.push({ item, rating, note, metrics: told });
  }
  return { format: FILE_FORMAT, version: 1, annotator: annotator.trim(), seed: book.seed, items };
}

function takeIn(file) {
  if (file.format !== FILE_FORMAT || file.version !== 1 || file.seed !== book.seed) throw new Error(book.refusal);
  const statements = (part) =>
    new Map(part.statements.map(({ number, extracted, verdict }) => [number, { extracted, verdict }]));
  const items = file.items.map(({ item, rating, note, metrics }) => [
    item,
    {
      rating,
      note,
      metrics: new Map(metrics.map((part) => [part.metric, { statements: statements(part), added: part.added }])),
    },
  ]);
  annotator = file.annotator;
  for (const [item, said] of items) annotations.set(item, said);
}
