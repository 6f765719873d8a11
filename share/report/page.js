"use strict";
// All that is here is a help: without it the page shows the same.

// What a link points to is opened.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();

// On paper nothing is closed.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const details of closed) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of closed) details.open = false;
});
