// The playground: what is typed, pasted or dropped is checked beside the page, and shown.
import { Linter } from "./linter.js";
import { configuration, diff, element, finding } from "./show.js";
import { EXAMPLES } from "./examples.js";

const PAUSE = 350; // milliseconds without a keystroke, after which the text is checked
const MOST = 2_000_000; // characters of a file that is dropped

const at = (name) => document.getElementById(`pg-${name}`);
const editor = at("editor");
const gutter = at("gutter");
const target = at("target");
const unsafe = at("unsafe");
const example = at("example");
const name = at("name");
const file = at("file");
const crlf = at("crlf");

const linter = new Linter();
let known = null; // the releases and the rules' pages, once the linter is there
let busy = false;
let stale = false;
let due = null;
let shown = null;

/** What the linter is asked about. */
const request = (ask, more = {}) => ({
  ask,
  name: name.value.trim() || "recipe.py",
  text: crlf.checked ? editor.value.replaceAll("\n", "\r\n") : editor.value,
  target: target.value || null,
  unsafe: unsafe.checked,
  ...more,
});

/** Checks the text as it is; what is typed meanwhile is checked right afterwards. */
async function check() {
  clearTimeout(due);
  stale = busy;
  if (busy) return;
  busy = true;
  at("results").setAttribute("aria-busy", "true");
  say(known ? "checking …" : "loading Python and the linter …");
  try {
    known ??= await begin();
    const began = performance.now();
    const answer = await linter.ask(request("check"));
    show(answer);
    say(answer.summary, performance.now() - began);
  } catch (error) {
    fail(error);
  }
  busy = false;
  if (stale) return check();
  at("results").removeAttribute("aria-busy");
}

async function begin() {
  const found = await linter.ask({ ask: "targets" });
  const releases = found.targets.map((each) => element("option", { value: each, selected: each === found.usual }, each));
  target.replaceChildren(...releases);
  target.disabled = false;
  return found;
}

function show(answer) {
  shown = answer;
  const findings = answer.report.findings;
  at("findings").replaceChildren(...findings.map((each) => finding(each, known.codes, goTo)));
  at("problems").replaceChildren(...answer.problems.map((each) => element("li", {}, each)), ...unfollowed(answer));
  at("nothing").hidden = findings.length > 0 || answer.problems.length > 0;
  at("nothing").textContent = answer.report.summary.recipes ? "Nothing was found." : "There is no recipe in it.";
  at("fix").hidden = !answer.patch;
  at("patch").replaceChildren(answer.patch ? diff(answer.patch) : "");
  marks(findings);
  showRecipes();
  at("results").hidden = false;
}

const unfollowed = (answer) =>
  answer.report.unfollowed
    .map((each) => `line ${each.line}: ${each.name} could not be followed: ${each.reason}`)
    .map((each) => element("li", {}, each));

function showRecipes() {
  const words = at("filter").value.trim().toLowerCase();
  const all = at("defaults").checked;
  const wanted = (row) => row.path.toLowerCase().includes(words) && (all || row.runs !== undefined || row.how !== "default");
  const tell = (number) => async (path) => {
    try {
      return (await linter.ask(request("why", { recipe: number, setting: path }))).story;
    } catch (error) {
      return error.message;
    }
  };
  const made = shown.recipes.map((recipe, number) => configuration(recipe, wanted, tell(number), number === 0));
  at("recipes").replaceChildren(...made);
  at("configuration").hidden = shown.recipes.length === 0;
}

function say(text, milliseconds) {
  at("status").className = "pg-status";
  at("status").textContent = milliseconds === undefined ? text : `${text}. It took ${Math.round(milliseconds)} ms.`;
}

function fail(error) {
  at("results").hidden = at("configuration").hidden = true;
  at("status").className = "pg-status pg-failed";
  at("status").textContent = `error: ${error.message}`;
}

/** Selects a place of the text, and shows it. */
function goTo(place) {
  const lines = editor.value.split("\n");
  const offset = (line, column) => lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + column - 1;
  editor.focus();
  editor.setSelectionRange(offset(place.line, place.column), offset(place.end_line, place.end_column));
  editor.scrollTop = (place.line - 4) * parseFloat(getComputedStyle(editor).lineHeight);
}

/** The numbers of the lines, with a mark where something was found. */
function marks(findings) {
  const worst = new Map();
  for (const each of [...findings].reverse()) if (!each.suppressed) worst.set(each.line, each.severity);
  const numbers = editor.value.split("\n").map((_, index) => {
    const severity = worst.get(index + 1);
    return element("span", { class: severity ? `pg-at pg-${severity}` : "" }, `${index + 1}\n`);
  });
  gutter.replaceChildren(...numbers);
  gutter.scrollTop = editor.scrollTop;
}

async function applyFix() {
  try {
    const { text, left } = await linter.ask(request("fix"));
    if (left.length) throw new Error(left.join("; "));
    replaceText(text);
    await check();
    editor.focus();
  } catch (error) {
    fail(error);
  }
}

function replaceText(text) {
  crlf.checked = /\r\n/.test(text) && !/[^\r]\n/.test(text); // an editor of a page has no other line ends than its own
  at("ends").hidden = !crlf.checked;
  editor.value = text;
  marks([]);
}

function choose() {
  const { file: called, text } = EXAMPLES[example.value];
  name.value = called;
  replaceText(text);
  if (known) check();
}

async function take(dropped) {
  if (!dropped) return;
  if (dropped.size > MOST) return fail(new Error(`${dropped.name}: ${dropped.size} bytes are more than this page takes`));
  try {
    replaceText(new TextDecoder("utf-8", { fatal: true }).decode(await dropped.arrayBuffer()));
  } catch {
    return fail(new Error(`${dropped.name}: it is no text in UTF-8`));
  }
  name.value = dropped.name;
  await check();
}

function soon() {
  marks([]);
  if (!known) return;
  clearTimeout(due);
  due = setTimeout(check, PAUSE);
}

editor.addEventListener("input", soon);
editor.addEventListener("scroll", () => (gutter.scrollTop = editor.scrollTop));
editor.addEventListener("dragover", (event) => event.preventDefault());
editor.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  take(event.dataTransfer.files[0]);
});
file.addEventListener("change", () => take(file.files[0]));
name.addEventListener("change", () => known && check());
example.addEventListener("change", choose);
for (const each of [target, unsafe, crlf]) each.addEventListener("change", () => known && check());
at("check").addEventListener("click", check);
at("apply").addEventListener("click", applyFix);
for (const each of ["filter", "defaults"]) at(each).addEventListener("input", showRecipes);
example.append(...Object.keys(EXAMPLES).map((each) => element("option", { value: each }, each)));
choose();
