"use strict";
// The page works without this: it only keeps the place on opening, closes with Escape, and says aloud what is open.
(() => {
  const links = [...document.querySelectorAll(".words")];
  const chosen = () => location.hash.slice(1);
  const tell = () => {
    for (const link of links) link.setAttribute("aria-expanded", String(link.hash.slice(1) === chosen()));
  };
  const go = (fragment) => {
    const [left, top] = [scrollX, scrollY];
    location.replace("#" + fragment);
    scrollTo({ left, top, behavior: "instant" });
    tell();
  };
  for (const link of links) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const fragment = link.hash.slice(1);
      go(fragment === chosen() ? "closed" : fragment);
      link.focus({ preventScroll: true });
    });
  }
  document.addEventListener("keydown", (event) => {
    const open = links.find((link) => link.hash.slice(1) === chosen());
    if (event.key !== "Escape" || !open) return;
    go("closed");
    open.focus({ preventScroll: true });
  });
  addEventListener("hashchange", tell);
  tell();
})();
