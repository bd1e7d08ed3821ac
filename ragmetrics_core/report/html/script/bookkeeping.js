// What a person enters: kept in the browser, and saved as a file. A page defines KEPT, saved() and takeIn().

let annotator = "";
let unsaved = 0;
let book; // the page's own: key, refusal, and functions for its progress, what is incomplete, and to draw it again

function changed() {
  unsaved += 1;
  keep();
}
function keep() {
  document.getElementById("progress").textContent = book.progress();
  try {
    localStorage.setItem(book.key, JSON.stringify(saved()));
  } catch {
    // a page opened from a file may not be allowed to keep anything: the saved file is what counts
  }
}

// The controls: who annotates, saving, and going on with a saved file. To be put on the page at once.
function bookkeeping(settings) {
  book = settings;
  const problem = el("span", { role: "alert", class: "no", id: "problem" });
  const name = el("input", {
    type: "text",
    id: "annotator",
    autocomplete: "name",
    oninput: () => {
      annotator = name.value;
      keep();
    },
  });
  const load = el("input", {
    type: "file",
    id: "load",
    accept: ".json,application/json",
    onchange: async () => {
      try {
        takeIn(JSON.parse(await load.files[0].text()));
        problem.textContent = "";
        name.value = annotator;
        keep();
        book.redraw();
      } catch (error) {
        problem.textContent = `The file cannot be used: ${error.message}`;
      }
    },
  });
  const save = () => {
    const file = saved();
    if (!file.annotator) {
      problem.textContent = `Enter your name first: ${KEPT} need a name.`;
      return name.focus();
    }
    const open = book.incomplete?.();
    if (open) {
      problem.textContent = open;
      return;
    }
    problem.textContent = "";
    const link = el("a", {
      download: `${KEPT}-${file.annotator.replace(/[^\w-]+/g, "_")}.json`,
      href: URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" })),
    });
    link.click();
    URL.revokeObjectURL(link.href);
    unsaved = 0;
    keep();
  };
  try {
    const kept = localStorage.getItem(book.key);
    if (kept) takeIn(JSON.parse(kept));
  } catch {
    // nothing was kept
  }
  name.value = annotator;
  return [
    el("label", {}, "Your name ", name),
    button(`Save ${KEPT}`, save),
    el("label", {}, "Continue from ", load),
    el("span", { id: "progress", role: "status" }),
    problem,
  ];
}
