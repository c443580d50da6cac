// The three ledgers of each run at the page's tick, as a table whose cells are bars with their numbers.

const { h, fill, page, listen, chosen, shortTitle, style, dress } =
  await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const sheets = await style("panels.css")

const COLUMNS = ["prefill", "decode", "kv", "queue"]

export function render({ model, el }) {
  dress(el, sheets)
  const root = h("section", { class: "lab-strip" })
  const strip = new Strip(model, root)
  model.on(["names", "titles", "texts"], () => strip.build())
  listen(model, { runs: () => strip.build(), tick: () => strip.paint() })
  strip.build()
  return root
}

class Strip {
  constructor(model, root) {
    this.model = model
    this.root = root
  }

  build() {
    const words = this.model.texts
    this.runs = chosen(this.model.names)
    this.root.hidden = this.runs.length === 0
    this.root.setAttribute("aria-label", words.title)
    this.tick = h("caption")
    const head = h("tr", { role: "row" }, h("td", { role: "cell" }), COLUMNS.map((name) => h("th", { scope: "col", role: "columnheader", text: words[name] })))
    this.rows = this.runs.map((run) => this.row(run))
    this.root.replaceChildren(h("table", { role: "table" }, this.tick,
      h("thead", { role: "rowgroup" }, head), h("tbody", { role: "rowgroup" }, this.rows.map(({ row }) => row))))
    this.paint()
  }

  row(run) {
    const cells = COLUMNS.map((name) => ({ name, bar: h("span", { class: "fillbar", "aria-hidden": "true" }), text: h("span", { class: "figure" }), label: h("small", { class: "inline-label", text: this.model.texts[name] }) }))
    const tds = cells.map(({ name, bar, text, label }) => h("td", { role: "cell", class: name }, label, name === "queue" ? null : bar, text))
    const name = shortTitle(this.model, run)
    return { run, cells, row: h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader", text: name }), tds) }
  }

  paint() {
    const words = this.model.texts
    this.tick.textContent = page.tick < 0 ? words.before : fill(words.tick, { tick: page.tick })
    for (const { run, cells } of this.rows) {
      const frame = run.strip.frames[page.tick]
      const shape = frame ?? run.strip.frames[0]
      const ended = !frame && run.done && page.tick >= run.strip.frames.length
      const figures = shape ? figuresOf(shape, frame) : {}
      for (const { name, bar, text } of cells) paintCell(bar, text, figures[name], ended && name === "queue" ? words.ended : null, words)
    }
  }
}

/** Used and capacity of each ledger; nothing is used where there is no `frame`. */
function figuresOf(shape, frame) {
  return {
    prefill: { used: frame?.prefill ?? 0, of: shape.prefill_budget },
    decode: { used: frame?.decode ?? 0, of: shape.decode_slots, steps: true },
    kv: { used: frame?.held ?? 0, of: shape.pool },
    queue: { used: frame?.waiting ?? 0, of: null },
  }
}

function paintCell(bar, text, figure, instead, words) {
  if (!figure) {
    text.textContent = "—"
    return
  }
  const { used, of, steps } = figure
  text.textContent = instead ?? (of === null ? String(used) : fill(words.of, { used, of }))
  text.classList.toggle("zero", used === 0)
  bar.style.setProperty("--share", `${of ? Math.min(100, (used / of) * 100) : 0}%`)
  bar.style.setProperty("--steps", steps ? of : 1)
  bar.classList.toggle("full", of !== null && used >= of)
}
