"use strict";
(() => {
  const label = document.currentScript.dataset.sort;
  const key = (row, place) => {
    const cell = row.cells[place];
    const number = parseFloat(cell.dataset.order);
    return Number.isNaN(number) ? cell.textContent : number;
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === typeof b) return a.localeCompare(b);
    return typeof a === "number" ? -1 : 1;
  };
  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = label;
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "ascending" : "descending");
        const rows = [...body.rows].sort((a, b) => order(key(a, place), key(b, place)) * (down ? 1 : -1));
        body.append(...rows);
      });
    });
  }
  const place = document.getElementById("filter");
  if (place) {
    const field = document.createElement("input");
    field.type = "search";
    field.setAttribute("aria-label", place.dataset.label);
    field.placeholder = place.dataset.label;
    place.append(field);
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const item of document.querySelectorAll(".item")) {
        item.hidden = !item.textContent.toLowerCase().includes(wanted);
      }
    });
  }
  const reveal = () => {
    let found = document.getElementById(location.hash.slice(1));
    const target = found;
    for (; found; found = found.parentElement) if (found.tagName === "DETAILS") found.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
