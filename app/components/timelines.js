// The policies' timelines in one table on one time axis: a row per request, a cell per tick.
// Only ticks up to the page's tick are filled. A cell under the pointer or the focus says why.

const query = new URL(import.meta.url).search
const home = "../../../app.components.base/LabComponent/_js"
const { h, fill, page, listen, chosen, chip, seconds, decimals, showRequest, projected, style, dress, serverTable } =
  await import(`${home}/shared.js${query}`)
const { GridCursor } = await import(`${home}/grid.js${query}`)
const sheets = await style("timelines.css")

const LEGEND = ["waiting", "prefill", "first", "decode", "last", "blocked", "seat"]
const RARE = ["recompute", "preempted", "refused", "cancelled"] // in the legend only when they occur
const LONGEST_AXIS = 60 // a wild prediction must not squeeze the run

/** Whether there are, or may still come, milliseconds: a run that only counts has none. */
const measured = (run) => !run.done || run.ms.some((ms) => ms !== null)

export function render({ model, el }) {
  dress(el, sheets)
  return new Timelines(model).root
}

class Timelines {
  constructor(model) {
    this.model = model
    this.shown = -1
    this.why = h("p", { class: "why" })
    this.legend = h("ul", { class: "legend" })
    this.table = h("table", { role: "grid" })
    this.scroller = h("div", { class: "scroll", tabindex: 0, role: "region" }, this.table)
    this.below = serverTable(model)
    this.root = h("section", { class: "lab-timelines" })
    this.cursor = new GridCursor(this.table, {
      enter: (cell) => this.explain(cell),
      leave: () => this.explain(null),
      press: (cell) => this.moveTo(cell),
    })
    this.table.addEventListener("pointerover", (event) => this.explain(event.target.closest("[role=gridcell]") ?? null))
    this.table.addEventListener("pointerleave", () => this.explain(null))
    model.on(["names", "predictions", "expected", "legend", "texts"], () => this.build())
    listen(model, {
      runs: () => this.build(),
      tick: () => this.show(),
      projector: () => this.build(),
      request: ({ id }) => showRequest(this.root, id),
    })
    this.build()
  }

  get words() { return this.model.texts }

  /** A second picture explains nothing twice; its sentence stands below the cells, where it moves none. */
  arrange() {
    const parts = this.model.legend ? [this.legend, this.why, this.scroller, this.below] : [this.scroller, this.why, this.below]
    this.root.classList.toggle("second", !this.model.legend)
    this.root.hidden = !this.model.legend && this.runs.length === 0
    if (parts.length !== this.root.childElementCount) this.root.replaceChildren(...parts)
  }

  // ---- building -----------------------------------------------------------------------------------

  build() {
    this.runs = chosen(this.model.names).map((run) => ({ ...run.timeline, done: run.done }))
    this.columns = this.width()
    this.cells = [] // one list of cells per tick
    this.root.setAttribute("aria-label", this.words.title)
    this.scroller.setAttribute("aria-label", this.words.scroll)
    this.table.setAttribute("aria-label", this.words.title)
    this.table.style.setProperty("--columns", this.columns)
    this.buildLegend()
    this.heads = Array.from({ length: this.columns }, (_, tick) => this.head(tick))
    const scale = Math.max(0.001, ...this.runs.flatMap((run) => run.ms.map((ms) => ms ?? 0)))
    this.table.replaceChildren(
      h("thead", {}, h("tr", {}, h("th", { class: "name", scope: "col" }, h("span", { text: this.words.axis })), this.heads)),
      ...this.runs.map((run) => this.body(run, scale)))
    this.scroller.hidden = this.runs.length === 0
    this.legend.hidden = this.scroller.hidden || !this.model.legend
    this.arrange()
    this.below.hidden = this.scroller.hidden
    this.shown = null
    this.show()
    this.cursor.reset()
    this.explain(null)
  }

  /** Columns: the longest run, or what is expected, and far enough for every flag. */
  width() {
    const flags = this.runs.flatMap((run) => run.rows.map((row) => (this.predicted(run, row) ?? 0) / run.tick_seconds))
    const longest = Math.max(0, ...this.runs.map((run) => run.ms.length))
    return Math.max(longest, Math.min(LONGEST_AXIS, Math.max(this.model.expected, ...flags.map(Math.ceil))))
  }

