// The KV pool of each run: pages, or runs of adjacent slots, drawn to the same scale so that they compare.

const { h, fill, page, listen, lights, chosen, showRequest, style, dress, tableToggle } =
  await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
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
  model.on(["names", "texts", "tables"], () => maps.build())
  listen(model, { runs: () => maps.build(), tick: () => maps.paint(), request: ({ id }) => showRequest(maps.root, id) })
  maps.build()
  return maps.root
}

class PageMaps {
  constructor(model) {
    this.model = model
    this.root = h("section", { class: "lab-pages" })
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
    this.root.replaceChildren(h("h3", { text: several ? this.words.title : this.words.title_plain }), this.legend(), h("div", { class: "maps" }, this.maps.map(({ root }) => root)))
    this.resized()
    this.paint()
  }

  legend() {
    const sample = (kind) => h("li", {}, h("span", { class: `slot-sample r0 ${kind}`, "aria-hidden": "true" }), this.words[`slot_${kind}`])
    return h("ul", { class: "legend" }, ["written", "reserved", "free"].map(sample))
  }

  map(run) {
    const figures = h("dl", { class: "figures" })
    const pool = h("ul", { class: "pool" })
    const events = h("ul", { class: "events" })
    const toggle = tableToggle(this.words.as_table, "")
    toggle.addEventListener("toggle", () => this.fillTable(run, toggle))
    const root = h("div", { class: "map" }, h("h4", { text: run.pages.title }), figures, pool, events, toggle)
    return { run, root, figures, pool, events, toggle }
  }

  paint() {
    for (const map of this.maps) {
      const { pages } = map.run
      const frame = this.frame(map.run)
      map.figures.replaceChildren(...this.figures(pages, frame))
      map.pool.replaceChildren(...this.pieces(pages, frame))
      map.pool.style.setProperty("--line", this.line)
      map.pool.setAttribute("aria-label", fill(this.words.pool, { title: pages.title }))
      map.events.replaceChildren(...(page.tick === frame?.tick ? frame.events : []).map((text) => h("li", { text })))
      this.fillTable(map.run, map.toggle)
    }
    showRequest(this.root, page.request)
  }

  /** The frame of the page's tick; before the first and after the last the pool is empty. */
  frame(run) {
    const { frames } = run.pages
    if (frames[page.tick]) return frames[page.tick]
    const shape = frames[0]
    if (!shape) return null
    const slots = shape.pages.reduce((sum, one) => sum + one.slots, 0)
    const empty = run.pages.layout === "paged" ? shape.pages.map((one) => ({ owner: null, written: 0, slots: one.slots })) : [{ owner: null, written: 0, slots }]
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
    return frame.pages.flatMap((one, number) => {
      const parts = []
      for (let start = 0; start < one.slots;) {
        const count = Math.min(one.slots - start, this.line - column)
        parts.push(this.piece(pages, one, number, start, count))
        column = (column + count) % this.line
        start += count
      }
      return parts
    })
  }

  piece(pages, one, number, start, count) {
    const written = Math.max(0, Math.min(count, one.written - start))
    const first = start === 0
    const text = one.owner
      ? fill(this.words[pages.layout === "paged" ? "page_owned" : "run_owned"], { page: number, id: one.owner, written: one.written, slots: one.slots })
      : fill(this.words[pages.layout === "paged" ? "page_free" : "run_free"], { page: number, slots: one.slots })
    const hue = one.owner ? `r${(pages.colours[one.owner] ?? 0) % 8}` : "nobody"
    const item = h("li", { class: `piece ${hue}`, title: text },
      h("span", { class: "slots", "aria-hidden": "true" }, h("span", { class: "written" })),
      h("span", { class: "owner", "aria-hidden": "true", text: ownerText(one.owner, first, count) }),
      first ? h("span", { class: "hidden-text", text }) : null)
    item.style.setProperty("--count", count)
    item.style.setProperty("--share", `${(written / count) * 100}%`)
    if (!first) item.setAttribute("aria-hidden", "true")
    return one.owner ? lights(item, one.owner) : item
  }

  fillTable(run, toggle) {
    if (!toggle.open) return
    const body = toggle.querySelector("div")
    const html = this.model.tables[run.timeline.name]
    if (html) {
      body.innerHTML = html
      return
    }
    const frame = this.frame(run)
    const head = ["column_page", "column_owner", "column_written", "column_slots"].map((name) => h("th", { scope: "col", text: this.words[name] }))
    const rows = (frame?.pages ?? []).map((one, number) => h("tr", {}, h("th", { scope: "row", text: number }),
      h("td", { text: one.owner ?? "—" }), h("td", { text: one.owner ? one.written : "—" }), h("td", { text: one.slots })))
    body.replaceChildren(h("table", {}, h("caption", { text: fill(this.words.pool, { title: run.pages.title }) }),
      h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)))
  }
}

/** The owner as a box has room for it: in a single slot only its number. */
function ownerText(owner, first, count) {
  if (!owner) return ""
  if (count === 1) return owner.replace(/^\D+0*(?=\d)/, "")
  return first ? owner : `… ${owner}`
}
