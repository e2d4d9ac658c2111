// One recipe: what is wrong with it, what it really configures and why, and how it is laid out.

const CHAIN = { assigned: "assigned", argument: "passed as an argument", default: "declared as the default", upstream: "set by a recipe of the release",
  override: "overridden", environment: "set in the environment", unfollowed: "a call that cannot be followed may have changed it", startup: "set at start-up" };

function showRecipe(id, choices) {
  const side = shownSide(choices);
  const recipe = side.byId.get(id);
  const view = byId("recipe");
  if (!recipe) {
    view.replaceChildren(el("h1", {}, "No such recipe"), el("p", {}, `There is no ${id} at ${side.title}.`), el("p", {}, el("a", { href: "#/" }, "All recipes")));
    return;
  }
  view.replaceChildren(
    el("div", { class: "title" },
      el("p", { class: "crumbs" }, el("a", { href: "#/" }, "Recipes"), " / ", el("a", { href: `#/?family=${encodeURIComponent(recipe.family)}` }, recipe.family)),
      el("h1", {}, wrappable(recipe.name)),
      el("p", { class: "place" }, `${recipe.path}:${recipe.line}`, side.number ? ` as at ${side.title}` : ""),
      el("ul", { class: "strip" }, COLUMNS.map((column) => {
        const { text, kind, differs } = recipe.column(column);
        return el("li", { class: `cell ${kind}${differs ? " differs" : ""}` }, el("span", {}, column.title), el("strong", {}, text));
      })),
      el("p", { class: "others" }, el("a", { class: "button quiet", href: `#/compare?${compared(recipe)}` }, "Compare with another"), otherSides(recipe))),
    el("div", { class: "columns" },
      el("div", { class: "wide" }, troublesOf(recipe), memoryOf(recipe), configuration(recipe)),
      el("div", { class: "narrow" }, layoutPicture(recipe), pathsOf(recipe))),
  );
}

const compared = (recipe) => new URLSearchParams({ a: recipe.id, ...(recipe.side.number ? { "a-side": recipe.side.number } : {}) });

/** The same recipe at the other targets and revisions, and in how much it differs there. */
function otherSides(recipe) {
  return sides.filter((side) => side !== recipe.side).map((side) => {
    const there = side.byId.get(recipe.id);
    if (!there) return el("span", { class: "soft" }, `not there at ${side.title}`);
    const number = differences(recipe, there).length;
    const address = new URLSearchParams({ a: recipe.id, "a-side": recipe.side.number, b: recipe.id, "b-side": side.number });
    return el("a", { class: "button quiet", href: `#/compare?${address}` }, number ? `${counted(number, "difference")} from ${side.title}` : `the same at ${side.title}`);
  });
}

function troublesOf(recipe) {
  const section = el("section", { "aria-labelledby": "troubles-title" }, el("h2", { id: "troubles-title" }, recipe.troubles.length ? `Findings (${recipe.troubles.length})` : "No findings"));
  for (const [code, message, severity, fingerprint, setting] of recipe.troubles) {
    const article = recipe.side.number === 0 && byId("findings").querySelector(`[data-fingerprint="${CSS.escape(fingerprint)}"]`);
    section.append(article ? article.cloneNode(true) : el("article", { class: `finding ${severity}` },
      el("h3", {}, el("span", { class: `severity ${severity}` }, severity), " ", el("a", { class: "code-link", href: `#/findings/${code}` }, code), " ", el("span", { class: "message" }, message)),
      setting ? el("p", { class: "soft" }, setting) : null));
  }
  return section;
}

// -- the configuration --------------------------------------------------------------------------------------------------

const ONLY = {
  written: ["what somebody wrote", (cell) => !["default", "nobody"].includes(cell.kind)],
  here: ["what is written here", (cell) => cell.kind === "here" || cell.kind === "startup"],
  startup: ["what start-up replaces", differs],
};

function configuration(recipe) {
  const list = el("div", { class: "settings" });
  const search = el("input", { type: "search", placeholder: "Search settings and values", "aria-label": "Search settings and values", autocomplete: "off", spellcheck: "false" });
  const only = el("select", { "aria-label": "Which settings" }, el("option", { value: "" }, "everything known"), Object.entries(ONLY).map(([name, [title]]) => el("option", { value: name }, title)));
  const status = el("span", { class: "soft", role: "status" });
  const fill = () => {
    const found = [...recipe.all()].filter(([path, cell]) => `${path} ${said(cell)}`.toLowerCase().includes(search.value.toLowerCase()) && (!only.value || ONLY[only.value][1](cell)));
    status.textContent = counted(found.length, "setting");
    list.replaceChildren(...sectionsOf(found).map(([name, settings]) => el("section", {}, el("h3", {}, name), settings.map(([path, cell]) => settingOf(recipe, path, cell)))));
  };
  search.addEventListener("input", fill);
  only.addEventListener("change", fill);
  fill();
  return el("section", { class: "configuration", "aria-labelledby": "configuration-title" }, el("h2", { id: "configuration-title" }, "Effective configuration"),
    el("div", { class: "tools" }, search, only, status), list,
    el("p", { class: "soft" }, "Settings that nobody writes and no rule knows are at their declared defaults, and left out."));
}

function sectionsOf(settings) {
  const found = new Map();
  for (const each of settings) {
    const section = each[0].split(".")[0];
    if (!found.has(section)) found.set(section, []);
    found.get(section).push(each);
  }
  return [...found];
}

