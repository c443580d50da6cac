// The theme that was chosen in the lab holds here too.
try {
  document.documentElement.dataset.theme = localStorage.getItem("ticklab:theme") || "auto"
} catch {
  // A browser that keeps nothing follows its system.
}
