// The form of free play. It holds what is typed and sends it when something is asked for; the server
// answers with sentences, tables and files. Text of a visitor is only ever set as text.

const { picture } = await import(`../_js/picture.js${new URL(import.meta.url).search}`)

const PIECE = 150000 // signs in one message
const KEPT = "ticklab:play" // what this browser ran last
const PAUSE = 400 // ms after the last key before what is typed is kept for this tab

const one = (selector) => document.querySelector(selector)
const all = (selector) => [...document.querySelectorAll(selector)]
const fill = (text, values) => (text ?? "").replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole))

export function render({ model, el }) {
  el.hidden = true
  const desk = (window.ticklabPlay ??= new PlayDesk())
  desk.serve(model)
}

class PlayDesk {
  constructor() {
    this.name = ""
    this.kept = null
    this.heard = { problem: 0, link: 0, file: 0 }
    this.bind()
  }

  /** Take over `model`; after a reconnect it is a new one, and what is typed stays. */
  serve(model) {
    const first = !this.model
    this.model = model
    const watched = { status: "showStatus", problem: "showProblem", seen: "showSeen", html: "showResult", details: "showResult", switches: "showSwitches", short_link: "showLink", file: "saveFile" }
    for (const [name, call] of Object.entries(watched)) model.on(name, () => this[call]())
    if (first) this.show(this.first())
    this.showStatus()
  }

  get words() { return this.model.texts }

  // ---- controls -----------------------------------------------------------------------------------

  bind() {
    one("#play-form").addEventListener("submit", (event) => { event.preventDefault(); this.run() })
    const press = (id, call) => one(id).addEventListener("click", call)
    press("#play-stop", () => this.model.send_msg({ type: "stop" }))
    press("#load-preset", () => this.loadPreset())
    press("#look", () => this.ask("look"))
    press("#reset", () => this.showSettings({}))
    press("#keep", () => this.keep(this.setup()))
    press("#drop-kept", () => this.keep(null))
    press("#share", () => this.ask("share"))
    press("#copy", () => this.copy())
    press("#png", () => this.savePicture())
    all("[data-file]").forEach((button) => button.addEventListener("click", () => this.model.send_msg({ type: "wish", wish: button.dataset.file })))
    one("#trace-file").addEventListener("change", (event) => this.readFile(event.target))
    one("#trace").addEventListener("input", () => this.call(""))
    all("[name=mode]").forEach((radio) => radio.addEventListener("change", () => this.showMode()))
    for (const name of ["input", "change", "click"]) one("#play-form").addEventListener(name, () => this.soonKept())
    window.addEventListener("pagehide", () => this.keepTyped())
  }

  // ---- the copy of this tab -----------------------------------------------------------------------

  /** Each short link has its own. */
  get storageKey() { return `${KEPT}:${new URLSearchParams(location.search).get("play") ?? ""}` }

