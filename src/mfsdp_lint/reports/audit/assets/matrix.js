// Recipes by settings. Only the rows in sight are in the document, so that a thousand recipes cost what thirty do.

const ROW = 30;
const BEYOND = 12;
const picked = new Set();
const closed = new Set();
let rows = [];
let columns = [];
let active = 0;

const GROUPS = {
  folder: ["folder and family", (recipe) => placeAndFamily(here(recipe.folder), recipe.family)],
  family: ["family", (recipe) => recipe.family],
  fsdp: ["FSDP", (recipe) => `FSDP ${recipe.effective(FSDP)}`],
  none: ["nothing", null],
};

/** `recipes/llama`, and the family where that does not say it. */
const placeAndFamily = (folder, family) => (folder === "." ? family : folder.split("/").pop() === family ? folder : `${folder} · ${family}`);

const here = (folder) => short(`${folder}/`).replace(/\/$/, "") || ".";

const FINDINGS = {
  any: ["with findings", (recipe) => recipe.worst < 3],
  error: ["with errors", (recipe) => recipe.worst === 0],
  warning: ["with warnings", (recipe) => recipe.troubles.some((each) => each[2] === "warning")],
  none: ["without findings", (recipe) => recipe.worst === 3],
};

const shownSide = (choices) => sides[Number(choices.get("side")) || 0] || sides[0];

/** What can be chosen among the recipes: each choice with its name, its values, and how many recipes have each. */
function filters(side) {
  const values = (of) => {
    const found = new Map();
    for (const recipe of side.recipes) found.set(of(recipe), (found.get(of(recipe)) || 0) + 1);
    return [...found].sort((one, other) => (one[0] < other[0] ? -1 : 1)).map(([value, number]) => [value, `${value} (${number})`]);
  };
  const codes = new Map();
  for (const recipe of side.recipes) for (const code of new Set(recipe.troubles.map((each) => each[0]))) codes.set(code, (codes.get(code) || 0) + 1);
  const found = [
    ["fsdp", "FSDP", values((recipe) => recipe.effective(FSDP))],
    ["findings", "Findings", [
      ...Object.entries(FINDINGS).map(([name, [title, is]]) => [name, `${title} (${side.recipes.filter(is).length})`]),
      ...[...codes].sort().map(([code, number]) => [code, `${code} (${number})`]),
    ]],
    ["family", "Model", values((recipe) => recipe.family)],
    ["precision", "Precision", values((recipe) => recipe.effective(PRECISION))],
  ];
  if (sides.length > 1) {
    found.push(["changed", "Compared", sides.filter((each) => each !== side).map((each) => [String(each.number), `differs from ${each.title}`])]);
    found.unshift(["side", "As at", sides.slice(1).map((each) => [String(each.number), each.title]), sides[0].title]);
  }
  found.push(["start", "Start-up", [["changes", "replaces something"]]]);
  found.push(["group", "Group by", Object.entries(GROUPS).slice(1).map(([name, [title]]) => [name, title]), GROUPS.folder[0]]);
  return found;
}

/** Whether a recipe has all words that are searched: in a name, or as `setting=value`. */
function matches(recipe, words) {
  return words.every((word) => {
    const at = word.indexOf("=");
    if (at < 1) return recipe.haystack.includes(word);
    const [name, value] = [word.slice(0, at), word.slice(at + 1)];
    const paths = recipe.side.numbers.has(name) ? [name] : [...recipe.side.numbers.keys()].filter((path) => path.toLowerCase().endsWith(name));
    return paths.some((path) => recipe.says(path).toLowerCase().includes(value));
  });
}

const changes = new Map();

/** Whether a recipe is not there on another side, or has another value in any setting. */
function isChanged(recipe, other) {
  const key = `${other.number} ${recipe.side.number} ${recipe.id}`;
  if (!changes.has(key)) {
    const before = other.byId.get(recipe.id);
    const paths = new Set([...recipe.side.numbers.keys(), ...other.numbers.keys()]);
    changes.set(key, !before || [...paths].some((path) => recipe.says(path) !== before.says(path)));
  }
  return changes.get(key);
}

