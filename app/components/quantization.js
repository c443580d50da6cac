// fp32 | int8 | int4: a button first; the figures and their tables are made when they are asked for.

const { h, tableToggle, repaintFigures, style, dress } =
  await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const sheets = await style("panels.css")

const PATIENCE = 60000 // ms; the engine compares three models

export function render({ model, el }) {
  dress(el, sheets)
  const root = h("section", { class: "lab-quantization" })
  let timer = null
  let asked = false

  const ask = () => {
    if (asked) return
    asked = true
    model.send_msg({ type: "show" })
    timer = setTimeout(() => { asked = false; paint() }, PATIENCE)
    paint()
  }

  const paint = () => {
    const words = model.texts
    root.setAttribute("aria-label", words.title)
    const held = root.contains(root.getRootNode().activeElement)
    const heading = h("h3", { tabindex: -1, text: words.title })
    root.replaceChildren(heading, h("p", { class: "partnote", text: words.note }))
    if (model.table && model.figures && model.figure_tables.length) root.append(...result())
    else if (asked) root.append(h("div", { class: "waiting", role: "status" }, h("p", { text: words.wait }), h("progress", { "aria-label": words.working })))
    else root.append(h("p", {}, h("button", { type: "button", disabled: !model.enabled, text: words.show, on: { click: ask } })),
      h("p", { class: "problem", role: "alert", text: model.problem }))
    // The button that was pressed is gone: the keyboard stays here.
    if (held) heading.focus({ preventScroll: true })
  }

  const result = () => {
    const words = model.texts
    const titles = [words.layer_title, words.token_title]
    const holders = titles.map(() => h("div", { class: "holder" }))
    const figures = titles.map((title, index) => h("figure", {}, h("figcaption", { text: title }),
      h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, holders[index]),
      tableToggle(words.as_table, model.figure_tables[index] ?? "")))
    const tables = h("div", { class: "tables" })
    tables.innerHTML = model.table
    const sign = (name, text) => h("li", {}, h("span", { class: `sign ${name}`, "aria-hidden": "true" }), text)
    const legend = h("ul", { class: "legend" }, sign("int8", "int8"), sign("int4", "int4"), sign("cross", words.changed_mark))
    // Bokeh draws into what is on the page: not before the holders are.
    queueMicrotask(() => JSON.parse(model.figures).forEach((item, index) => window.Bokeh.embed.embed_item(item, holders[index])))
    return [legend, h("div", { class: "figures-grid" }, figures), tables]
  }

  // Several params change at once: one painting is enough.
  let due = false
  const soon = () => {
    if (due) return
    due = true
    queueMicrotask(() => { due = false; paint() })
  }

  model.on(["figures", "figure_tables", "table", "texts", "enabled"], soon)
  model.on("problem", () => { clearTimeout(timer); asked = false; paint() })
  model.on("remove", () => clearTimeout(timer))
  repaintFigures()
  paint()
  return root
}
