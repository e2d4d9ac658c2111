// Two recipes, or one at two targets or revisions: only what differs.

function showCompare(chosen) {
  const choices = withPicked(chosen);
  const one = comparedRecipe(choices, "a");
  const other = comparedRecipe(choices, "b");
  const view = byId("compare");
  view.replaceChildren(el("div", { class: "reading wide-reading" },
    el("h1", {}, "Compare"),
    el("div", { class: "pickers" }, picker("a", "This", choices), el("button", { type: "button", class: "quiet", onclick: () => swap(choices) }, "Swap"), picker("b", "with that", choices)),
    one && other ? compareTwo(one, other) : el("p", { class: "notice" }, "Choose two recipes; what is the same in both is left out.")));
}

/** The choices; the recipes that are ticked where none is chosen, which the address then names. */
function withPicked(choices) {
  if (choices.has("a") || choices.has("b") || !picked.size) return choices;
  const [one, other = ""] = picked;
  history.replaceState(null, "", withChoices({ a: one, b: other }));
  return route().choices;
}

const comparedRecipe = (choices, name) => {
  const side = sides[Number(choices.get(`${name}-side`)) || 0] || sides[0];
  return side.byId.get(choices.get(name)) || null;
};

function picker(name, title, choices) {
  const side = sides[Number(choices.get(`${name}-side`)) || 0] || sides[0];
  const id = choices.get(name) || "";
  const groups = new Map();
  for (const recipe of side.recipes) {
    if (!groups.has(recipe.path)) groups.set(recipe.path, []);
    groups.get(recipe.path).push(recipe);
  }
  const options = [...groups].map(([path, recipes]) => el("optgroup", { label: short(path) }, recipes.map((recipe) => el("option", { value: recipe.id, selected: recipe.id === id }, recipe.name))));
  const select = el("select", { name, id: `pick-${name}`, onchange: (event) => { choose({ [name]: event.target.value }); byId(`pick-${name}`).focus(); } }, el("option", { value: "" }, "choose a recipe"), options);
  const at = sides.length > 1 ? el("label", {}, el("span", { class: "unseen" }, `${title}: as at`),
    el("select", { onchange: (event) => choose({ [`${name}-side`]: event.target.value === "0" ? "" : event.target.value }) }, sides.map((each) => el("option", { value: each.number, selected: each === side }, each.title)))) : "";
  return el("div", { class: "picker" }, el("label", {}, el("span", {}, title), select), at);
}

function swap(choices) {
  const of = (name) => choices.get(name) || "";
  choose({ a: of("b"), b: of("a"), "a-side": of("b-side"), "b-side": of("a-side") });
}

function compareTwo(one, other) {
  const every = differences(one, other);
  const found = every.filter(([, left, right]) => left !== null && right !== null);
  const alone = every.filter(([, left, right]) => left === null || right === null);
  const names = one.name === other.name ? [one.side.title, other.side.title] : [one.name, other.name];
  const [mine, theirs] = [onlyIn(one, other), onlyIn(other, one)];
  return el("div", { class: "compared" },
    comparedMemory([one, other], names),
    el("h2", {}, found.length ? `${counted(found.length, "setting")} differ${found.length === 1 ? "s" : ""}` : "No setting differs"),
    found.length ? differencesTable("Settings that differ", found, one, other, names) : "",
    alone.length ? el("h2", {}, `${counted(alone.length, "setting")} written in one alone`) : "",
    alone.length ? el("p", { class: "soft" }, "The other leaves them at their declared defaults, or has no such setting.") : "",
    alone.length ? differencesTable("Settings written in one alone", alone, one, other, names) : "",
    mine.length || theirs.length ? el("h2", {}, "Findings that one has alone") : "",
    [[names[0], mine], [names[1], theirs]].map(([name, troubles]) => (troubles.length ? el("section", {}, el("h3", {}, name), el("ul", { class: "alone" }, troubles.map(([code, message, severity]) =>
      el("li", {}, el("span", { class: `severity ${severity}` }, severity), " ", el("a", { href: `#/findings/${code}` }, code), " ", message)))) : "")));
}

/** What a rank holds of each, wrapped as the recipe has it, where that was asked for and is known of both. */
function comparedMemory(recipes, names) {
  const rows = recipes.map((recipe, at) => ({ recipe, row: recipe.memory ? recipe.memory.rows.findIndex(([own]) => own) : -1, title: names[at] }));
  if (rows.some(({ row }) => row < 0)) return "";
  const titled = rows.map(({ recipe, row, title }) => ({ recipe, row, title: `${title}: ${recipe.side.text(recipe.memory.rows[row][1])}` }));
  return el("section", { class: "memory", "aria-labelledby": "both-memory" }, el("h2", { id: "both-memory" }, "Memory per rank"), wrappedTable("Memory of both", "recipe", titled));
}

function differencesTable(title, found, one, other, names) {
  return el("div", { class: "scroller plain", role: "group", "aria-label": title, tabindex: 0 },
    el("table", { class: "differences" },
      el("caption", { class: "unseen" }, title),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "setting"), [one, other].map((recipe, at) => el("th", { scope: "col" }, el("a", { href: recipe.link() }, wrappable(names[at])))))),
      sectionsOf(found).map(([section, rows]) => el("tbody", {}, el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: 3 }, section)),
        rows.map(([path, left, right]) => el("tr", {}, el("th", { scope: "row" }, wrappable(path.slice(section.length + 1) || path)), comparedCell(one, left), comparedCell(other, right)))))));
}

function comparedCell(recipe, cell) {
  if (cell === null) return el("td", { class: "cell nobody" }, el("span", { class: "soft" }, "not written"));
  const [glyph, name] = SAID[cell.kind];
  const origin = recipe.side.origin(cell.origin);
  return el("td", { class: `cell ${cell.kind}` }, glyph && el("span", { class: "glyph", "aria-hidden": true }, glyph), said(cell), unseen(` (${name})`),
    origin ? el("span", { class: "where" }, placed(deciding(origin))) : "");
}

/** What is wrong with one recipe and not with the other. */
function onlyIn(one, other) {
  const there = new Set(other.troubles.map(([code, message]) => `${code} ${message}`));
  return one.troubles.filter(([code, message]) => !there.has(`${code} ${message}`));
}
