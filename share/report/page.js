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

// What a picture's mark says stands beside it while it is pointed at or has the focus; Escape takes it away.
for (const picture of document.querySelectorAll("svg.chart")) {
  const figure = picture.closest("figure"), tip = document.createElement("div");
  if (!figure) continue;
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // the mark has the same words as its name
  figure.append(tip);
  const own = picture.querySelector(":scope > title");
  picture.setAttribute("aria-label", `${own.textContent}. ${picture.querySelector(":scope > desc").textContent}`);
  picture.removeAttribute("aria-labelledby");
  own.remove(); // a browser shows it wherever the pointer is
  for (const title of picture.querySelectorAll(":scope * > title")) {
    const mark = title.parentElement;
    mark.setAttribute("data-tip", title.textContent);
    if (mark.matches("a")) mark.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const hide = () => { tip.hidden = true; };
  const show = (event) => {
    const mark = event.target.closest("[data-tip]");
    if (!mark) return hide();
    const at = mark.getBoundingClientRect(), all = figure.getBoundingClientRect();
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    tip.style.top = `${at.bottom - all.top + 8}px`;
    tip.style.left = `${Math.max(0, Math.min(at.left - all.left, all.width - tip.offsetWidth))}px`;
  };
  for (const kind of ["pointerover", "focusin"]) picture.addEventListener(kind, show);
  picture.addEventListener("focusout", hide);
  figure.addEventListener("pointerleave", hide);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}
