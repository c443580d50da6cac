// Moves the page through its six steps as the lesson moves, and carries what the learner asks for to the
// server. It draws nothing: the template holds the words, and connection.js looks after the connection.

const STEPS = ["read", "predict", "run", "observe", "verdict", "again"]

const all = (selector) => [...document.querySelectorAll(selector)]
const one = (selector) => document.querySelector(selector)

const readingKey = () => `ticklab:observed:${new URLSearchParams(location.search).get("ex") ?? ""}`
const connection = () => window.ticklabConnection

/** The player's own button: with the focus there, the arrow keys step at once. */
const stepButton = () => one("#run .controls [data-root-id] > *")?.shadowRoot?.querySelector("button.step")

export function render({ model, view, el }) {
  el.hidden = true
  const desk = (window.ticklabDesk ??= new Desk())
  desk.serve(model, view.model.document)
}

class Desk {
  constructor() {
    this.heard = 0
    this.bindControls()
    this.bindRuns()
    this.bindContents()
    this.bindProjector()
    this.bindHelp()
  }

  /** Take over `model`, the server's side of the page; after a reconnect it is a new one. */
  serve(model, bokehDocument) {
    this.model = model
    if (this.session && this.session !== model.session) {
      connection().reload()
      return
    }
    this.session = model.session
    if (this.document !== bokehDocument) {
      this.document = bokehDocument
      connection().follow(bokehDocument)
    }
    model.on("state", () => this.show())
    model.on("message", () => this.say())
    model.on("verdict", () => this.showVerdict())
    this.showVerdict()
    this.show({ first: true })
    this.say()
    document.documentElement.dataset.ready = "true"
    connection().arrived()
  }

  send(name, texts = {}) {
    if (!connection().lost) this.model.send_msg({ name, ...texts })
  }

  // ---- controls of the template -------------------------------------------------------------

  bindControls() {
    for (const button of all("[data-command]")) {
      button.addEventListener("click", () => this.send(button.dataset.command))
    }
    this.keepReading()
    one("#observe-form")?.addEventListener("submit", (event) => {
      event.preventDefault()
      this.send("observe", { text: one("#observed").value.slice(0, 100) })
    })
    one("#verdict-content")?.addEventListener("click", (event) => {
      const button = event.target.closest("[data-tick]")
      if (button) this.jump(Number(button.dataset.tick))
    })
  }

  /** Before anything has run there is nothing to look at from other sides. */
  bindRuns() {
    const sides = one("#sides")
    const heard = ({ detail }) => { sides.dataset.ran = String(detail.runs.some((run) => run.strip.frames.length > 0)) }
    if (sides) window.addEventListener("ticklab:runs", heard)
  }

  /** What is typed as the observation survives a reload: nobody else knows it before it is sent. */
  keepReading() {
    const field = one("#observed")
    if (!field || field.readOnly) return
    try { field.value ||= sessionStorage.getItem(readingKey()) ?? "" } catch { /* nothing was kept */ }
    field.addEventListener("input", () => { try { sessionStorage.setItem(readingKey(), field.value) } catch { /* not kept */ } })
  }

