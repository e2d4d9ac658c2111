// What is shown, as the address says.

const VIEWS = ["upgrade", "summary", "recipes", "recipe", "compare", "findings"];
const TITLE = document.title;
let before = null;

function show() {
  const { view, about, choices } = route();
  const name = VIEWS.includes(view) ? view : "recipes";
  for (const section of document.querySelectorAll("[data-view]")) section.hidden = section.id !== name;
  for (const each of document.querySelectorAll("[data-nav]")) {
    if (each.dataset.nav === name) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  if (name === "recipes") showMatrix(choices);
  else if (name === "recipe") showRecipe(about[0] || "", choices);
  else if (name === "compare") showCompare(choices);
  document.title = ["upgrade", "summary", "recipes"].includes(name) ? TITLE : `${{ recipe: (about[0] || "").split("::").pop(), compare: "Compare", findings: about[0] || "Findings" }[name]} – ${TITLE}`;
  arrive(name, about);
}

/** Another view begins at its top; a rule is scrolled to. The matrix stays where it was left. */
function arrive(name, about) {
  const now = `${name}/${about.join("/")}`;
  if (before !== null && now !== before) {
    if (name === "findings" && about[0]) {
      const rule = byId(`rule-${about[0]}`);
      if (rule) {
        rule.querySelector("details.documentation")?.setAttribute("open", "");
        rule.scrollIntoView();
        rule.focus({ preventScroll: true });
      }
    } else {
      window.scrollTo(0, 0);
      byId("main").focus({ preventScroll: true });
    }
    if (name === "recipes") fillRows(true);
  } else if (before === null && name === "findings" && about[0]) byId(`rule-${about[0]}`)?.scrollIntoView();
  before = now;
}

// -- colours ----------------------------------------------------------------------------------------------------------------

const SCHEMES = ["system", "light", "dark"];
const KEPT = "mfsdp-lint-colours";

function useScheme(name) {
  if (name === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = name;
  byId("scheme").querySelector("span").textContent = name;
}

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // a page from a file may not be allowed to keep anything
  }
}

function nextScheme() {
  const next = SCHEMES[(SCHEMES.indexOf(document.documentElement.dataset.scheme || "system") + 1) % SCHEMES.length];
  useScheme(next);
  try {
    localStorage.setItem(KEPT, next);
  } catch {
    // then it holds for this visit
  }
}

// -- what happens -------------------------------------------------------------------------------------------------------------

function start() {
  useScheme(SCHEMES.includes(kept()) ? kept() : "system");
  byId("legend").append(...page.kinds.filter((kind) => SAID[kind][2]).reverse().map((kind) =>
    el("li", { title: SAID[kind][2] }, el("span", { class: `key cell ${kind}`, "aria-hidden": true }, SAID[kind][0] || "–"), SAID[kind][1])));
  byId("scheme").addEventListener("click", nextScheme);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  const form = byId("filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    byId("scroller").scrollTop = 0;
    choose({ [event.target.name]: event.target.value }, { typing: event.target.type === "search" });
  });
  byId("scroller").addEventListener("scroll", () => requestAnimationFrame(() => fillRows(false)), { passive: true });
  byId("matrix").addEventListener("keydown", onMatrixKey);
  byId("choose-columns").addEventListener("click", openColumns);
  byId("columns-search").addEventListener("input", (event) => listColumns(event.target.value.toLowerCase()));
  byId("columns-reset").addEventListener("click", () => {
    choose({ columns: "" });
    listColumns(byId("columns-search").value.toLowerCase());
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || byId("recipes").hidden) return;
    event.preventDefault();
    form.elements.q.focus();
  });
  window.addEventListener("resize", () => byId("recipes").hidden || fillRows(false));
  window.addEventListener("beforeprint", () => byId("recipes").hidden || fillRows(true, true));
  window.addEventListener("afterprint", () => byId("recipes").hidden || fillRows(true));
  window.addEventListener("popstate", show);
  window.addEventListener("hashchange", show);
  if (matchMedia("(max-width: 760px)").matches) document.querySelector(".more").removeAttribute("open");
  show();
}

start();