  soonKept() {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.keepTyped(), PAUSE)
  }

  keepTyped() {
    if (!this.model) return
    try { sessionStorage.setItem(this.storageKey, JSON.stringify(this.sheet())) } catch { /* too long: not kept */ }
  }

  readCopy(storage, key) {
    try {
      const kept = JSON.parse(storage.getItem(key))
      if (typeof kept?.setup?.trace === "string") return { ...this.model.sheet, ...kept }
    } catch { /* nothing readable was kept */ }
    return null
  }

  loadPreset() {
    const { trace, name, settings } = this.model.presets[Number(one("#preset").value)]
    one("#trace").value = trace
    this.call(name)
    this.showSettings(settings)
    this.ask("look")
  }

  /** What the trace is called: the file it came from, until it is changed. */
  call(name) {
    this.name = name.slice(0, 200)
    one("#trace-name").textContent = this.name
  }

  async readFile(input) {
    const [file] = input.files
    if (!file) return
    const problem = await this.take(file)
    input.value = ""
    this.tell("trace", problem)
    if (!problem) this.ask("look")
  }

  /** Put the text of `file` into the form; a sentence when that cannot be. */
  async take(file) {
    const limit = Number(this.words.limit_bytes)
    if (file.size > limit) return fill(this.words.file_too_large, { name: file.name, size: file.size, limit })
    const bytes = new Uint8Array(await file.arrayBuffer())
    const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8"
    try {
      one("#trace").value = new TextDecoder(wide, { fatal: true }).decode(bytes)
    } catch {
      return fill(this.words.file_not_text, { name: file.name })
    }
    this.call(file.name)
    return ""
  }

  // ---- the sheet ----------------------------------------------------------------------------------

  setup() {
    const settings = {}
    for (const field of all("[data-setting]")) {
      const text = field.value.trim()
      if (text && text !== this.model.defaults[field.dataset.setting]) settings[field.dataset.setting] = text.slice(0, 40)
    }
    return { trace: one("#trace").value, name: this.name, title: one("#run-title").value.trim(), settings }
  }

  sheet() {
    const mode = one("[name=mode]:checked").value
    return {
      setup: this.setup(), mode, kept: mode === "compare" ? this.kept : null, engine: one("#engine").value,
      horizon: one("#horizon").value.trim(), slo_ttft: one("#slo_ttft").value.trim(), slo_tpot: one("#slo_tpot").value.trim(),
    }
  }

  /** What the form shows at first: what this tab had, a shared sheet, what this browser ran, or the lab's own trace. */
  first() {
    const typed = this.readCopy(window.sessionStorage, this.storageKey)
    if (typed || this.model.shared) return typed ?? this.model.sheet
    return this.readCopy(window.localStorage, KEPT) ?? this.model.sheet
  }

  show({ setup, kept, mode, engine, horizon, slo_ttft, slo_tpot }) {
    one("#trace").value = setup.trace
    one("#run-title").value = setup.title ?? ""
    this.call(setup.name ?? "")
    this.showSettings(setup.settings ?? {})
    Object.entries({ engine, horizon, slo_ttft, slo_tpot }).forEach(([id, text]) => { one(`#${id}`).value = text })
    one(`[name=mode][value=${mode === "compare" ? "compare" : "policies"}]`).checked = true
    this.keep(kept)
    this.showMode()
  }

  showSettings(settings) {
    for (const field of all("[data-setting]")) {
      const name = field.dataset.setting
      field.value = settings[name] ?? (field.tagName === "SELECT" ? this.model.defaults[name] : "")
    }
  }

  showMode() {
    const compare = one("[name=mode]:checked").value === "compare"
    one(".only-compare").hidden = !compare
    one("[data-name=policy]").hidden = !compare
  }

  keep(setup) {
    this.kept = setup
    one("#drop-kept").hidden = !setup
    one("#kept").textContent = setup ? fill(this.words.kept, { title: setup.title || "A", settings: settingsText(setup, this.words) }) : this.words.none_kept
  }

  // ---- asking ---------------------------------------------------------------------------------------

  run() {
    this.ran = this.sheet()
    this.ask("run", this.ran)
    try { localStorage.setItem(KEPT, JSON.stringify(this.ran)) } catch { /* kept for this page only */ }
  }

  ask(wish, sheet = this.sheet()) {
    ;["trace", "share", ""].forEach((field) => this.tell(field, ""))
    const text = JSON.stringify(sheet)
    for (let start = 0, place = 0; start < text.length; start += PIECE, place += 1) {
      this.model.send_msg({ type: "piece", place, text: text.slice(start, start + PIECE) })
    }
    this.model.send_msg({ type: "wish", wish })
  }

  // ---- answers ----------------------------------------------------------------------------------------

  showStatus() {
    const { state = "idle", text = "" } = this.model.status
    const before = document.documentElement.dataset.play
    document.documentElement.dataset.play = state
    one("#play-stop").disabled = state !== "running"
    one("#progress").textContent = text
    one("#nothing").hidden = state !== "nothing"
    one("#play-form").setAttribute("aria-busy", String(state === "running"))
    if (before !== state) one("#announcement").textContent = text
    this.showResult()
  }

  showResult() {
    const there = this.model.html !== ""
    const state = document.documentElement.dataset.play
    one("#result").hidden = !there
    one("#waiting").hidden = there || state === "nothing"
    const drawn = (window.ticklab?.runs ?? []).length > 0
    all("[data-file]").forEach((button) => { button.disabled = !there })
    one("#png").disabled = !there || !drawn
    one("#pictures").hidden = !drawn
    for (const [id, html] of [["#summary", this.model.html], ["#details", this.model.details]]) {
      if (one(id).dataset.shown === html) continue
      one(id).innerHTML = html
      one(id).dataset.shown = html
    }
    if (there && !this.there && window.matchMedia("(max-width: 1099px)").matches) one("#result-title").scrollIntoView({ block: "start" })
    this.there = there
  }

  showSeen() { one("#trace-seen").innerHTML = this.model.seen }

  showSwitches() {
    for (const place of all(".switch")) {
      const name = place.id.replace("switch-", "")
      place.textContent = this.model.switches.sentences?.[name] ?? ""
      place.classList.toggle("dead", this.model.switches.dead?.includes(name) ?? false)
    }
  }

  showProblem() {
    const { text = "", field = "", number = 0 } = this.model.problem
    if (number && number <= this.heard.problem) return
    this.heard.problem = number || this.heard.problem
    this.tell(field, text)
  }

  /** A sentence beside what it is about: the trace, the link, or a setting (and below the buttons). */
  tell(field, text) {
    all("[aria-invalid=true]").forEach((input) => input.removeAttribute("aria-invalid"))
    const beside = { trace: "#trace-problem", share: "#share-problem" }[field] ?? "#problem"
    for (const id of ["#trace-problem", "#share-problem", "#problem"]) {
      if (id === beside || !text) one(id).textContent = id === beside ? text : one(id).textContent
    }
    if (!text) return
    const input = field === "trace" ? one("#trace") : one(`#set-${CSS.escape(field)}`) ?? (field && field !== "share" ? one(`#${CSS.escape(field)}`) : null)
    if (!input) return
    input.setAttribute("aria-invalid", "true")
    input.closest("details")?.setAttribute("open", "")
    input.focus()
  }

  showLink() {
    const { code, number = 0 } = this.model.short_link
    if (!code || number <= this.heard.link) return
    this.heard.link = number
    const address = new URL(location.href)
    address.search = `?play=${code}`
    address.hash = ""
    one("#link").value = address.href
    one("#link").hidden = one("#copy").hidden = false
    one("#link").select()
    history.replaceState(null, "", address.search)
    one("#announcement").textContent = this.words.shared
  }

  async copy() {
    one("#link").select()
    const copied = await (navigator.clipboard?.writeText(one("#link").value).then(() => true, () => false) ?? false)
    one("#announcement").textContent = copied ? this.words.copied : this.words.copy_yourself
  }

  saveFile() {
    const { name, media, text, number = 0 } = this.model.file
    if (!number || number <= this.heard.file) return
    this.heard.file = number
    this.save(new Blob([text], { type: `${media};charset=utf-8` }), name)
  }

  async savePicture() {
    const { setup, mode, kept } = this.ran ?? this.sheet()
    const names = mode === "compare" ? [] : ["immediate", "static", "continuous"]
    const title = [this.words.title, setup.title, setup.name].filter(Boolean).join(" · ")
    const blob = await picture(window.ticklab.runs, names, { title, settings: kept ? `A: ${settingsText(kept, this.words)} · B: ${settingsText(setup, this.words)}` : settingsText(setup, this.words), words: this.words })
    this.save(blob, `${safeName(setup.title || setup.name)}.png`)
  }

  save(blob, name) {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(blob)
    link.download = name
    document.body.append(link)
    link.click()
    link.remove()
    setTimeout(() => URL.revokeObjectURL(link.href), 60000)
    one("#announcement").textContent = fill(this.words.saved, { name })
  }
}

function settingsText({ settings }, words) {
  const text = Object.entries(settings).map(([name, value]) => `${name} ${value}`).join(", ")
  return text || words.all_default
}

/** Letters, digits, dots, hyphens: a file name that is safe everywhere. */
function safeName(text) {
  const name = text.trim().replace(/\.(csv|jsonl?|txt)$/i, "").replace(/[^\p{L}\p{N}_.-]+/gu, "-").replace(/^[-._]+/, "").slice(0, 60).replace(/[-._]+$/, "")
  return name ? `ticklab-${name}` : "ticklab"
}
