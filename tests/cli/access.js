// What of a page cannot be seen, read aloud or reached: a list of sentences, empty when all is well. Run by
// tests/cli/report.py in the page itself, after WCAG 2.1 AA as far as a program can judge it.
(() => {
  const wrong = [];
  const say = (element, what) => {
    const text = (element.outerHTML || "").replace(/\s+/g, " ").slice(0, 120);
    if (wrong.length < 40) wrong.push(`${what}: ${text}`);
  };
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- colours ----
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (css) => { // any CSS colour as [r, g, b, a]
    const m = css.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/);
    if (m) return [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const d = canvas.getImageData(0, 0, 1, 1).data;
    return [d[0], d[1], d[2], d[3] / 255];
  };
  const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);
  const luminance = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => {
      const s = v / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const c = colour(getComputedStyle(at).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    let c = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    for (const layer of layers.reverse()) c = over(layer, c);
    return c;
  };
  const opacity = (element) => {
    let o = 1;
    for (let at = element; at; at = at.parentElement) o *= +getComputedStyle(at).opacity;
    return o;
  };
  let texts = 0;
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const node = words.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest("script, style, title, desc") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element), svg = element.namespaceURI.endsWith("svg");
    const below = ground(svg ? element.closest("svg") : element);
    const own = colour(svg ? style.fill : style.color);
    own[3] *= opacity(element);
    // Words on a filled mark of a chart are on that mark.
    const mark = svg && [...element.parentElement.querySelectorAll(":scope > .shape")].find((m) => {
      const a = m.getBoundingClientRect(), b = element.getBoundingClientRect();
      return a.left <= b.left && a.right >= b.right && a.top <= b.top && a.bottom >= b.bottom;
    });
    const back = mark ? over(colour(getComputedStyle(mark).fill), below) : below;
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    const got = ratio(over(own, back), back);
    texts++;
    if (got < (large ? 3 : 4.5)) say(element, `contrast ${got.toFixed(2)} of ${style.color} on ${back.slice(0, 3).map(Math.round)}`);
  }
  if (texts < 20) wrong.push(`only ${texts} texts were looked at`);

  for (const e of all("svg .mark, svg .shape, svg .roof, svg .line")) {
    if (!e.checkVisibility()) continue;
    const style = getComputedStyle(e), below = ground(e.closest("svg"));
    const best = Math.max(...[style.fill, style.stroke].filter((c) => c !== "none").map((c) => ratio(over(colour(c), below), below)), 0);
    if (best < 3) say(e, `a mark that cannot be told from the page, ${best.toFixed(2)}`);
  }

  // ---- names ----
  const named = (element) => {
    if (element.getAttribute("aria-label")) return element.getAttribute("aria-label").trim();
    const by = element.getAttribute("aria-labelledby");
    if (by) return by.split(/\s+/).map((id) => document.getElementById(id)?.textContent || "").join(" ").trim();
    if (element.labels?.length) return [...element.labels].map((l) => l.textContent).join(" ").trim();
    const title = element.querySelector(":scope > title");
    return (title && title.textContent.trim()) || (element.innerText ?? element.textContent).trim();
  };
  for (const e of all("a[href], button, summary, input, select, [tabindex]:not([tabindex='-1'])"))
    if (e.checkVisibility() && !named(e)) say(e, "can be focused and has no name");
  for (const e of all("svg")) {
    const role = e.getAttribute("role");
    if (e.getAttribute("aria-hidden") === "true") continue;
    if (!["img", "group"].includes(role)) say(e, "a picture without a role");
    else if (!named(e)) say(e, "a picture without a name");
  }
  for (const e of all("[aria-label]"))
    if (!e.getAttribute("role") && !/^(A|NAV|SECTION|BUTTON|SUMMARY|DETAILS|TABLE|OL|UL|a)$/.test(e.tagName)) say(e, "an aria-label that nobody reads");

  // ---- ids ----
  const ids = all("[id]").map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) wrong.push(`id ${id} is there twice`);
  for (const attribute of ["aria-labelledby", "aria-describedby", "aria-controls", "headers", "for"])
    for (const e of all(`[${attribute}]`))
      for (const id of e.getAttribute(attribute).split(/\s+/)) if (!document.getElementById(id)) say(e, `${attribute} names nobody`);
  for (const e of all("a")) {
    const href = e.getAttribute("href") ?? "";
    if (!href.startsWith("#")) say(e, "a link out of the page");
    else if (!document.getElementById(decodeURIComponent(href.slice(1)))) say(e, "a link to nowhere");
  }

  // ---- structure ----
  const headings = all("h1, h2, h3, h4, h5, h6").map((h) => [+h.tagName[1], h]);
  if (headings.filter(([n]) => n === 1).length !== 1) wrong.push("not one h1");
  let before = 0;
  for (const [n, h] of headings) {
    if (n > before + 1) say(h, `h${n} after h${before}`);
    if (!h.textContent.trim()) say(h, "an empty heading");
    before = n;
  }
  for (const t of all("table")) {
    if (!t.caption || !t.caption.textContent.trim()) say(t, "a table without a caption");
    if (!t.querySelector("th")) say(t, "a table without headers");
    for (const h of all("th", t)) if (!/^(col|row|colgroup|rowgroup)$/.test(h.scope)) say(h, "a header without a scope");
  }
  for (const [selector, n] of [["main", 1], ["body > header", 1], ["body > footer", 1], ["nav[aria-label]", 1]])
    if (all(selector).length !== n) wrong.push(`${all(selector).length} of ${selector}`);
  for (const s of all("section")) if (!named(s)) say(s, "a section without a name");
  if (document.documentElement.lang !== "en") wrong.push("no language");
  if (!document.title.trim()) wrong.push("no title");
  if (all("dl > div, dl > dt, dl > dd").length === 0 && all("dl").length) wrong.push("a list of terms without terms");
  const skip = document.body.querySelector("a");
  if (!skip || !document.querySelector(skip.getAttribute("href"))) wrong.push("the first link does not skip to the content");
  for (const e of all("[tabindex]")) if (+e.getAttribute("tabindex") > 0) say(e, "an order of its own");

  // ---- room ----
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    for (const e of all("body *")) {
      const box = e.getBoundingClientRect();
      if (box.right > width + 1 && box.width > 0 && !e.closest(".scroll, pre, .code") && e.namespaceURI.endsWith("xhtml")) { say(e, "wider than the page"); break; }
    }
    wrong.push(`the page scrolls sideways: ${document.documentElement.scrollWidth} of ${width}`);
  }
  return wrong;
})()
