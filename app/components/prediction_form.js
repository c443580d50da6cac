// The prediction: numbers in a grid, questions of their own, confidence, why, and one final lock.
// What is typed is kept in the browser too, so that a lost connection loses nothing, nor a tab that is closed.

const shared = await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const { h, fill, chip, lights, listen, showRequest, style, dress } = shared
const sheets = await style("form.css")

const CONFIDENCES = ["1", "2", "3", "4"]
const PAUSE = 400 // ms after the last key before the draft is sent

// A cell of the grid is about one request in one run; everything else is a question of its own.
const inGrid = (field) => Boolean(field.request && field.policy)
const column = (field) => field.run ?? field.policy

export function render({ model, el }) {
  dress(el, sheets)
  return new Form(model).root
}

class Form {
  constructor(model) {
    this.model = model
    this.root = h("form", { class: "lab-form", novalidate: true, autocomplete: "off", on: {
      submit: (event) => { event.preventDefault(); this.lock() },
    } })
    this.values = this.begun()
    this.sent = false
    this.open = this.optionalTyped()
    model.on(["fields", "parts", "columns", "texts"], () => this.build())
    model.on("locked", () => { if (!model.locked) this.reopen(); this.build() })
    model.on("held", () => this.hold())
    model.on("final", () => { if (this.final) this.final.textContent = this.lasting })
    model.on("draft", () => this.received())
    model.on("problems", () => this.showProblems())
    model.on("msg:custom", (message) => { if (message?.type === "refused") this.refused(message.note) })
    listen(model, {
      request: ({ id }) => showRequest(this.root, id),
      connection: ({ open }) => { if (open) this.repeat() },
    })
    model.on("remove", () => { clearTimeout(this.timer); this.flush() })
    this.build()
  }

  get words() { return this.model.texts }

  /** What a lock means now. */
  get lasting() { return this.model.final || this.words.final }
  get locked() { return this.model.locked }

  // ---- the copy in the browser ------------------------------------------------------------------

  get storageKey() { return this.model.storage_id && `ticklab:draft:${this.model.storage_id}` }

  stored() {
    if (!this.storageKey || this.model.locked) return null
    try {
      return JSON.parse(localStorage.getItem(this.storageKey))
    } catch {
      return null
    }
  }

  /** The browser's own copy is never older than the server's: what was emptied in it stays empty. */
  begun() { return { ...(this.stored() ?? this.model.draft) } }

  store() {
    if (!this.storageKey) return
    try {
      if (this.locked) localStorage.removeItem(this.storageKey)
      else localStorage.setItem(this.storageKey, JSON.stringify(this.values))
    } catch { /* a browser that keeps nothing still has the server's draft */ }
  }

  // ---- values ---------------------------------------------------------------------------------

