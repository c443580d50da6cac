// Requests waiting, tick by tick: one row of bars per run, all on one scale.

const { h, fill, page, listen, chosen, shortTitle, style, dress, serverTable } =
  await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const sheets = await style("panels.css")

export function render({ model, el }) {
  dress(el, sheets)
  const backlog = new Backlog(model)
  model.on(["names", "titles", "texts", "expected"], () => backlog.build())
  listen(model, { runs: () => backlog.build(), tick: () => backlog.paint() })
  backlog.build()
  return backlog.root
}

class Backlog {
  constructor(model) {
    this.model = model
    this.root = h("section", { class: "lab-backlog" })
    this.toggle = serverTable(model)
  }

  get words() { return this.model.texts }

  build() {
    const runs = chosen(this.model.names)
    const columns = Math.max(this.model.expected, ...runs.map((run) => run.strip.frames.length))
    const scale = Math.max(1, ...runs.flatMap((run) => run.strip.frames.map((frame) => frame.waiting)))
    this.root.hidden = runs.length === 0
    this.root.setAttribute("aria-label", this.words.title)
    this.rows = runs.map((run) => this.row(run, columns, scale))
    this.root.replaceChildren(h("h3", { text: this.words.title }), ...this.rows.map(({ root }) => root), this.toggle)
    this.paint()
  }

  name(run) { return shortTitle(this.model, run) }

  row(run, columns, scale) {
    const bars = Array.from({ length: columns }, (_, tick) => {
      const bar = h("span", { class: "bar", title: tick })
      bar.style.setProperty("--share", `${((run.strip.frames[tick]?.waiting ?? 0) / scale) * 100}%`)
      return bar
    })
    const picture = h("div", { class: "bars", role: "img" }, bars)
    picture.style.setProperty("--columns", columns)
    const figure = h("p", { class: "figure" })
    return { run, bars, picture, figure, root: h("div", { class: "backlog-row" }, h("h4", { text: this.name(run) }), picture, figure) }
  }

  paint() {
    for (const { run, bars, picture, figure } of this.rows) {
      const waiting = run.strip.frames.slice(0, page.tick + 1).map((frame) => frame.waiting)
      const now = run.strip.frames[page.tick]?.waiting ?? 0
      bars.forEach((bar, tick) => {
        bar.classList.toggle("reached", tick <= page.tick)
        bar.classList.toggle("now", tick === page.tick)
      })
      figure.textContent = fill(this.words.figure, { now, peak: Math.max(0, ...waiting) })
      picture.setAttribute("aria-label", fill(this.words.picture, { title: this.name(run), values: waiting.join(", ") || "—" }))
    }
  }
}