  /** The list of exercises closes like a menu. */
  bindContents() {
    const list = one("details.contents")
    if (!list) return
    document.addEventListener("pointerdown", (event) => { if (!list.contains(event.target)) list.open = false })
    list.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !list.open) return
      list.open = false
      list.querySelector("summary").focus()
    })
  }

  /** Large type, and nothing that this learner has answered: asked for by the address, kept by the browser. */
  bindProjector() {
    const asked = new URLSearchParams(location.search).get("projector")
    let kept = null
    try { kept = localStorage.getItem("ticklab:projector") } catch { /* as if nothing was kept */ }
    this.project((asked ?? kept) === "1")
    one("#projector")?.addEventListener("click", () => this.project(document.documentElement.dataset.projector !== "true"))
  }

  project(on) {
    document.documentElement.dataset.projector = String(on)
    one("#projector")?.setAttribute("aria-pressed", String(on))
    try { localStorage.setItem("ticklab:projector", on ? "1" : "0") } catch { /* for this page only */ }
    window.dispatchEvent(new CustomEvent("ticklab:projector", { detail: { on } }))
  }

  bindHelp() {
    const help = one("#help")
    if (!help) return
    const toggle = () => { if (help.open) help.close(); else help.showModal() }
    one("#help-open").addEventListener("click", toggle)
    window.addEventListener("ticklab:help", toggle)
    document.addEventListener("keydown", (event) => {
      if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.composedPath()[0].matches?.("input:not([type=radio], [type=range], [type=checkbox]), textarea, select")) return
      event.preventDefault()
      toggle()
    })
  }

  jump(tick) {
    window.dispatchEvent(new CustomEvent("ticklab:tick", { detail: { tick, by: "verdict", playing: false } }))
    one("#run").scrollIntoView({ block: "start" })
  }

  // ---- steps --------------------------------------------------------------------------------

  show({ first = false } = {}) {
    const state = this.model.state
    if (!first && state.reload) { // nothing more is done on this page
      location.reload()
      return
    }
    const before = document.documentElement.dataset.step
    if (state.locked && document.documentElement.dataset.locked !== "true") one("details.rules").open = false
    Object.assign(document.documentElement.dataset, { step: state.step, locked: String(state.locked) })
    this.showStrip(state.step)
    this.showProgress(state)
    const here = STEPS.indexOf(state.step)
    for (const section of all("[data-from]")) {
      section.hidden = here < STEPS.indexOf(section.dataset.from) || here > STEPS.indexOf(section.dataset.until)
    }
    if (state.observed) {
      one("#observed").readOnly = true
      try { sessionStorage.removeItem(readingKey()) } catch { /* it was not there */ }
      one("#observe-form button").hidden = true
    }
    if (!first && before !== state.step) this.arrive(state.step)
  }

  /** The mark of this exercise in the list, and how far the path is walked. */
  showProgress({ mark, sign, mark_said, path }) {
    const entry = one(".contents a[aria-current=page] .mark")
    if (entry) {
      entry.dataset.mark = mark
      entry.firstElementChild.textContent = sign
      entry.lastElementChild.textContent = mark_said
    }
    const count = one("#again .path")
    if (count) count.textContent = path
  }

  showStrip(step) {
    const here = STEPS.indexOf(step)
    all("#steps li").forEach((item, index) => {
      item.classList.toggle("past", index < here)
      if (index === here) item.setAttribute("aria-current", "step")
      else item.removeAttribute("aria-current")
    })
  }

  /** The keyboard and the eye follow to the section that has just opened. */
  arrive(step) {
    const heading = one(`#${step} h2`)
    if (!heading) return
    const target = step === "run" ? stepButton() ?? heading : heading
    target.focus({ preventScroll: true })
    heading.scrollIntoView({ block: "start" })
  }

  showVerdict() {
    const content = one("#verdict-content")
    if (!content) return
    content.innerHTML = this.model.verdict
    content.querySelectorAll(".yours table").forEach(label)
  }

  say() {
    const { text = "", kind = "", number = 0, link = null } = this.model.message
    if (number <= this.heard) return
    this.heard = number
    const status = one("#status")
    status.dataset.kind = kind
    status.textContent = ""
    requestAnimationFrame(() => {
      status.textContent = text
      if (link) status.append(" ", Object.assign(document.createElement("a"), { href: link.href, textContent: link.text }))
    })
    const field = one("#observed")
    const refused = kind === "observe"
    field?.setAttribute("aria-invalid", String(refused))
    if (one("#observe-problem")) one("#observe-problem").textContent = refused ? text : ""
  }
}

const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" }

/** On a phone the rows of this table stand as cards: they stay rows to a screen reader, and say what is what. */
function label(table) {
  const heads = [...table.querySelectorAll("thead th, thead td")].map((cell) => cell.textContent.trim())
  for (const element of [table, ...table.querySelectorAll("*")]) {
    if (element.tagName in ROLES) element.setAttribute("role", ROLES[element.tagName])
    if (element.tagName === "TH") element.setAttribute("role", element.scope === "row" ? "rowheader" : "columnheader")
  }
  for (const row of table.querySelectorAll("tbody tr")) {
    ;[...row.cells].forEach((cell, index) => { cell.dataset.label = heads[index] ?? "" })
  }
}
