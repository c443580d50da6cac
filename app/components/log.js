// Each tick in words: what happened in the page's tick, run by run, and everything before behind a toggle.

const { h, fill, page, listen, chosen, shortTitle, style, dress } =
  await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const sheets = await style("panels.css")

export function render({ model, el }) {
  dress(el, sheets)
  const log = new Log(model)
  model.on(["names", "titles", "texts"], () => log.build())
  listen(model, { runs: () => log.build(), tick: () => log.paint() })
  log.build()
  return log.root
}

/** What happened in a tick: to the requests, then to the pages. */
function linesOf(run, tick) {
  return [...(run.log.frames[tick]?.lines ?? []), ...(run.pages.frames[tick]?.events ?? [])]
}

class Log {
  constructor(model) {
    this.model = model
    this.root = h("section", { class: "lab-log" })
    this.open = false
  }

  get words() { return this.model.texts }

  build() {
    this.root.setAttribute("aria-label", this.words.title)
    this.columns = chosen(this.model.names).map((run) => {
      const now = h("ul", { class: "now" })
      const title = shortTitle(this.model, run)
      return { run, title, now, root: h("div", { class: "column" }, h("h4", { text: title }), now) }
    })
    this.root.hidden = this.columns.length === 0
    this.heading = h("h3")
    this.whole = h("div", { class: "columns" })
    this.toggle = h("details", { class: "as-table", on: { toggle: () => this.fillWhole() } },
      h("summary", { text: this.words.whole }), this.whole)
    this.toggle.open = this.open
    this.root.replaceChildren(this.heading, h("div", { class: "columns" }, this.columns.map(({ root }) => root)), this.toggle)
    this.paint()
  }

  paint() {
    this.heading.textContent = page.tick < 0 ? this.words.before : fill(this.words.heading, { tick: page.tick })
    for (const { run, now } of this.columns) {
      const lines = linesOf(run, page.tick)
      now.replaceChildren(...(lines.length ? lines : [this.words[page.tick < 0 ? "not_yet" : "nothing"]]).map((text) => h("li", { text })))
    }
    this.fillWhole()
  }

  fillWhole() {
    this.open = this.toggle.open
    if (!this.toggle.open) return
    this.whole.replaceChildren(...this.columns.map(({ run, title }) => h("div", { class: "column" }, h("h4", { text: title }),
      h("ol", {}, run.log.frames.slice(0, page.tick + 1).map(({ tick }) => h("li", {},
        h("strong", { text: fill(this.words.tick, { tick }) }), h("ul", {}, linesOf(run, tick).map((text) => h("li", { text })))))))))
  }
}
