// The data of the page: sides (targets, revisions), their recipes, and the cells of these.

const page = JSON.parse(byId("data").textContent);

const SAID = {
  here: ["●", "written here", "in the recipe itself, at the top level of its file, or by its launch"],
  helper: ["◆", "helper", "in another function or file at hand"],
  upstream: ["▲", "upstream", "by code of the release"],
  default: ["", "default", "as the release declares it"],
  startup: ["⇒", "set at start-up", "by the framework; written → what will run where it replaces a value"],
  nobody: ["", "not known to be written", ""],
};
const SEVERITIES = ["error", "warning", "info"];
const RUNS = "→";

class Side {
  constructor(raw, number) {
    this.raw = raw;
    this.number = number;
    this.title = raw.title;
    this.numbers = new Map(raw.settings.map(([path], index) => [path, index]));
    this.said = [];
    this.recipes = [];
    this.byId = new Map();
    for (const each of raw.recipes) {
      const recipe = new Recipe(each, this);
      if (this.byId.has(recipe.id)) recipe.id += `@${each.line}`;
      this.recipes.push(recipe);
      this.byId.set(recipe.id, recipe);
    }
  }

  /** What a cell says, by its number; "" for none. */
  says(number) {
    if (number < 0) return "";
    if (this.said[number] === undefined) this.said[number] = said(this.cell(number));
    return this.said[number];
  }

  text(number) {
    return number < 0 ? "" : this.raw.texts[number];
  }

  /** The numbers of the settings that start-up replaces in some recipe. */
  replaced() {
    if (this.replacing === undefined) {
      const cells = new Set(this.raw.cells.flatMap((cell, number) => (cell.length > 3 && cell[0] >= 0 ? [number] : [])));
      const found = new Set(this.raw.settings.flatMap(([, cell], setting) => (cells.has(cell) ? [setting] : [])));
      for (const { cells: flat } of this.recipes) for (let at = 0; at < flat.length; at += 2) if (cells.has(flat[at + 1])) found.add(flat[at]);
      this.replacing = [...found];
    }
    return this.replacing;
  }

  place(number) {
    if (number < 0) return null;
    const [file, line, where, release, code] = this.raw.places[number];
    const [path, inside] = [this.text(file), this.text(where)];
    return { path, line, function: inside, release: this.text(release), code: this.text(code) };
  }

  origin(number) {
    if (number < 0) return null;
    const [how, place, sources, earlier, option] = this.raw.origins[number];
    return {
      how: this.text(how),
      place: this.place(place),
      sources: sources.map((each) => this.place(each)),
      earlier,
      option: this.text(option),
    };
  }

  cell(number) {
    if (number < 0) return null;
    const [value, kind, origin, run, step, place] = this.raw.cells[number];
    const cell = { value: this.text(value), kind: page.kinds[kind], origin, run: null };
    if (run !== undefined) Object.assign(cell, { run: this.text(run), step: this.text(step), place });
    return cell;
  }
}

class Recipe {
  constructor(raw, side) {
    Object.assign(this, raw);
    this.side = side;
    this.id = `${raw.path}::${raw.name}`;
    this.unusual = null;
    this.worst = Math.min(3, ...raw.troubles.map((each) => SEVERITIES.indexOf(each[2])));
    this.haystack = `${raw.name} ${raw.path} ${raw.family} ${raw.troubles.map((each) => each[0]).join(" ")}`.toLowerCase();
  }

  /** The cell of a setting, by its path; null where the recipe has none. */
  cell(path) {
    const number = this.side.numbers.get(path);
    return number === undefined ? null : this.side.cell(this.cellNumber(number));
  }

  cellNumber(setting) {
    if (this.unusual === null) {
      this.unusual = new Map();
      const flat = this.cells;
      for (let at = 0; at < flat.length; at += 2) this.unusual.set(flat[at], flat[at + 1]);
    }
    const own = this.unusual.get(setting);
    return own === undefined ? this.side.raw.settings[setting][1] : own;
  }

  /** What it says of a setting, by its path; "" where it has none. */
  says(path) {
    const number = this.side.numbers.get(path);
    return number === undefined ? "" : this.side.says(this.cellNumber(number));
  }

  /** Every setting that it has, with its cell, by path. */
  *all() {
    for (const [path, number] of [...this.side.numbers].sort((one, other) => (one[0] < other[0] ? -1 : 1))) {
      const cell = this.side.cell(this.cellNumber(number));
      if (cell !== null) yield [path, cell];
    }
  }

  /** What a column of the matrix says: its text, where that comes from, whether start-up changes it. */
  column(column) {
    if (column.index === undefined) {
      const cell = this.cell(column.title);
      if (cell === null) return { text: "", kind: "nobody", differs: false };
      return { text: said(cell), kind: cell.kind, differs: differs(cell) };
    }
    const found = this.columns[column.index];
    const changed = Array.isArray(found);
    const kinds = column.settings.map((path) => this.cell(path)).map((cell) => (cell ? page.kinds.indexOf(cell.kind) : 0));
    const kind = changed ? "startup" : page.kinds[Math.max(...kinds.filter((each) => page.kinds[each] !== "startup"), 0)];
    return { text: changed ? found[1].replace(RUNS, ` ${RUNS} `) : found, kind, differs: changed };
  }

  /** What a column comes to once start-up is through. */
  effective(index) {
    const found = this.columns[index];
    return (Array.isArray(found) ? found[1].split(RUNS).pop() : found).replace(/\*$/, "");
  }

  /** A setting as it will run; null where it is not known. */
  runs(path) {
    const cell = this.cell(path);
    return cell === null ? null : cell.run === null ? cell.value : cell.run;
  }

  link(view = "recipe") {
    return `#/${view}/${encodeURIComponent(this.id)}${this.side.number ? `?side=${this.side.number}` : ""}`;
  }
}

/** Whether start-up replaces what is written; what nobody wrote, it only sets. */
const differs = (cell) => cell.run !== null && cell.value !== "";

const said = (cell) => (differs(cell) ? `${cell.value} ${RUNS} ${cell.run}` : cell.run === null ? cell.value : cell.run);

const sides = page.sides.map((raw, number) => new Side(raw, number));

const COLUMNS = page.columns.map((column, index) => ({ ...column, index, key: column.title }));
const FSDP = COLUMNS.findIndex((column) => column.title === "FSDP");
const PRECISION = COLUMNS.findIndex((column) => column.title === "precision");

const ROOT = commonFolder(sides[0].recipes.map((recipe) => recipe.folder));

/** The folder that all share, which nobody needs to read in every line. */
function commonFolder(folders) {
  if (!folders.length) return "";
  let parts = folders[0].split("/");
  for (const folder of folders) {
    const other = folder.split("/");
    let same = 0;
    while (same < parts.length && parts[same] === other[same]) same += 1;
    parts = parts.slice(0, same);
  }
  return parts.length ? `${parts.join("/")}/` : "";
}

const short = (path) => (ROOT && path.startsWith(ROOT) ? path.slice(ROOT.length) : path);

/** The paths at which two recipes have other values, written or run, with both cells. */
function differences(one, other) {
  const found = [];
  for (const path of [...new Set([...one.side.numbers.keys(), ...other.side.numbers.keys()])].sort()) {
    if (one.says(path) !== other.says(path)) found.push([path, one.cell(path), other.cell(path)]);
  }
  return found;
}
