// Keeps the parts of a page that change fresh: asks for them every two seconds while somebody looks.
// When something was decided on another page, this one is loaded anew, so that its buttons are right.
const EVERY = 2000;
const parts = [...document.querySelectorAll("[data-refresh]")];
const lost = document.getElementById("lost");
const decided = () => document.querySelector("[data-decided]")?.dataset.decided;
const known = decided();
const last = new Map();

async function refresh() {
  if (document.hidden) return;
  try {
    await Promise.all(parts.map(renew));
    lost.hidden = true;
  } catch {
    lost.hidden = false;
  }
}

async function renew(part) {
  const answer = await fetch(`${part.dataset.refresh}${location.search}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(String(answer.status));
  put(part, await answer.text());
}

/** Put the new part in; what was open stays open, what had the focus keeps it. */
function put(part, html) {
  if (html === last.get(part)) return;
  last.set(part, html);
  const open = [...part.querySelectorAll("details[open]")].map((one) => one.id);
  const focused = part.contains(document.activeElement) ? mark(document.activeElement) : null;
  part.innerHTML = html; // made by our server, every text in it escaped
  for (const one of part.querySelectorAll("details")) one.open = open.includes(one.id);
  if (focused) part.querySelector(focused)?.focus();
  if (decided() !== known) location.reload();
}

/** Where to find an element once more in a part that came anew. */
function mark(element) {
  const details = element.closest("details");
  if (details) return `#${details.id} summary`;
  return element.matches("a[href]") ? `a[href="${CSS.escape(element.getAttribute("href"))}"]` : null;
}

async function forever() {
  await refresh();
  setTimeout(forever, EVERY);
}

setTimeout(forever, EVERY);
document.addEventListener("visibilitychange", refresh);
