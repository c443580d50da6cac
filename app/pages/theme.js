// The theme: chosen on any page, kept by the browser, told to whatever paints with the page's colours.
// What was kept is put on the page by the script in its head, before anything is painted.

const choice = document.querySelector("#theme")

choice.value = document.documentElement.dataset.theme || "auto"
choice.addEventListener("change", () => {
  document.documentElement.dataset.theme = choice.value
  try { localStorage.setItem("ticklab:theme", choice.value) } catch { /* kept for this page only */ }
  window.dispatchEvent(new CustomEvent("ticklab:theme", { detail: { theme: choice.value } }))
})
