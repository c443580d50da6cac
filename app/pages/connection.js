// The connection to the server: says when it is lost, looks for the server, and comes back. A script of
// its own, so that a page to which the server never spoke can say so too.

const ALIVE = "lab/alive" // answered from memory, at once
const HEALTH = "healthz" // answered when pages can be built
const BEAT = 5000 // ms between two looks while all is well
const DEAF = 6000 // ms an answer is waited for
const PROBE = 2000 // ms between two looks for a server that is gone
const HOPE = 4000 // ms the socket may take to open again once the server answers
const FIRST = 30000 // ms a page may take to come to life, also over a socket that has come back
const AGAIN = [0, 5000, 15000] // ms before a page that did not come to life is asked for anew; then only offered
const BACK = "ticklab:back" // this page was loaded anew by itself
const TRIES = "ticklab:tries"

const one = (selector) => document.querySelector(selector)
const ready = () => document.documentElement.dataset.ready === "true"
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Whether `address` is answered well, and in time. */
function answers(address) {
  return fetch(address, { cache: "no-store", signal: AbortSignal.timeout(DEAF) }).then((answer) => answer.ok, () => false)
}

/** What this tab remembers over a reload. */
const kept = {
  get(name) { try { return sessionStorage.getItem(name) } catch { return null } },
  set(name, value) { try { sessionStorage.setItem(name, value) } catch { /* not remembered, then */ } },
  take(name) {
    const value = this.get(name)
    try { sessionStorage.removeItem(name) } catch { /* it was not there */ }
    return value
  },
}

/** Bokeh keeps the half of a message that a cut left behind, and would read the next socket's first words
 * as its other half. */
function forgetHalf(socket) {
  if (socket?._receiver) socket._receiver = new socket._receiver.constructor()
}

class Connection {
  constructor() {
    this.cut = false // Bokeh's socket is closed
    this.deaf = false // the socket seems open, but nobody answers
    this.leaving = false // the page is being loaded anew: what is pressed now would be lost
    this.came = new Set() // what has come back since the cut: the "socket", the "desk"
    this.shown = false
    this.socket = null
    one("#offline a").addEventListener("click", (event) => { event.preventDefault(); this.askedToReload() })
    document.addEventListener("click", (event) => this.guard(event), { capture: true })
    this.watchSockets()
    for (const name of ["online", "offline", "pageshow"]) window.addEventListener(name, () => this.beat())
    document.addEventListener("visibilitychange", () => this.beat())
    setTimeout(() => { if (!ready()) this.say("late") }, FIRST)
    this.timer = setTimeout(() => this.beat(), BEAT)
  }

  /** Bokeh tells nobody when the first socket of a page is refused. */
  watchSockets() {
    const closed = () => this.stillborn()
    window.WebSocket = class extends window.WebSocket {
      constructor(...about) {
        super(...about)
        this.addEventListener("close", closed)
      }
    }
  }

  get lost() { return this.cut || this.deaf || this.leaving }

  /** The page is alive. After a reload that nobody asked for it says why it is a new one. */
  arrived() {
    kept.take(TRIES)
    this.back("desk")
    one("#offline").hidden = !this.lost
    if (kept.take(BACK)) one("#status").textContent = one("#status").dataset.back
  }

  /** Follow `document`, the one of Bokeh's session. */
  follow(document) {
    document.on_event("connection_lost", (_, { connection }) => this.socketLost(connection.deref()))
    document.on_event("client_reconnected", () => this.back("socket"))
  }

  socketLost(socket) {
    this.socket = socket ?? this.socket
    forgetHalf(this.socket)
    this.came.clear()
    if (this.cut) return
    this.cut = true
    this.answered = 0
    this.mark()
    this.probe()
  }

  /** A socket is not enough: only the desk knows whether its session is still the one of this page. */
  back(what) {
    this.came.add(what)
    if (!this.cut || this.came.size < 2) return
    this.cut = this.deaf = false
    this.mark()
  }

  // ---- looking for the server -------------------------------------------------------------------

  /** While all is well: a network that swallows everything closes no socket. */
  async beat() {
    clearTimeout(this.timer)
    if (!document.hidden && ready() && !this.cut) {
      this.deaf = !(await answers(ALIVE))
      this.mark()
    }
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.beat(), this.deaf ? PROBE : BEAT)
  }

  /** A server that answers is asked for the session; when it does not give it, for a new page. */
  async probe() {
    if (!this.cut) return
    const there = await answers(HEALTH)
    if (!this.cut) return
    const patience = this.socket?.socket?.readyState === WebSocket.OPEN ? FIRST : HOPE
    if (there && this.answered && Date.now() - this.answered >= patience) {
      this.reload()
      return
    }
    if (!there) this.answered = 0
    else if (!this.answered) {
      this.answered = Date.now()
      this.socket?.reconnect() // its own next try may be half a minute away
    }
    setTimeout(() => this.probe(), there ? HOPE : PROBE)
  }

  reload() {
    this.leaving = true
    this.mark()
    kept.set(BACK, "1")
    location.reload()
  }

  async askedToReload() {
    if (await answers(HEALTH)) this.reload()
    else this.say("still")
  }

  /** The socket of this page was refused before it brought anything. */
  async stillborn() {
    if (ready() || this.trying) return
    this.trying = true
    const tries = Number(kept.get(TRIES) ?? 0)
    this.say("late")
    if (tries >= AGAIN.length) return
    await wait(AGAIN[tries])
    while (!(await answers(HEALTH))) await wait(PROBE)
    kept.set(TRIES, String(tries + 1))
    location.reload()
  }

  // ---- what the learner sees --------------------------------------------------------------------

  mark() {
    if (this.shown === this.lost) return
    this.shown = this.lost
    document.documentElement.dataset.connection = this.lost ? "lost" : "open"
    this.say("text")
    one("#offline").hidden = !this.lost
    document.querySelectorAll(".needs-server").forEach((section) => { section.inert = this.lost })
    window.dispatchEvent(new CustomEvent("ticklab:connection", { detail: { open: !this.lost } }))
  }

  /** Show the banner with one of its sentences. */
  say(name) {
    one("#offline").hidden = false
    for (const sentence of document.querySelectorAll("#offline [data-said]")) sentence.hidden = sentence.dataset.said !== name
  }

  /** Nothing that needs the server may be pressed while it is away, no link lead nowhere; typing goes on. */
  guard(event) {
    if (!this.lost) return
    const path = event.composedPath()
    if (path.includes(one("#offline"))) return
    const lock = path.includes(one("#predict")) && path.find((node) => node.matches?.("button[type=submit], button:not([type])"))
    const link = path.find((node) => node.matches?.("a[href]:not([href^='#'], [target])"))
    if (!lock && !link) return
    event.preventDefault()
    event.stopImmediatePropagation()
    one("#offline").scrollIntoView({ block: "nearest" })
  }
}

window.ticklabConnection = new Connection()
