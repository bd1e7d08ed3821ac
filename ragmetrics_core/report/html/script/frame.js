// What each page has: the choice of colours, and the link past its head.

function coloursButton() {
  const themes = ["auto", "light", "dark"];
  const chosen = document.documentElement.dataset;
  const turn = () => {
    const next = themes[(themes.indexOf(chosen.theme || "auto") + 1) % 3];
    next === "auto" ? delete chosen.theme : (chosen.theme = next);
    colours.textContent = `Colours: ${next}`;
  };
  const colours = button("Colours: auto", turn, { id: "theme" });
  return colours;
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  page.focus();
});
const isOld = typeof DecompressionStream === "undefined";
if (isOld) page.replaceChildren(h.p("notice", "This browser is too old to open the page: it cannot decompress data."));
