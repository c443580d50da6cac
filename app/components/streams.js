// The text each request has been given by the end of the page's tick, and its bytes: a token is a byte.

const { h, page, listen, lights, chosen, chip, shortTitle, showRequest, style, dress } =
  await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const sheets = await style("panels.css")

export function render({ model, el }) {
  dress(el, sheets)
  const streams = new Streams(model)
  model.on(["names", "titles", "prompts", "texts"], () => streams.build())
  listen(model, { runs: () => streams.build(), tick: () => streams.paint(), request: ({ id }) => showRequest(streams.root, id) })
  streams.build()
  return streams.root
}

class Streams {
  constructor(model) {
    this.model = model
    this.root = h("section", { class: "lab-streams" })
  }

  get words() { return this.model.texts }

  build() {
    this.runs = chosen(this.model.names)
    this.root.hidden = this.runs.length === 0
    this.root.setAttribute("aria-label", this.words.title)
    this.cells = []
    const names = this.runs.map((run) => h("th", { scope: "col", text: shortTitle(this.model, run) }))
    const rows = (this.runs[0]?.timeline.rows ?? []).map((row) => this.row(row))
    const table = h("table", {}, h("thead", {}, h("tr", {}, h("td"), names)), h("tbody", {}, rows))
    this.root.replaceChildren(h("h3", { text: this.words.title }), h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": this.words.title }, table))
    this.paint()
  }

  row(row) {
    const cells = this.runs.map((run) => {
      const text = h("q")
      const bytes = h("small", { class: "bytes" })
      this.cells.push({ run, id: row.id, text, bytes })
      return h("td", {}, h("p", {}, h("span", { class: "prompt", text: visible(this.model.prompts[row.id] ?? "") }), text), bytes)
    })
    return lights(h("tr", { class: `r${row.colour % 8}` }, h("th", { scope: "row" }, chip(row.id, row.colour)), cells), row.id)
  }

  paint() {
    for (const { run, id, text, bytes } of this.cells) {
      const last = run.log.frames.length - 1
      const frame = run.log.frames[Math.min(page.tick, last)]
      const said = page.tick < 0 ? null : frame?.speech.find((one) => one.id === id)
      text.textContent = visible(said?.text ?? "")
      text.classList.toggle("empty", !said?.data.length)
      bytes.textContent = said?.data.length ? said.data.join(" ") : this.words.nothing
    }
  }
}

/** Line breaks can be seen. */
function visible(text) {
  return text.replaceAll("\n", "⏎")
}