function filtered(side, choices) {
  const words = (choices.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
  const [fsdp, findings, family, precision] = ["fsdp", "findings", "family", "precision"].map((name) => choices.get(name));
  const other = choices.has("changed") ? sides[Number(choices.get("changed"))] : undefined;
  return side.recipes.filter(
    (recipe) =>
      (!family || recipe.family === family) &&
      (!fsdp || recipe.effective(FSDP) === fsdp) &&
      (!precision || recipe.effective(PRECISION) === precision) &&
      (!findings || (FINDINGS[findings] ? FINDINGS[findings][1](recipe) : recipe.troubles.some((each) => each[0] === findings))) &&
      matches(recipe, words) &&
      (!choices.has("start") || replaces(recipe)) &&
      (!other || isChanged(recipe, other)),
  );
}

/** Whether start-up replaces any value of it. */
const replaces = (recipe) => recipe.side.replaced().some((setting) => differs(recipe.side.cell(recipe.cellNumber(setting)) || { run: null }));

const weight = (recipe) => recipe.troubles.reduce((sum, each) => sum + [1e6, 1e3, 1][SEVERITIES.indexOf(each[2])], 0);

const collator = new Intl.Collator("en", { numeric: true });

function sorted(recipes, sort) {
  const [key, direction] = (sort || "").split(":");
  if (!key) return recipes;
  const column = columns.find((each) => each.key === key);
  const sign = direction === "down" ? -1 : 1;
  if (key === "findings") return [...recipes].sort((one, other) => sign * (weight(one) - weight(other)));
  if (key === "name") return [...recipes].sort((one, other) => sign * collator.compare(one.name, other.name));
  if (!column) return recipes;
  const texts = new Map(recipes.map((recipe) => [recipe, recipe.column(column).text]));
  return [...recipes].sort((one, other) => sign * collator.compare(texts.get(one), texts.get(other)));
}

/** Rows of recipes, with a row for each group before its own; what is sorted by a column stays grouped. */
function grouped(recipes, name) {
  const of = (GROUPS[name] || GROUPS.folder)[1];
  if (of === null) return recipes.map((recipe) => ({ recipe }));
  const groups = new Map();
  for (const recipe of recipes) {
    const title = of(recipe);
    if (!groups.has(title)) groups.set(title, []);
    groups.get(title).push(recipe);
  }
  return [...groups].flatMap(([title, members]) => [{ title, members }, ...(closed.has(title) ? [] : members.map((recipe) => ({ recipe })))]);
}

function chosenColumns(choices) {
  if (!choices.has("columns")) return page.chosen.length ? page.chosen.map(asColumn) : COLUMNS;
  return choices.get("columns").split(",").filter(Boolean).map((key) => COLUMNS.find((column) => column.key === key) || asColumn(key));
}

const asColumn = (path) => ({ key: path, title: path, settings: [path] });

function showMatrix(choices) {
  const side = shownSide(choices);
  const recipes = filtered(side, choices);
  columns = chosenColumns(choices);
  rows = grouped(sorted(recipes, choices.get("sort")), choices.get("group"));
  active = Math.min(active, Math.max(rows.length - 1, 0));
  fillFilters(side, choices);
  fillHead(choices);
  fillRows(true);
  byId("shown").textContent =
    recipes.length === side.recipes.length ? counted(recipes.length, "recipe") : `${recipes.length} of ${counted(side.recipes.length, "recipe")}`;
  showPicked();
}

let filledFor = null;

function fillFilters(side, choices) {
  const form = byId("filters");
  if (filledFor !== side) {
    filledFor = side;
    byId("choices").replaceChildren(
      ...filters(side).map(([name, title, values, first]) =>
        el("div", {}, el("label", { for: `filter-${name}` }, title), el("select", { name, id: `filter-${name}` },
          el("option", { value: "" }, first || "all"), values.map(([value, text]) => el("option", { value }, text)))),
      ),
      el("button", { type: "button", class: "quiet", id: "reset", onclick: () => { location.hash = "#/"; } }, "Reset"),
    );
  }
  for (const field of form.elements) {
    if (!field.name || document.activeElement === field) continue;
    field.value = choices.get(field.name) || "";
  }
  for (const field of form.elements) if (field.name) field.classList.toggle("on", Boolean(field.value) && field.name !== "group");
}

function fillHead(choices) {
  const [key, direction] = (choices.get("sort") || "").split(":");
  const head = (name, title, properties) => {
    const is = name === key ? (direction === "down" ? "descending" : "ascending") : "none";
    const next = name !== key ? `${name}:${name === "findings" ? "down" : "up"}` : direction === (name === "findings" ? "down" : "up") ? `${name}:${direction === "up" ? "down" : "up"}` : "";
    return el("th", { scope: "col", "aria-sort": is, ...properties },
      el("button", { type: "button", "data-sort": name, onclick: () => { choose({ sort: next }); byId("matrix").querySelector(`[data-sort="${CSS.escape(name)}"]`).focus(); } },
        wrappable(title), el("span", { class: "arrow", "aria-hidden": true }, is === "none" ? "" : is === "ascending" ? "↑" : "↓")));
  };
  byId("matrix").tHead.replaceChildren(
    el("tr", {}, head("name", "recipe", { class: "name" }), head("findings", "findings"), columns.map((column) => head(column.key, column.title))),
  );
}

/** A dotted path that may be broken behind its dots and underscores. */
function wrappable(text) {
  return text.split(/(?<=[._/])/).flatMap((part) => [part, el("wbr")]).slice(0, -1);
}

/** The rows in sight, with room for all others above and below; with `every` all of them, to be printed. */
function fillRows(anew, every = false) {
  const scroller = byId("scroller");
  const body = byId("matrix").tBodies[0];
  const first = every ? 0 : Math.max(0, Math.floor(scroller.scrollTop / ROW) - BEYOND);
  const last = every ? rows.length : Math.min(rows.length, Math.ceil((scroller.scrollTop + (scroller.clientHeight || 800)) / ROW) + BEYOND);
  if (!anew && body.dataset.first === String(first) && body.dataset.last === String(last)) return;
  const focused = document.activeElement && document.activeElement.closest("tbody tr") ? active : null;
  const kept = anew ? new Map() : new Map([...body.querySelectorAll("tr[data-row]")].map((row) => [Number(row.dataset.row), row]));
  body.dataset.first = first;
  body.dataset.last = last;
  const made = [];
  for (let number = first; number < last; number += 1) made.push(kept.get(number) || row(number));
  body.replaceChildren(room(first), ...made, room(rows.length - last));
  if (!rows.length) body.append(el("tr", {}, el("td", { class: "empty", colspan: columns.length + 2 }, "No recipe is like that.")));
  byId("matrix").setAttribute("aria-rowcount", rows.length + 1);
  if (focused !== null) focusRow(focused, false);
}

function room(number) {
  const spacer = el("tr", { class: "room", "aria-hidden": true });
  spacer.style.height = `${number * ROW}px`;
  return spacer;
}

function row(number) {
  const { recipe, title, members } = rows[number];
  const tab = number === active ? 0 : -1;
  if (title !== undefined) {
    const wrong = members.filter((each) => each.worst < 2).length;
    return el("tr", { class: "group", "data-row": number, "aria-rowindex": number + 2 },
      el("th", { scope: "rowgroup", class: "name" },
        el("button", { type: "button", tabindex: tab, "aria-expanded": String(!closed.has(title)), onclick: () => fold(title, number) }, title)),
      el("td", { colspan: columns.length + 1 }, counted(members.length, "recipe"), wrong ? el("span", { class: "wrong" }, `${wrong} with errors or warnings`) : ""));
  }
  return el("tr", { "data-row": number, "aria-rowindex": number + 2 },
    el("th", { scope: "row", class: "name" },
      el("input", { type: "checkbox", tabindex: -1, "aria-label": `Compare ${recipe.name}`, checked: picked.has(recipe.id), onchange: (event) => pick(recipe, event.target.checked) }),
      el("a", { href: recipe.link(), tabindex: tab, title: `${recipe.path}:${recipe.line}` }, recipe.name)),
    el("td", { class: "troubles" }, badges(recipe)),
    columns.map((column) => cellOf(recipe.column(column))));
}

function badges(recipe) {
  return SEVERITIES.map((severity) => {
    const number = recipe.troubles.filter((each) => each[2] === severity).length;
    return number ? el("span", { class: `badge ${severity}`, title: counted(number, severity) },
      el("span", { "aria-hidden": true }, `${severity[0].toUpperCase()} ${number}`), unseen(`${counted(number, severity)} `)) : null;
  });
}

function cellOf({ text, kind, differs }) {
  const [glyph, name] = SAID[kind];
  return el("td", { class: `cell ${kind}${differs ? " differs" : ""}`, title: text.length > 20 ? text : undefined },
    glyph && el("span", { class: "glyph", "aria-hidden": true }, glyph), text, text && kind !== "default" ? unseen(` (${name})`) : "");
}

function fold(title, number) {
  if (!closed.delete(title)) closed.add(title);
  showMatrix(route().choices);
  focusRow(number);
}

function pick(recipe, isPicked) {
  if (isPicked) picked.add(recipe.id);
  else picked.delete(recipe.id);
  showPicked();
}

function showPicked() {
  const link = byId("compare-picked");
  const [one, other] = picked;
  link.hidden = picked.size === 0;
  link.textContent = picked.size === 2 ? "Compare these two" : picked.size < 2 ? "Pick another to compare" : `${picked.size} picked: compare the first two`;
  link.href = other === undefined ? `#/compare?a=${encodeURIComponent(one || "")}` : `#/compare?${new URLSearchParams({ a: one, b: other })}`;
}

/** Moves the keyboard to a row, wherever it is. */
function focusRow(number, scroll = true) {
  if (!rows.length) return;
  const before = byId("matrix").querySelector(`tr[data-row="${active}"] [tabindex="0"]`);
  if (before) before.tabIndex = -1;
  active = Math.max(0, Math.min(rows.length - 1, number));
  const scroller = byId("scroller");
  if (scroll) {
    const [top, head] = [active * ROW, byId("matrix").tHead.offsetHeight];
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + ROW + head > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + ROW + head - scroller.clientHeight;
    fillRows(false);
  }
  const target = byId("matrix").querySelector(`tr[data-row="${active}"] :is(a, button)`);
  if (target === null) return;
  target.tabIndex = 0;
  target.focus({ preventScroll: true });
}

function onMatrixKey(event) {
  const at = event.target.closest("tr[data-row]");
  if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
  active = Number(at.dataset.row);
  const many = Math.max(1, Math.floor(byId("scroller").clientHeight / ROW) - 2);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: many, PageUp: -many, Home: -rows.length, End: rows.length };
  if (event.key === " " && rows[active].recipe && event.target.tagName === "A") {
    const box = at.querySelector("input");
    box.checked = !box.checked;
    pick(rows[active].recipe, box.checked);
  } else if (event.key in steps) focusRow(active + steps[event.key]);
  else return;
  event.preventDefault();
}

