// The KV pool of each run: pages, or runs of adjacent slots, drawn to the same scale so that they compare.

const { h, fill, page, listen, lights, chosen, showRequest, style, dress, serverTable } =
  await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const { Roving } = await import(`../../../app.components.base/LabComponent/_js/roving.js${new URL(import.meta.url).search}`)
const sheets = await style("panels.css")

const WIDE = 32 // slots in a line
const NARROW = 16
const ENOUGH = 520 // px for a wide line

export function render({ model, el }) {
  dress(el, sheets)
  const maps = new PageMaps(model)
  const watcher = new ResizeObserver(() => maps.resized())
  watcher.observe(maps.root)
  model.on("remove", () => watcher.disconnect())
  model.on(["names", "texts"], () => maps.build())
  listen(model, { runs: () => maps.build(), tick: () => maps.paint(), request: ({ id }) => showRequest(maps.root, id) })
  maps.build()
  return maps.root
}

class PageMaps {
  constructor(model) {
    this.model = model
    this.root = h("section", { class: "lab-pages" })
    this.why = h("p", { class: "why" })
    this.toggle = serverTable(model)
    this.line = WIDE
  }

  get words() { return this.model.texts }

  resized() {
    const width = this.maps[0]?.root.clientWidth ?? this.root.clientWidth
    const line = width < ENOUGH ? NARROW : WIDE
    if (line === this.line) return
    this.line = line
    this.paint()
  }

  build() {
    this.root.setAttribute("aria-label", this.words.title)
    this.maps = chosen(this.model.names).map((run) => this.map(run))
    this.root.hidden = this.maps.length === 0
    const several = new Set(this.maps.map(({ run }) => run.pages.layout)).size > 1
    this.root.replaceChildren(h("h3", { text: several ? this.words.title : this.words.title_plain }), this.legend(), this.why, h("div", { class: "maps" }, this.maps.map(({ root }) => root)), this.toggle)
    this.explain(null)
    this.resized()
    this.paint()
  }

  legend() {
    const kept = this.maps.some(({ run }) => run.pages.frames.some((frame) => frame.cached > 0))
    const cached = kept ? ["cached"] : []
    const sample = (kind) => h("li", {}, h("span", { class: `slot-sample r0 ${kind}`, "aria-hidden": "true" }), this.words[`slot_${kind}`])
    return h("ul", { class: "legend" }, ["written", "reserved", ...cached, "free"].map(sample))
  }

  map(run) {
    const figures = h("dl", { class: "figures" })
    const pool = h("ul", { class: "pool" })
    const events = h("ul", { class: "events" })
    const cursor = new Roving(pool, { enter: (piece) => this.explain(piece), leave: () => this.explain(null) })
    const root = h("div", { class: "map" }, h("h4", { text: run.pages.title }), figures, pool, events)
    return { run, root, figures, pool, events, cursor }
  }

  paint() {
    for (const map of this.maps) {
      const { pages } = map.run
      const frame = this.frame(map.run)
      map.figures.replaceChildren(...this.figures(pages, frame))
      map.cursor.renew(this.pieces(pages, frame))
      map.pool.style.setProperty("--line", this.line)
      map.pool.setAttribute("aria-label", fill(this.words.pool, { title: pages.title }))
      map.events.replaceChildren(...(page.tick === frame?.tick ? frame.events : []).map((text) => h("li", { text })))
    }
    showRequest(this.root, page.request)
  }

  /** The frame of the page's tick; before the first and after the last the pool is empty. */
  frame(run) {
    const { frames } = run.pages
    if (frames[page.tick]) return frames[page.tick]
    const shape = frames[0]
    const why = page.tick < 0 ? this.words.before : this.words.over
    if (!shape) return null
    const slots = shape.pages.reduce((sum, one) => sum + one.slots, 0)
    const empty = run.pages.layout === "paged" ? shape.pages.map((one) => ({ owner: null, written: 0, slots: one.slots, why })) : [{ owner: null, written: 0, slots, why }]
    return { tick: null, pages: empty, reserved: 0, held: 0, written: 0, free: run.pages.layout === "paged" ? empty.length : slots, events: [] }
  }

  figures(pages, frame) {
    if (!frame) return []
    const taken = frame.pages.filter((one) => one.owner).reduce((sum, one) => sum + one.slots, 0)
    const values = { taken, reserved: frame.reserved, held: frame.held, written: frame.written, wasted: taken - frame.written }
    return Object.entries(values).map(([name, value]) => h("div", { class: name }, h("dt", { text: this.words[`figure_${name}`] }), h("dd", { text: value })))
  }

  /** Boxes as wide as their slots; one that does not fit on its line goes on in the next. */
  pieces(pages, frame) {
    if (!frame) return []
    let column = 0
    let slot = 0
    return frame.pages.flatMap((one, number) => {
      const parts = []
      for (let start = 0; start < one.slots;) {
        const count = Math.min(one.slots - start, this.line - column)
        parts.push(this.piece(pages, one, { number, slot }, start, count))
        column = (column + count) % this.line
        start += count
      }
      slot += one.slots
      return parts
    })
  }

  /** Where it is and why it is so: the sentence to point at, to hear and to focus. */
  sentence(pages, one, { number, slot }) {
    if (pages.layout === "paged") return fill(this.words.page_said, { page: number, why: one.why })
    return fill(this.words.run_said, { first: slot, last: slot + one.slots - 1, why: one.why })
  }

  explain(piece) {
    this.why.textContent = piece?.title ?? this.words.hint
    this.why.classList.toggle("empty", !piece)
    page.setRequest(piece?.dataset.request ?? null)
  }

  piece(pages, one, place, start, count) {
    const written = Math.max(0, Math.min(count, one.written - start))
    const first = start === 0
    const text = this.sentence(pages, one, place)
    const hue = one.cached ? "nobody cached" : one.owner ? `r${(pages.colours[one.owner] ?? 0) % 8}` : "nobody"
    const item = h("li", { class: `piece ${hue}`, title: text },
      h("span", { class: "slots", "aria-hidden": "true" }, h("span", { class: "written" })),
      h("span", { class: "owner", "aria-hidden": "true", text: ownerText(one.owner, first, count) }),
      first ? h("span", { class: "hidden-text", text }) : null)
    item.style.setProperty("--count", count)
    item.style.setProperty("--share", `${(written / count) * 100}%`)
    if (!first) item.setAttribute("aria-hidden", "true")
    return one.owner ? lights(item, one.owner) : item
  }
}

/** The owner as a box has room for it: in a single slot only its number. */
function ownerText(owner, first, count) {
  if (!owner) return ""
  if (count === 1) return owner.replace(/^\D+0*(?=\d)/, "")
  return first ? owner : `… ${owner}`
}
