// Keeps the part of a page that changes fresh: asks for it every two seconds while somebody looks.
// When something was decided on another page, this one is loaded anew, so that its buttons are right.
const EVERY = 2000;
const board = document.querySelector("[data-refresh]");
const lost = document.getElementById("lost");
const decided = () => board.querySelector("[data-decided]")?.dataset.decided;
const known = decided();
let last = "";

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(`${board.dataset.refresh}${location.search}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    put(await answer.text());
    lost.hidden = true;
  } catch {
    lost.hidden = false;
  }
}

/** Put the new part in; what was open stays open. */
function put(html) {
  if (html === last) return;
  last = html;
  const open = [...board.querySelectorAll("details[open]")].map((one) => one.id);
  const focused = board.contains(document.activeElement) ? document.activeElement.closest("details")?.id : null;
  board.innerHTML = html; // made by our server, every text in it escaped
  for (const one of board.querySelectorAll("details")) one.open = open.includes(one.id);
  if (focused) board.querySelector(`#${focused} summary`)?.focus();
  if (decided() !== known) location.reload();
}

async function forever() {
  await refresh();
  setTimeout(forever, EVERY);
}

setTimeout(forever, EVERY);
document.addEventListener("visibilitychange", refresh);
