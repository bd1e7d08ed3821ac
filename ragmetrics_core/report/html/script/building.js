// The pieces that pages are built of. Data reaches a page only as text nodes and as attributes that name nothing to
// load or to run: there is no innerHTML, and the report's content security policy forbids it (trusted types).

const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
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
const button = (content, onclick, more) => el("button", { type: "button", onclick, ...more }, content);
const plural = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
