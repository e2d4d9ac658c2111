"use strict";

// Elements are made by hand and filled with text: nothing that a recipe holds is ever read as markup.

const byId = (id) => document.getElementById(id);

/** An element; `properties` are attributes (`on…` are listeners, true and false switch one), children nodes or text. */
function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const unseen = (text) => el("span", { class: "unseen" }, text);

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
