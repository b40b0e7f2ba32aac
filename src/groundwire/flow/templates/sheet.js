"use strict";
(() => {
  const { sheet, annotator, file, columns, progress } = document.body.dataset;
  const names = columns.split(" ");
  const store = `groundwire-sheet-${sheet}-${annotator}`;
  const tasks = [...document.querySelectorAll(".task")];
  const button = (id) => document.getElementById(id);
  let shown = 0;

  const fieldset = (task, name) => task.querySelector(`fieldset[data-name="${name}"]`);
  const value = (task, name) => {
    const found = fieldset(task, name).querySelector("input:checked, input[type=number]");
    return found ? found.value : "";
  };
  const answers = () => tasks.map((task) => ({
    id: task.dataset.id,
    values: Object.fromEntries(names.map((name) => [name, value(task, name)])),
    comment: task.querySelector("textarea").value,
  }));
  const whole = (task) => names.every((name) => value(task, name) !== "");

  const keep = () => {
    try {
      localStorage.setItem(store, JSON.stringify({ shown, answers: answers() }));
    } catch {
      button("not-kept").hidden = false;
    }
  };
  const restore = () => {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(store));
    } catch {
      button("not-kept").hidden = false;
    }
    if (!kept) return;
    const known = new Map(kept.answers.map((answer) => [answer.id, answer]));
    for (const task of tasks) {
      const answer = known.get(task.dataset.id);
      if (!answer) continue;
      task.querySelector("textarea").value = answer.comment;
      for (const name of names) {
        for (const input of fieldset(task, name).querySelectorAll("input")) {
          if (input.type === "radio") input.checked = input.value === answer.values[name];
          else input.value = answer.values[name];
        }
      }
    }
    shown = Math.min(Math.max(0, kept.shown), tasks.length - 1);
  };
  const refresh = () => {
    const done = tasks.filter(whole).length;
    button("progress").textContent = progress.replace("{k}", done).replace("{n}", tasks.length);
    button("previous").disabled = shown === 0;
    button("next").disabled = shown === tasks.length - 1;
    button("open").disabled = done === tasks.length;
    for (const task of tasks) {
      for (const name of names) fieldset(task, name).querySelector(".clear").hidden = value(task, name) === "";
    }
  };
  const show = (place, focus) => {
    shown = place;
    tasks.forEach((task, at) => { task.hidden = at !== place; });
    refresh();
    if (!focus) return;
    keep();
    tasks[place].querySelector("h2").focus({ preventScroll: true });
    tasks[place].scrollIntoView();
  };
  const save = (text, type, suffix) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = `${file}${suffix}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const cell = (text) => {
    const safe = /^[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
    return `"${safe.replaceAll('"', '""')}"`;
  };

  document.addEventListener("input", () => { keep(); refresh(); });
  document.addEventListener("click", (event) => {
    const clear = event.target.closest(".clear");
    if (!clear) return;
    for (const input of clear.closest("fieldset").querySelectorAll("input")) {
      if (input.type === "radio") input.checked = false;
      else input.value = "";
    }
    clear.closest("fieldset").querySelector("input").focus();
    keep();
    refresh();
  });
  button("previous").addEventListener("click", () => show(shown - 1, true));
  button("next").addEventListener("click", () => show(shown + 1, true));
  button("open").addEventListener("click", () => {
    const after = [...tasks.keys()].map((at) => (shown + 1 + at) % tasks.length);
    show(after.find((at) => !whole(tasks[at])), true);
  });
  button("json").addEventListener("click", () => {
    const held = { schema: "groundwire.answers/1", sheet, annotator: Number(annotator), answers: answers() };
    save(JSON.stringify(held, null, 1), "application/json", ".answers.json");
  });
  button("csv").addEventListener("click", () => {
    const rows = [["id", ...names, "comment"]];
    for (const answer of answers()) rows.push([answer.id, ...names.map((name) => answer.values[name]), answer.comment]);
    save(`\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`, "text/csv", ".answers.csv");
  });
  restore();
  show(shown, false);
})();