  typed(key, value) {
    if (value === "") delete this.values[key]
    else this.values[key] = value
    this.store()
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.flush(), PAUSE)
  }

  flush() {
    clearTimeout(this.timer)
    if (this.locked || JSON.stringify(this.model.draft) === JSON.stringify(this.values)) return
    this.model.draft = { ...this.values }
  }

  /** What was typed while the server was away never reached it: say it again. */
  repeat() {
    if (!this.locked) this.model.send_msg({ type: "draft", draft: { ...this.values } })
  }

  /** The server's draft changed: take it over, except where the learner is typing. */
  received() {
    if (JSON.stringify(this.model.draft) === JSON.stringify(this.values)) return
    const focused = this.root.getRootNode().activeElement
    if (!this.locked && focused && this.root.contains(focused)) return
    this.values = { ...this.model.draft }
    this.store()
    this.build()
  }

  // ---- locking --------------------------------------------------------------------------------

  lock() {
    if (this.locked || this.sent || this.model.held) return
    this.sent = true
    this.button.disabled = true
    this.button.textContent = this.words.locking
    clearTimeout(this.timer)
    this.model.send_msg({ type: "lock", draft: { ...this.values } })
    // A server that does not answer leaves the form usable; locking twice is harmless there.
    this.patience = setTimeout(() => { this.unsend(); this.say(this.words.no_answer) }, 10000)
  }

  /** Another vote: what was locked is where it begins. */
  reopen() {
    this.unsend()
    this.values = this.begun()
    this.open = this.optionalTyped()
  }

  /** Typing goes on while nothing can be locked. */
  hold() {
    if (this.locked || this.sent) return
    this.button.disabled = Boolean(this.model.held)
    this.say(this.model.held)
  }

  unsend() {
    clearTimeout(this.patience)
    this.sent = false
    if (this.button && !this.locked) {
      this.button.textContent = this.words.lock
      this.hold()
    }
  }

  refused(note = "") {
    this.unsend()
    this.showProblems()
    this.say(note)
    if (Object.keys(this.model.problems).length) this.summary.focus()
  }

  say(sentence) {
    this.note.textContent = sentence
  }

  // ---- building -------------------------------------------------------------------------------

  build() {
    const words = this.words
    this.inputs = new Map()
    this.store()
    if (this.locked) {
      clearTimeout(this.patience)
      clearTimeout(this.timer)
      this.values = { ...this.model.draft }
    }
    this.root.setAttribute("aria-label", words.title)
    this.root.classList.toggle("locked", this.locked)
    this.summary = h("div", { class: "summary", tabindex: -1, role: "group", hidden: true })
    this.note = h("p", { class: "note", role: "status" })
    const asked = this.model.fields.filter(inGrid).map((field) => field.request)
    this.requests = [...new Set([...this.model.requests, ...asked])] // in the order of the trace, which gives the colours
    const parts = [...new Set(this.model.fields.map((field) => field.part))]
    if (this.locked) {
      this.root.replaceChildren(h("p", { class: "lockline", text: words.locked }), ...parts.map((part) => this.answers(part)), this.person())
      return
    }
    this.root.replaceChildren(this.intro(), this.summary, h("div", { class: "parts" }, parts.map((part) => this.part(part))),
      this.confidence(), this.why(), this.lockRow())
    this.showOptional()
    this.showProblems()
    this.hold()
  }

  // ---- locked: what was answered, to read --------------------------------------------------------

  answers(part) {
    const given = this.model.fields.filter((field) => field.part === part && this.values[field.key])
    const about = this.model.parts.find((one) => one.name === part)
    const rows = given.map((field) => this.answer(this.named(field), this.shown(field), field.request))
    return h("table", { class: "answers" }, h("caption", { text: about?.title ?? "" }),
      h("tbody", {}, rows.length ? rows : h("tr", {}, h("td", { text: this.words.nothing }))))
  }

  answer(question, value, request = null, kind = null) {
    const row = h("tr", { class: `r${Math.max(0, this.requests.indexOf(request)) % 8}` }, h("th", { scope: "row" }, question), h("td", { class: kind, text: value }))
    return request ? lights(row, request) : row
  }

  named(field) {
    if (!inGrid(field)) return [field.label || this.metricName(field.metric)]
    return [chip(field.request, this.requests.indexOf(field.request)), ` ${this.columnName(column(field))} · ${this.metricName(field.metric)}`]
  }

  shown(field) {
    const value = this.values[field.key]
    const choice = field.choices?.find((one) => one.value === value)
    return choice ? choice.label : `${value} ${field.unit ?? ""}`
  }

  person() {
    const { confidence, why } = this.values
    const sure = confidence ? this.words[`confidence_${confidence}`] : "—"
    return h("table", { class: "answers" }, h("caption", { class: "hidden-text", text: this.words.confidence }),
      h("tbody", {}, this.answer([this.words.confidence], sure), this.answer([this.words.why_short], why ?? "—", null, "long")))
  }

  intro() {
    const count = this.model.fields.filter((field) => !field.required).length
    const toggle = h("button", { type: "button", class: "quiet", "aria-expanded": String(this.open), on: {
      click: () => { this.open = !this.open; this.showOptional() },
    } })
    this.toggle = count ? toggle : null
    this.optionalCount = count
    return h("div", { class: "intro" }, h("p", {}, h("span", { class: "star", "aria-hidden": "true", text: "＊" }), this.words.intro), this.toggle)
  }

  showOptional() {
    const visible = this.open
    this.root.classList.toggle("all", visible)
    this.root.querySelectorAll(".optional, .all-optional").forEach((cell) => { cell.hidden = !visible })
    this.root.querySelectorAll(".dot").forEach((dot) => { dot.hidden = visible })
    if (!this.toggle) return
    this.toggle.setAttribute("aria-expanded", String(this.open))
    this.toggle.textContent = fill(this.open ? this.words.fewer : this.words.more, { count: this.optionalCount })
  }

  optionalTyped() {
    return this.model.fields.some((field) => !field.required && this.values[field.key])
  }

  part(part) {
    const fields = this.model.fields.filter((field) => field.part === part)
    const about = this.model.parts.find((one) => one.name === part)
    const cells = fields.filter(inGrid)
    const columns = [...new Set(cells.map(column))]
    const grid = columns.map((name) => this.table(name, cells.filter((field) => column(field) === name)))
    const questions = fields.filter((field) => !cells.includes(field)).map((field) => this.question(field))
    return h("section", { class: "part" },
      about?.title ? h("h3", { text: about.title }) : null,
      about?.note ? h("p", { class: "partnote", text: about.note }) : null,
      grid.length ? h("div", { class: "policies" }, grid) : null,
      questions)
  }

  columnName(name) { return this.model.columns[name] ?? this.words[`run.${name}.short`] ?? name }

  metricName(metric) { return this.words[`short.${metric}`] ?? metric.toUpperCase() }

  /** The head of a column; a unit that is the name says nothing. */
  head(metric, unit) {
    const name = this.metricName(metric)
    return h("th", { scope: "col" }, name, " ", name === unit ? null : h("small", { text: unit }))
  }

  /** Whether anything about `request` must be answered in this part, so that the columns line up. */
  asked(part, request) {
    return this.model.fields.some((field) => inGrid(field) && field.part === part && field.request === request && field.required)
  }

  table(name, fields) {
    const metrics = [...new Set(fields.map((field) => field.metric))]
    const requests = [...new Set(fields.map((field) => field.request))]
    const head = h("tr", {}, h("td"), metrics.map((metric) => this.head(metric, fields.find((field) => field.metric === metric).unit)))
    const rows = requests.map((request) => {
      const row = metrics.map((metric) => fields.find((field) => field.metric === metric && field.request === request))
      const optional = !this.asked(fields[0].part, request)
      return lights(h("tr", { class: `r${this.requests.indexOf(request) % 8} ${optional ? "all-optional" : ""}` },
        h("th", { scope: "row" }, chip(request, this.requests.indexOf(request))),
        row.map((field) => h("td", field ? { data: { label: this.metricName(field.metric) } } : {}, field ? this.cell(field) : null))), request)
    })
    return h("div", { class: fields.some((field) => field.required) ? "policy" : "policy all-optional" },
      h("table", {}, h("caption", { text: this.columnName(name) }), h("thead", {}, head), h("tbody", {}, rows)),
      h("ul", { class: "problems", data: { column: `${fields[0].part}-${name}` } }))
  }

  cell(field) {
    const label = fill(this.words.cell, {
      request: field.request, column: this.columnName(column(field)), metric: this.metricName(field.metric), unit: field.unit,
    })
    const box = h("span", { class: field.required ? "box required" : "box optional" }, this.input(field, label),
      field.required ? h("span", { class: "star", "aria-hidden": "true", text: "＊" }) : null)
    return field.required ? box : [box, h("span", { class: "dot", "aria-hidden": "true", text: "·" })]
  }

  input(field, label) {
    const input = h("input", {
      type: "text", inputmode: "decimal", id: `f-${field.key}`, name: field.key, autocomplete: "off", spellcheck: "false",
      "aria-label": label, "aria-required": field.required ? "true" : null,
      on: { input: () => this.typed(field.key, input.value.trim()) },
    })
    input.value = this.values[field.key] ?? ""
    this.inputs.set(field.key, input)
    return input
  }

  question(field) {
    const frame = { class: field.required ? "question required" : "question optional" }
    const name = h("span", {}, field.label || this.metricName(field.metric),
      field.required ? h("span", { class: "star", "aria-hidden": "true", text: "＊" }) : null)
    const problem = h("p", { class: "problem", id: `p-${field.key}` })
    if (field.choices) return this.radios(field.key, name, field.choices, frame, field.required, problem)
    const input = this.input(field, "")
    input.removeAttribute("aria-label")
    return h("div", frame, h("label", { for: input.id }, name),
      h("span", { class: "with-unit" }, input, h("span", { class: "unit", text: field.unit })), problem)
  }

  radios(key, name, choices, frame, required, problem) {
    const group = h("fieldset", { ...frame, id: `f-${key}`, "aria-required": null }, h("legend", {}, name),
      h("div", { class: "choices" }, choices.map(({ value, label }) => {
        const input = h("input", { type: "radio", name: key, value, required, on: {
          change: () => this.typed(key, value),
        } })
        input.checked = this.values[key] === value
        return h("label", { class: "choice" }, input, h("span", { text: label }))
      })), problem)
    this.inputs.set(key, group)
    return group
  }

  confidence() {
    const choices = CONFIDENCES.map((value) => ({ value, label: `${value} · ${this.words[`confidence_${value}`]}` }))
    const name = h("span", { text: this.words.confidence })
    return this.radios("confidence", name, choices, { class: "question" }, false, h("p", { class: "problem", id: "p-confidence" }))
  }

  why() {
    const input = h("input", { type: "text", id: "f-why", class: "wide", maxlength: 300, on: {
      input: () => this.typed("why", input.value),
    } })
    input.value = this.values.why ?? ""
    this.inputs.set("why", input)
    return h("div", { class: "question" }, h("label", { for: "f-why", text: this.words.why }), input,
      h("p", { class: "problem", id: "p-why" }))
  }

  lockRow() {
    this.button = h("button", { type: "submit", class: "primary", text: this.words.lock, "aria-describedby": "lock-note" })
    this.final = h("p", { id: "lock-note", text: this.lasting })
    return h("div", { class: "lockrow" }, this.button, this.final, this.note)
  }

  // ---- problems -------------------------------------------------------------------------------

  showProblems() {
    if (this.locked) return
    const { problems } = this.model
    const keys = Object.keys(problems).filter((key) => this.inputs.has(key))
    this.root.querySelectorAll("ul.problems").forEach((list) => list.replaceChildren())
    for (const [key, input] of this.inputs) this.mark(key, input, problems[key])
    this.summary.hidden = keys.length === 0
    const links = keys.map((key) => h("li", {}, h("button", { type: "button", class: "link", text: this.line(key, problems[key]), on: {
      click: () => this.focus(key),
    } })))
    this.summary.replaceChildren(h("h3", { text: fill(this.words.problems, { count: keys.length }) }), h("ul", {}, links))
    this.summary.setAttribute("aria-label", fill(this.words.problems, { count: keys.length }))
  }

  line(key, sentence) {
    const field = this.model.fields.find((one) => one.key === key)
    if (!field) return sentence
    if (!inGrid(field)) return this.labelled(field.label || this.metricName(field.metric), sentence)
    return this.labelled(`${field.request} · ${this.columnName(column(field))} · ${this.metricName(field.metric)}`, sentence)
  }

  labelled(name, sentence) { return fill(this.words.line, { name, sentence }) }

  mark(key, input, sentence) {
    const field = this.model.fields.find((one) => one.key === key)
    if (sentence) input.setAttribute("aria-invalid", "true")
    else input.removeAttribute("aria-invalid")
    let place = this.root.querySelector(`#p-${CSS.escape(key)}`)
    const list = field && inGrid(field) && this.root.querySelector(`ul.problems[data-column="${CSS.escape(`${field.part}-${column(field)}`)}"]`)
    if (list && sentence) {
      place = h("li", { id: `p-${key}`, text: this.labelled(`${field.request} ${this.metricName(field.metric)}`, sentence) })
      list.append(place)
    } else if (place) {
      place.textContent = sentence ?? ""
    }
    if (sentence && place) input.setAttribute("aria-describedby", place.id)
    else input.removeAttribute("aria-describedby")
  }

  focus(key) {
    const input = this.inputs.get(key)
    if (input.closest(".optional, .all-optional") && !this.open) { this.open = true; this.showOptional() }
    const target = input.matches("fieldset") ? input.querySelector("input") : input
    target.focus()
  }
}
