// Every view has an address after the `#`, so that it can be linked to and the browser's way back works.

/** The view, what it is about, and its choices, as the address says; the first one where it says nothing. */
function route() {
  if (!location.hash) return { view: byId("upgrade") ? "upgrade" : "summary", about: [], choices: new URLSearchParams() };
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...about] = path.split("/");
  const parts = about.map((each) => {
    try {
      return decodeURIComponent(each);
    } catch {
      return each;
    }
  });
  return { view: view || "recipes", about: parts, choices: new URLSearchParams(query || "") };
}

/** The address with some choices changed; those that are empty are left out. */
function withChoices(changes) {
  const { choices } = route();
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || value === null || value === undefined) choices.delete(name);
    else choices.set(name, value);
  }
  const path = location.hash.split("?")[0] || "#/";
  return choices.size ? `${path}?${choices}` : path;
}

/** Goes there. What is typed letter by letter is one step of the way back, not many. */
function choose(changes, { typing = false } = {}) {
  const address = withChoices(changes);
  if (address === location.hash) return;
  if (typing) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  show();
}
