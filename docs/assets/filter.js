// A table in <div class="filtered">: a field above it, which hides rows without its words.

"use strict";

for (const place of document.querySelectorAll(".filtered")) {
  const rows = [...place.querySelectorAll("tbody tr")];
  const field = Object.assign(document.createElement("input"), { type: "search" });
  const count = document.createElement("output");
  const label = document.createElement("label");
  label.append(`${say("Show only rows with")} `, field, " ", count);
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    }
    count.textContent = say("{n} of {all}", { n: rows.filter((row) => !row.hidden).length, all: rows.length });
  };
  field.addEventListener("input", filter);
  place.prepend(label);
  filter();
}
