// The page's one tick: step, back, play, drag. Ticks that are known are played here, without a word
// to the server; `model.tick` is written when the learner stops, steps or lets go of the slider.

const shared = await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)
const { h, fill, seconds, page, listen, style, dress, reducedMotion } = shared
const sheets = await style("player.css")

const SPEEDS = [1, 2, 4, 8] // ticks per second
const FAST = 2 // above this the status line keeps quiet while playing

export function render({ model, el }) {
  dress(el, sheets)
  const player = new Player(model)
  player.tell()
  return player.root
}

class Player {
  constructor(model) {
    this.model = model
    this.tick = model.tick
    this.speed = 2
    this.playing = false
    this.late = null // a tick of the server whose delivery is still to come
    this.wanted = null // "step", "end" or null: what the server has been asked for
    this.timer = null
    this.build()
    model.on(["known", "last", "problem"], () => this.delivered())
    model.on(["enabled", "texts", "tick_seconds", "expected"], () => this.paint())
    model.on("limit", () => { this.stop(); this.settle() })
    model.on("msg:custom", (message) => { if (message?.type === "refused") { this.stop(); this.settle() } })
    model.on("tick", () => this.sent())
    listen(model, {
      tick: (detail) => this.moved(detail),
      connection: ({ open }) => { if (open) this.reconnected() },
    })
    const keys = (event) => this.key(event)
    document.addEventListener("keydown", keys)
    model.on("remove", () => { this.stop(); document.removeEventListener("keydown", keys) })
    this.paint()
  }

  get words() { return this.model.texts }
  get final() { return this.model.last ?? null }
  get ready() { return this.model.enabled }
  get atEnd() { return this.final !== null && this.tick >= this.final }
  /** In lock step nobody asks for a tick beyond the one of the class. */
  get atLimit() { return this.model.limit !== null && this.tick >= this.model.limit && this.tick + 1 >= this.model.known }

  // ---- building ---------------------------------------------------------------------------------

  button(name, press) {
    return h("button", { type: "button", class: name, on: { click: press } }, h("span", { class: "icon", "aria-hidden": "true" }), h("span", { class: "word" }))
  }

  build() {
    this.back = this.button("back", () => this.step(-1))
    this.play = this.button("play", () => this.toggle())
    this.forward = this.button("step", () => this.step(1))
    this.end = this.button("end", () => this.toEnd())
    this.help = this.button("help", () => this.askHelp())
    this.slider = h("input", { type: "range", min: 0, step: 1, on: {
      input: () => this.drag(),
      change: () => this.commit(),
    } })
    this.label = h("p", { class: "label" })
    this.speedChoice = h("select", { on: { change: () => this.setSpeed(Number(this.speedChoice.value)) } })
    this.speedLabel = h("span")
    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" })
    this.reason = h("p", { class: "reason", id: "player-reason" })
    this.problem = h("p", { class: "problem", role: "alert" })
    this.help.setAttribute("aria-haspopup", "dialog")
    this.root = h("section", { class: "lab-player" },
      h("div", { class: "buttons" }, this.back, this.play, this.forward, this.end,
        h("label", { class: "speed" }, this.speedLabel, this.speedChoice), this.help),
      h("div", { class: "track" }, this.slider, this.label),
      this.reason, this.problem, this.status)
  }

  // ---- moving -----------------------------------------------------------------------------------

  /** Show `tick`; tell the page; tell the server unless `silent` or playing. */
  go(tick, { silent = false } = {}) {
    const highest = Math.max(this.model.known - 1, -1)
    this.tick = Math.max(-1, Math.min(tick, highest))
    this.tell()
    if (!silent && !this.playing) this.commit()
    this.paint()
  }

  tell() {
    page.setTick(this.tick, { by: "player", playing: this.playing })
  }

  commit() {
    if (this.model.tick !== this.tick) this.model.tick = this.tick
  }

  /** Somebody else moved the page's tick. */
  moved({ tick, by }) {
    if (by === "player" || !this.ready) return
    this.stop()
    this.tick = Math.max(-1, Math.min(tick, this.model.known - 1))
    if (this.tick !== tick) this.tell()
    this.commit()
    this.announce()
    this.paint()
  }

  /** The server moved the tick. One that comes before its delivery is shown with it, see `delivered`. */
  sent() {
    const { tick, known } = this.model
    if (tick === this.tick || this.playing) return
    if (tick < known) this.go(tick, { silent: true })
    else this.late = tick
  }

  step(direction) {
    if (!this.ready) return
    this.stop()
    if (direction > 0 && this.tick + 1 >= this.model.known) {
      if (this.final === null && !this.atLimit) this.ask("step")
      return
    }
    this.go(this.tick + direction)
    this.announce()
  }

  toEnd() {
    if (!this.ready) return
    this.stop()
    if (this.model.limit !== null) {
      this.go(this.model.known - 1)
      this.announce()
      return
    }
    if (this.final === null) {
      this.ask("end")
      return
    }
    this.go(this.final)
    this.announce()
  }

  toStart() {
    if (!this.ready) return
    this.stop()
    this.go(-1)
    this.announce()
  }

  drag() {
    this.stop({ quiet: true })
    this.tick = Math.min(Number(this.slider.value) - 1, this.model.known - 1)
    this.tell()
    this.paint()
  }

  // ---- the server ---------------------------------------------------------------------------------

  ask(what) {
    if (this.wanted) return
    this.wanted = what
    this.model.send_msg({ type: what })
    this.slow = setTimeout(() => { this.status.textContent = this.words.working }, 300)
    // An answer that never comes must not leave the buttons dead.
    this.patience = setTimeout(() => this.settle(), 15000)
    this.paint()
  }

