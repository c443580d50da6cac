// Keeps the board fresh: asks for it every two seconds while somebody looks.
const EVERY = 2000;
const board = document.getElementById("board");
const lost = document.getElementById("lost");
let last = "";

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(`teach/board${location.search}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    put(await answer.text());
    lost.hidden = true;
  } catch {
    lost.hidden = false;
  }
}

function put(html) {
  if (html === last) return;
  last = html;
  const open = board.querySelector("details")?.open;
  board.innerHTML = html; // made by our server, every text in it escaped
  const details = board.querySelector("details");
  if (details && open) details.open = true;
}

async function forever() {
  await refresh();
  setTimeout(forever, EVERY);
}

setTimeout(forever, EVERY);
document.addEventListener("visibilitychange", refresh);