/** A setting; its chain of origins is made when it is unfolded. */
function settingOf(recipe, path, cell) {
  const { side } = recipe;
  const origin = side.origin(cell.origin);
  const [glyph, name] = SAID[cell.kind];
  const section = path.split(".")[0];
  const details = el("details", { class: `setting cell ${cell.kind}` },
    el("summary", {},
      el("span", { class: "path" }, wrappable(path.slice(section.length + 1) || path)),
      el("span", { class: "value" }, glyph && el("span", { class: "glyph", "aria-hidden": true }, glyph), differs(cell) ? [el("s", {}, cell.value), ` ${RUNS} `, el("strong", {}, cell.run)] : wrappable(said(cell))),
      el("span", { class: "where" }, origin ? placed(deciding(origin)) : "", unseen(` (${name})`))));
  details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(chainOf(side, cell, origin)); });
  return details;
}

const deciding = (origin) => origin.sources[origin.sources.length - 1] || origin.place;

const placed = (place) => `${short(place.path).split("/").pop()}:${place.line}`;

/** Start-up's step, the last write, what it was handed on from, and the writes that it replaced. */
function chainOf(side, cell, origin) {
  const list = el("ol", { class: "chain" });
  if (cell.run !== null) list.append(link(differs(cell) ? "Start-up replaces it" : "Start-up sets it", side.place(cell.place), `${cell.step || "for this target"} ${RUNS} ${cell.run}`));
  for (let each = origin, last = true; each; each = side.origin(each.earlier), last = false) {
    list.append(link(last ? `It is ${CHAIN[each.how] || each.how}` : `It replaced what was ${CHAIN[each.how] || each.how}`, each.place,
      each.option ? `from the default of ${each.option}, which whoever starts it may change` : ""));
    for (const source of each.sources) list.append(link("The value comes from", source, "", "source"));
  }
  if (!list.children.length) list.append(el("li", {}, "Nobody is known to write it."));
  return list;
}

function link(what, place, remark, kind = "") {
  return el("li", { class: kind },
    el("span", { class: "what" }, what), " ",
    place ? el("span", { class: "place" }, `${place.path}:${place.line}`, place.function ? ` in ${place.function}` : "", place.release ? ` (${place.release})` : "") : "",
    remark ? el("p", { class: "soft" }, remark) : "",
    place && place.code ? el("pre", { class: "code" }, place.code) : "");
}

// -- beside it ------------------------------------------------------------------------------------------------------------

const MEMORY = ["parameters", "gradients", "main", "optimizer", "total", "in all"];
const STACKED = ["parameters", "gradients", "main parameters", "optimizer", "gathered for a while", "activations"];

/** Model state on each rank, where that was asked for: wrapped as the recipe has it, and in every other way. */
function memoryOf(recipe) {
  const { memory, side } = recipe;
  if (!memory) return "";
  const text = (number) => side.text(number);
  const note = (title, lines) => (lines.length ? el("details", {}, el("summary", {}, title), lines) : "");
  return el("section", { class: "memory", "aria-labelledby": "memory-title" }, el("h2", { id: "memory-title" }, "Memory per rank"),
    memory.said.map((line) => el("p", { class: "soft" }, text(line))),
    memory.rows.length ? wrappedTable("Ways of wrapping", "wrapped as", memory.rows.map(([own, label], row) => ({ recipe, row, own, title: text(label) }))) : el("p", {}, text(memory.why)),
    memory.fit.map((line) => el("p", {}, text(line))),
    note("How it is worked out", memory.formulas.map(([name, formula]) => el("p", {}, el("strong", {}, text(name)), el("br"), el("code", {}, text(formula))))),
    note("Where that was read", memory.sources.map(([says, place]) => el("p", {}, text(says), el("br"), el("span", { class: "place" }, text(place))))),
    memory.left.length ? el("p", { class: "soft" }, `Left out: ${memory.left.map(text).join("; ")}.`) : "");
}

/** What a rank holds in some rows of recipes' estimates, to one scale. */
function wrappedTable(label, first, rows) {
  const most = Math.max(1, ...rows.map(({ recipe, row }) => recipe.memory.stacks[row].reduce((sum, bytes) => sum + bytes, 0)));
  return [el("ul", { class: "legend" }, STACKED.map((name, part) => el("li", {}, el("i", { class: `part-${part}` }), name))),
    el("div", { class: "drawing", tabindex: 0, role: "group", "aria-label": label }, el("table", {},
      el("thead", {}, el("tr", {}, [first, ...MEMORY].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, rows.map(({ recipe, row, own, title }) => el("tr", { class: own ? "own" : "" },
        el("th", { scope: "row" }, title, own ? unseen(" (as the recipe is wrapped)") : "", stackOf(recipe.memory.stacks[row], most)),
        recipe.memory.rows[row].slice(2).map((size) => el("td", { class: "size" }, recipe.side.text(size))))))))];
}

/** The parts of what a rank holds, one after the other; the table beside it has the numbers. */
function stackOf(parts, most) {
  const pieces = parts.map((bytes, part) => el("i", { class: `part-${part}`, title: STACKED[part] }));
  pieces.forEach((piece, part) => { piece.style.width = `${(100 * parts[part]) / most}%`; });
  return el("div", { class: "stack", "aria-hidden": "true" }, pieces);
}

/** The execution paths of a recipe that has several, and what is different on each. */
function pathsOf(recipe) {
  if (!recipe.variants.length) return "";
  return el("section", { "aria-labelledby": "paths-title" }, el("h2", { id: "paths-title" }, `${recipe.variants.length} execution paths`),
    recipe.variants.map((variant) => el("details", { class: "path-through" }, el("summary", {}, variant.when.length ? `when ${variant.when.join(" and ")}` : "otherwise"),
      el("dl", {}, Object.entries(variant.settings).flatMap(([path, value]) => [el("dt", {}, path), el("dd", {}, value)])))));
}
