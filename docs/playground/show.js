// Answers of the linter as elements of the page. Text is only ever set as text.

/** An element with attributes and children; a string is text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
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
    ...found.notes.map(note),
    found.suppressed ? element("p", { class: "pg-note" }, "Silenced by a comment.") : null,
    element("p", { class: "pg-note" }, found.fix ? `fix: ${found.fix.why || found.fix.safety}` : `no fix: ${found.no_fix}`),
  );
}

function consequence(found) {
  if (!found.consequence && !found.raises) return null;
  const happens = found.consequence ? `${found.when}: ${found.consequence}. ` : "";
  const raises = found.raises ? ["The error will be ", element("code", {}, found.raises)] : [];
  return element("p", {}, happens, ...raises);
}

function note({ message, place, frame: rows }) {
  return element("div", { class: "pg-note" }, rows.length ? `note: ${message}` : `note: ${message} (${place})`, frame(rows));
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

/** The configuration of a recipe, to be unfolded. `tell` is asked for the story of a setting when that is unfolded. */
export function configuration(recipe, wanted, tell, open) {
  const rows = recipe.settings.filter(wanted);
  const many = `${recipe.name}, line ${recipe.line}: ${rows.length} of ${recipe.settings.length} settings`;
  const made = element("details", { class: "pg-recipe", open }, element("summary", {}, many));
  const fill = () => {
    if (made.open && made.children.length === 1) made.append(...settings(recipe, rows, tell));
  };
  made.addEventListener("toggle", fill); // a file may have hundreds
  fill();
  return made;
}

function settings(recipe, rows, tell) {
  const ways = [...new Set(recipe.ways.flat())].join("; ");
  const heads = ["setting", "written", "will run", "where it comes from"].map((head) => element("th", { scope: "col" }, head));
  const body = rows.map((row) => setting(row, tell));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body));
  const scroll = { class: "pg-scroll", tabindex: "0", role: "region", "aria-label": `the settings of ${recipe.name}` };
  return [ways ? element("p", { class: "pg-note" }, `It depends on: ${ways}`) : "", element("div", scroll, table)];
}

function setting(row, tell) {
  const changed = row.runs !== undefined;
  const unfold = element("button", { type: "button", "aria-expanded": "false" }, row.path);
  const runs = element("td", { class: changed ? "pg-runs" : "pg-same" }, changed ? row.runs : "as written");
  const cells = [element("th", { scope: "row" }, unfold), element("td", {}, row.written), runs, element("td", {}, from(row))];
  const made = element("tr", { class: changed ? "pg-changed" : "" }, ...cells);
  let story = null;
  unfold.addEventListener("click", async () => {
    const open = story === null;
    unfold.setAttribute("aria-expanded", String(open));
    if (!open) {
      story.remove();
      story = null;
      return;
    }
    const text = element("pre", { tabindex: "0" }, "…");
    story = element("tr", { class: "pg-story" }, element("td", { colspan: "4" }, text));
    made.after(story);
    text.textContent = await tell(row.path);
  });
  return made;
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
  if (!row.how) return `no visible code writes it${start}`;
  const place = row.upstream ? `${row.upstream}, ${row.file}:${row.line}` : `line ${row.line}`;
  return `${HOW[row.how] ?? row.how}: ${place}${start}`;
}