  predicted(run, row) {
    const ttft = projected() ? null : this.model.predictions[run.name]?.[row.id]
    return typeof ttft === "number" && ttft >= 0 ? row.arrival + ttft : null
  }

  head(tick) {
    const length = this.runs[0]?.tick_seconds ?? 0.1
    const text = tick % 5 === 0 ? h("small", { text: `${seconds(tick * length, length)} s` }) : null
    return h("th", { scope: "col" }, h("span", { text: tick }), text)
  }

  body(run, scale) {
    const title = h("tr", { class: "run" }, h("th", { colspan: this.columns + 1, scope: "rowgroup" }, h("span", { class: "title", text: run.title })))
    return h("tbody", { "aria-label": run.title }, title, run.rows.map((row) => this.row(run, row)), measured(run) ? this.msRow(run, scale) : null)
  }

  row(run, row) {
    const about = fill(this.words.request, { arrival: row.arrival, prompt: row.prompt_tokens, output: row.output_tokens })
    const name = h("th", { class: "name", scope: "row", data: { request: row.id } }, chip(row.id, row.colour), h("small", { text: about }))
    const known = new Map(row.cells.map((cell) => [cell.tick, cell]))
    const predicted = this.predicted(run, row)
    const tds = Array.from({ length: this.columns }, (_, tick) => {
      const td = h("td", { role: "gridcell", tabindex: -1, data: { request: row.id, tick } }, h("span", { class: "letter" }))
      this.mark(td, run, row, tick, predicted)
      this.add(tick, { td, cell: known.get(tick), run, row, predicted })
      return td
    })
    return h("tr", { class: `r${row.colour % 8}` }, name, tds)
  }

  /** Where the request arrives, and the learner's flag: marks inside the cell, at their exact time. */
  mark(td, run, row, tick, predicted) {
    const start = tick * run.tick_seconds
    const within = (moment) => `${Math.min(100, Math.max(0, ((moment - start) / run.tick_seconds) * 100))}%`
    const arrives = Math.floor(row.arrival / run.tick_seconds + 1e-9) === tick
    if (arrives) {
      const pin = h("span", { class: "arrival", "aria-hidden": "true" })
      pin.style.left = `max(5px, ${within(row.arrival)})`
      td.append(pin)
    }
    if (predicted !== null && this.tickOf(predicted, run) === tick) {
      const flag = h("span", { class: "flag", "aria-hidden": "true" })
      flag.style.left = within(predicted)
      td.append(flag)
    }
  }

  /** The tick at whose end a token would come out at `moment`; the last column when it is far out. */
  tickOf(moment, run) {
    return Math.min(this.columns - 1, Math.max(0, Math.ceil(moment / run.tick_seconds - 1e-9) - 1))
  }

  msRow(run, scale) {
    const tds = Array.from({ length: this.columns }, (_, tick) => {
      const bar = h("span", { class: "bar" })
      const ms = run.ms[tick] ?? null
      bar.style.height = `${ms === null ? 0 : Math.max(4, (ms / scale) * 100)}%`
      const td = h("td", { role: "gridcell", tabindex: -1, data: { tick } }, bar)
      this.add(tick, { td, ms, run })
      return td
    })
    return h("tr", { class: "ms" }, h("th", { class: "name", scope: "row" }, h("small", { text: this.words.ms })), tds)
  }

  add(tick, entry) {
    (this.cells[tick] ??= []).push(entry)
  }