// -- which columns ----------------------------------------------------------------------------------------------------

function openColumns() {
  byId("columns-search").value = "";
  listColumns("");
  byId("columns").showModal();
}

/** Those of the table, then the settings: first those that recipes differ in. */
function listColumns(wanted) {
  const on = new Set(columns.map((column) => column.key));
  const side = shownSide(route().choices);
  const varied = new Set();
  for (const recipe of side.recipes) for (let at = 0; at < recipe.cells.length; at += 2) varied.add(recipe.cells[at]);
  const box = (key) => el("label", { class: "check" }, el("input", { type: "checkbox", checked: on.has(key), value: key, onchange: (event) => toggleColumn(key, event.target.checked) }), key);
  const list = (title, keys) => {
    const found = keys.filter((key) => key.toLowerCase().includes(wanted));
    return found.length ? el("fieldset", {}, el("legend", {}, `${title} (${found.length})`), found.map(box)) : null;
  };
  const paths = [...side.numbers.keys()].sort();
  byId("columns-list").replaceChildren(
    ...[
      list("Of the table", COLUMNS.map((column) => column.key)),
      list("Settings in which recipes differ", paths.filter((path) => varied.has(side.numbers.get(path)))),
      list("The same in all", paths.filter((path) => !varied.has(side.numbers.get(path)))),
    ].filter(Boolean),
  );
}

function toggleColumn(key, isOn) {
  const keys = columns.map((column) => column.key).filter((each) => each !== key);
  choose({ columns: [...keys, ...(isOn ? [key] : [])].join(",") || "," });
}