  /** Questions and the tick of the time without a server are lost: the learner may ask again. */
  reconnected() {
    this.settle()
    if (this.ready) this.model.send_msg({ type: "tick", tick: this.tick })
  }

  settle() {
    clearTimeout(this.slow)
    clearTimeout(this.patience)
    this.wanted = null
    if (this.status.textContent === this.words.working) this.status.textContent = ""
    this.paint()
  }

  delivered() {
    const wanted = this.wanted
    if (this.model.problem) {
      this.stop()
      this.settle()
      return
    }
    const came = this.tick < this.model.known - 1
    const late = this.late !== null && this.late < this.model.known ? this.late : null
    if (late !== null) this.late = null
    if (wanted === "step" && (came || this.final !== null)) {
      this.settle()
      this.go(this.tick + 1)
      if (!this.playing) this.announce()
    } else if (wanted === "end" && this.final !== null) {
      this.settle()
      this.go(this.final)
      this.announce()
    } else if (late !== null && !wanted && !this.playing) {
      this.go(late, { silent: true })
    }
    this.paint()
  }

  // ---- playing ------------------------------------------------------------------------------------

  toggle() {
    if (!this.ready) return
    if (this.playing) {
      this.stop()
      return
    }
    if (reducedMotion()) {
      this.toEnd()
      return
    }
    if (this.atEnd || this.atLimit) this.go(-1, { silent: true })
    this.playing = true
    this.schedule()
    this.paint()
  }

  schedule() {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.beat(), 1000 / this.speed)
  }

  beat() {
    if (!this.playing) return
    if (this.atEnd || this.atLimit) {
      this.stop()
      this.announce()
      return
    }
    if (this.tick + 1 < this.model.known) {
      this.go(this.tick + 1)
      if (this.speed <= FAST) this.announce()
    } else if (!this.wanted) {
      this.ask("step")
    }
    this.schedule()
  }

  stop({ quiet = false } = {}) {
    clearTimeout(this.timer)
    if (!this.playing) return
    this.playing = false
    this.tell()
    if (!quiet) this.commit()
    this.paint()
  }

  setSpeed(speed) {
    this.speed = speed
    if (this.playing) this.schedule()
  }

  // ---- keys ---------------------------------------------------------------------------------------

  /** Keys work with the focus on the player or on nothing; fields, grids and buttons keep their own. */
  key(event) {
    if (!this.ready || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.composedPath()[0]
    const inside = event.composedPath().includes(this.root)
    if (!inside && target !== document.body) return
    if (target === this.speedChoice) return
    if (event.key === " " && target instanceof HTMLButtonElement) return
    const actions = {
      " ": () => this.toggle(),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      End: () => this.toEnd(),
      Home: () => this.toStart(),
    }
    const action = actions[event.key]
    if (!action) return
    event.preventDefault()
    action()
  }

  /** The page lists the keys of all its parts in one dialog. */
  askHelp() {
    window.dispatchEvent(new CustomEvent("ticklab:help"))
  }

  // ---- painting -----------------------------------------------------------------------------------

  tickLabel() {
    if (this.tick < 0) return this.words.before
    const length = this.model.tick_seconds
    return fill(this.words.tick, {
      tick: this.tick,
      from: seconds(this.tick * length, length),
      to: seconds((this.tick + 1) * length, length),
    })
  }

  announce() {
    const label = this.tickLabel()
    this.status.textContent = this.atEnd ? fill(this.words.finished, { tick: label }) : label
  }

  name(button, word, symbol) {
    button.querySelector(".word").textContent = word
    button.querySelector(".icon").textContent = symbol
  }

  paint() {
    const words = this.words
    this.root.setAttribute("aria-label", words.title)
    this.root.classList.toggle("closed", !this.ready)
    this.name(this.back, words.back, "◀")
    this.name(this.play, this.playing ? words.pause : words.play, this.playing ? "❚❚" : "▶")
    this.name(this.forward, words.step, "▶❙")
    this.name(this.end, words.end, "▶▶❙")
    this.name(this.help, words.keys, "?")
    this.speedLabel.textContent = words.speed
    this.paintSpeeds()
    const waiting = this.wanted !== null
    this.back.disabled = !this.ready || this.tick < 0
    this.play.disabled = !this.ready
    this.forward.disabled = !this.ready || this.atEnd || this.atLimit || (waiting && !this.playing)
    this.end.disabled = !this.ready || this.atEnd || this.atLimit || (waiting && !this.playing)
    this.slider.disabled = !this.ready
    this.speedChoice.disabled = !this.ready
    this.slider.max = this.final !== null ? this.final + 1 : Math.max(this.model.known, this.model.expected)
    this.slider.value = this.tick + 1
    this.slider.setAttribute("aria-label", words.slider)
    this.slider.setAttribute("aria-valuetext", this.tickLabel())
    this.label.textContent = this.tickLabel()
    this.reason.textContent = this.why()
    this.problem.textContent = this.model.problem
  }

  /** Why controls are closed, empty when they are open. */
  why() {
    if (!this.ready) return this.words.closed
    return this.model.limit === null ? "" : this.words.limit
  }

  paintSpeeds() {
    const labels = SPEEDS.map((speed) => fill(this.words.per_second, { speed }))
    if (this.speedChoice.textContent === labels.join("")) return
    this.speedChoice.replaceChildren(...SPEEDS.map((speed, index) => h("option", { value: speed, text: labels[index] })))
    this.speedChoice.value = this.speed
  }
}