  buildLegend() {
    const kinds = new Set(this.runs.flatMap((run) => run.rows.flatMap((row) => row.cells.map((cell) => cell.kind))))
    const letters = new Map(this.runs.flatMap((run) => run.rows.flatMap((row) => row.cells.map((cell) => [cell.kind, cell.letter]))))
    const item = (kind) => h("li", {}, h("span", { class: `sample r0 k-${kind}`, "aria-hidden": "true", text: letters.get(kind) ?? this.words[`cell.${kind}.letter`] ?? "" }), this.words[`cell.${kind}`])
    const flag = projected() || !this.model.flags ? [] : [["flag", this.words.mark_flag]]
    const marks = [["arrival", this.words.mark_arrival], ...flag, ["came", this.words.mark_came]]
    this.legend.setAttribute("aria-label", this.words.legend)
    this.legend.replaceChildren(
      ...LEGEND.map(item), ...RARE.filter((kind) => kinds.has(kind)).map(item),
      ...marks.map(([name, text]) => h("li", {}, h("span", { class: `sample mark ${name}`, "aria-hidden": "true" }), text)))
  }

  // ---- showing ------------------------------------------------------------------------------------

  /** Fill or blank the columns between the tick shown and the page's tick. */
  show() {
    const tick = page.tick
    const old = this.shown
    const [from, to] = old === null ? [0, this.columns - 1] : [Math.min(old, tick), Math.max(old, tick)]
    for (let column = Math.max(0, from); column <= Math.min(to, this.columns - 1); column += 1) {
      this.cells[column]?.forEach((entry) => this.paint(entry, column, column <= tick))
      this.heads[column].classList.toggle("now", column === tick)
    }
    this.shown = tick
    this.follow(tick)
  }

  paint(entry, tick, reached) {
    const { td, cell } = entry
    td.classList.toggle("now", tick === page.tick)
    if (!entry.row) {
      td.className = `${reached && entry.ms !== null ? "measured" : ""} ${tick === page.tick ? "now" : ""}`
      td.setAttribute("aria-label", this.sentence(entry, tick))
      return
    }
    const kind = reached && cell ? cell.kind : "future"
    td.className = `cell k-${kind} ${tick === page.tick ? "now" : ""} ${page.request === entry.row.id ? "lit" : ""}`
    td.querySelector(".letter").textContent = reached && cell ? cell.letter : ""
    td.classList.toggle("came", kind === "first" || (kind === "last" && entry.row.output_tokens === 1))
    td.setAttribute("aria-label", this.sentence(entry, tick))
  }

  /** What a cell says when pointed at. */
  sentence({ cell, row, run, ms, predicted }, tick) {
    const reached = tick <= page.tick
    const where = { run: run.title, tick, id: row?.id ?? "", ms: ms === null || ms === undefined ? "" : ms.toFixed(1) }
    if (!row) return reached && where.ms ? fill(this.words.measured, where) : fill(this.words.unmeasured, where)
    const why = reached && cell ? cell.why : this.words[reached ? "over" : "not_yet"]
    const flag = predicted !== null && this.tickOf(predicted, run) === tick
      ? ` ${fill(this.words.predicted, { time: predicted.toFixed(decimals(run.tick_seconds) + 1) })}` : ""
    return `${fill(this.words.cell, where)} ${why}${flag}`
  }

  explain(cell) {
    const entry = cell && this.cells[cell.dataset.tick]?.find((one) => one.td === cell)
    if (cell && !entry) return
    const hint = this.model.legend ? this.words.hint : ""
    const idle = this.runs.length ? hint : this.words.empty
    this.why.textContent = entry ? this.sentence(entry, Number(cell.dataset.tick)) : idle
    this.why.classList.toggle("empty", !entry)
    page.setRequest(entry?.row?.id ?? null)
  }

  moveTo(cell) {
    const tick = Number(cell.dataset.tick)
    if (tick < page.known) page.setTick(tick, { by: "timelines" })
  }

  /** Keep the current tick in sight when the timelines are wider than the page. */
  follow(tick) {
    const head = this.heads[tick]
    if (!head || this.scroller.scrollWidth <= this.scroller.clientWidth) return
    const name = this.table.querySelector("th.name")?.offsetWidth ?? 0
    const left = head.offsetLeft - name
    const right = head.offsetLeft + head.offsetWidth - this.scroller.clientWidth
    if (this.scroller.scrollLeft > left) this.scroller.scrollLeft = left
    else if (this.scroller.scrollLeft < right) this.scroller.scrollLeft = right
  }
}
