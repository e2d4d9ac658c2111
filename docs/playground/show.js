// Answers of the linter as elements of the page. Text is only ever set as text.

/** An element with attributes and children; a string is text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null && child !== ""));
  return made;
}

/** A finding with its lines, what will happen, and the other places. `goTo` shows a line in the editor. */
export function finding(found, pages, goTo) {
  const known = pages.includes(found.code);
  const code = known ? element("a", { href: `../rules/${found.code}/` }, found.code) : found.code;
  return element(
    "li",
    { class: `pg-finding pg-${found.severity}`, "data-code": found.code, "data-line": found.line },
    element(
      "p",
      { class: "pg-head" },
      element("span", { class: "pg-severity" }, found.severity),
      element("span", { class: "pg-code" }, code),
      element("button", { type: "button", class: "pg-line", onclick: () => goTo(found) }, `line ${found.line}`),
    ),
    element("p", { class: "pg-message" }, found.message),
    frame(found.frame),
    consequence(found),
    ...found.notes.map((note) => element("div", { class: "pg-note" }, `note: ${note.message}`, frame(note.frame))),
    found.suppressed && element("p", { class: "pg-note" }, "Silenced by a comment."),
    element("p", { class: "pg-note" }, found.fix ? `${found.fix.safety} fix: ${found.fix.why}` : `no fix: ${found.no_fix}`),
  );
}

function consequence(found) {
  if (!found.consequence && !found.raises) return null;
  const raised = found.raises ? element("code", {}, found.raises) : "";
  return element("p", {}, found.consequence ? `${found.when}: ${found.consequence}. ` : "", raised && "The error will be ", raised);
}

/** The lines of a place with a mark under it. */
function frame(rows) {
  if (!rows.length) return null;
  const gutter = Math.max(...rows.map(([number]) => number.length));
  const lines = rows.map(([number, text]) =>
    element("span", { class: number ? "" : "pg-mark" }, `${number.padStart(gutter)} │ ${text}\n`),
  );
  return element("pre", { class: "pg-frame", tabindex: "0", role: "region", "aria-label": "the lines" }, ...lines);
}

/** A patch, its lines coloured. */
export function diff(patch) {
  const kinds = { "+": "pg-added", "-": "pg-removed", "@": "pg-hunk" };
  const lines = patch.split(/(?<=\n)/).filter((line) => !/^(---|\+\+\+) /.test(line));
  return element(
    "pre",
    { class: "pg-diff", tabindex: "0", role: "region", "aria-label": "the fix as a diff" },
    ...lines.map((line) => element("span", { class: kinds[line[0]] ?? "" }, line)),
  );
}

/** The configuration of a recipe as a table. `tell` is asked for the story of a setting when a row is unfolded. */
export function configuration(recipe, wanted, tell) {
  const rows = recipe.settings.filter(wanted);
  const body = element("tbody");
  for (const row of rows) body.append(...setting(row, tell));
  const heads = ["setting", "written", "will run", "where it comes from"];
  return element(
    "details",
    { class: "pg-recipe", open: true },
    element("summary", {}, `${recipe.name}, line ${recipe.line}: ${rows.length} of ${recipe.settings.length} settings`),
    recipe.ways.length
      ? element("p", { class: "pg-note" }, `One of several where it depends on: ${[...new Set(recipe.ways.flat())].join("; ")}`)
      : null,
    element(
      "div",
      { class: "pg-scroll", tabindex: "0", role: "region", "aria-label": `the settings of ${recipe.name}` },
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
        body,
      ),
    ),
  );
}

function setting(row, tell) {
  const story = element("tr", { class: "pg-story", hidden: true });
  const unfold = element(
    "button",
    {
      type: "button",
      "aria-expanded": "false",
      onclick: async () => {
        const open = unfold.getAttribute("aria-expanded") === "true";
        unfold.setAttribute("aria-expanded", String(!open));
        story.hidden = open;
        if (!story.children.length) {
          const cell = element("td", { colspan: "4" }, "…");
          story.append(cell);
          cell.replaceChildren(element("pre", { tabindex: "0" }, await tell(row.path)));
        }
      },
    },
    row.path,
  );
  const runs = row.runs === undefined ? element("td", { class: "pg-same" }, "as written") : element("td", { class: "pg-runs" }, row.runs);
  const cells = [element("th", { scope: "row" }, unfold), element("td", {}, row.written), runs, element("td", {}, from(row))];
  return [element("tr", { class: row.runs === undefined ? "" : "pg-changed" }, ...cells), story];
}

const HOW = {
  assigned: "written",
  argument: "given",
  default: "by default",
  upstream: "upstream",
  override: "override",
  environment: "environment",
  unfollowed: "may be changed",
  startup: "start-up",
};

function from(row) {
  const start = row.because === undefined ? "" : `; at start-up: ${row.because}`;
  if (!row.how) return `nobody is seen to write it${start}`;
  const place = row.upstream ? `${row.upstream}, ${row.file}:${row.line}` : `line ${row.line}`;
  return `${HOW[row.how] ?? row.how}: ${place}${start}`;
}
