// What every component shares: the page's one tick and one highlighted request, its recorded runs,
// and a few helpers for plain DOM. Loaded once; the state lives on the window so that there is one.

const own = new URL(import.meta.url)

/** An element. Attributes: `class`, `text`, `on: {event: handler}`, `data: {…}`; null and false are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (name === "text") element.textContent = value
    else if (name === "on") Object.entries(value).forEach(([event, handler]) => element.addEventListener(event, handler))
    else if (name === "data") Object.assign(element.dataset, value)
    else element.setAttribute(name, value === true ? "" : value)
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined))
  return element
}

/** `text` with {name} replaced by its value; {name:one|many} is the word that fits the number. */
export function fill(text, values = {}) {
  return (text ?? "").replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (whole, name, one, many) => {
    if (!(name in values)) return whole
    const value = String(values[name])
    return many === undefined ? value : value === "1" ? one : many
  })
}

/** Seconds as the page writes them: as many decimals as the length of a tick needs. */
export function seconds(value, tick = 0.1) {
  return value.toFixed(decimals(tick))
}

export function decimals(tick) {
  return Math.max(1, (String(tick).split(".")[1] ?? "").length)
}

/** Whether the page stands on a wall: it shows nothing that one learner has answered. */
export const projected = () => document.documentElement.dataset.projector === "true"

export const reducedMotion = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches

// ---- style -------------------------------------------------------------------------------------

const sheets = new Map()

function address(name) {
  return new URL(`../_css/${name}${own.search}`, own)
}

/** The colours belong to the page, so that they follow its theme; a page that has none gets ours. */
function ensureTokens() {
  if (document.querySelector("link[data-ticklab-tokens], style[data-ticklab-tokens]")) return
  if (getComputedStyle(document.documentElement).getPropertyValue("--request-0")) return
  document.head.append(h("link", { rel: "stylesheet", href: address("tokens.css"), "data-ticklab-tokens": true }))
}

/** The named style sheets, each fetched and parsed once for the whole page. */
export async function style(...names) {
  ensureTokens()
  const wanted = ["lab.css", ...names]
  for (const name of wanted) {
    if (!sheets.has(name)) sheets.set(name, fetchSheet(name))
  }
  return Promise.all(wanted.map((name) => sheets.get(name)))
}

async function fetchSheet(name) {
  const sheet = new CSSStyleSheet()
  const answer = await fetch(address(name))
  if (answer.ok) await sheet.replace(await answer.text())
  return sheet
}

/** Put `parsed` sheets on the shadow root that holds `element`. */
export function dress(element, parsed) {
  const root = element.getRootNode()
  if (root.adoptedStyleSheets) root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...parsed]
}

// ---- the page ----------------------------------------------------------------------------------

function createPage() {
  const state = { tick: -1, request: null, runs: [] }
  // First listeners of all: whoever hears an event finds the state already new.
  window.addEventListener("ticklab:tick", (event) => { state.tick = event.detail.tick })
  window.addEventListener("ticklab:request", (event) => { state.request = event.detail.id })
  window.addEventListener("ticklab:runs", (event) => { state.runs = event.detail.runs })
  return state
}

const state = (window.ticklab ??= createPage())

const send = (name, detail) => window.dispatchEvent(new CustomEvent(`ticklab:${name}`, { detail }))

export const page = {
  get tick() { return state.tick },
  get request() { return state.request },
  get runs() { return state.runs },
  /** How many ticks of the recorded runs have been delivered. */
  get known() { return Math.max(0, ...state.runs.map((run) => run.strip.frames.length)) },
  /** Show the first tick + 1 ticks. `by` names the sender; `playing` while a player runs. */
  setTick(tick, { by = "", playing = false } = {}) { send("tick", { tick, by, playing }) },
  setRequest(id) { if (id !== state.request) send("request", { id }) },
  setRuns(runs) { send("runs", { runs }) },
}

/** Listen to tick, request or runs for as long as the view of `model` lives. */
export function listen(model, handlers) {
  for (const [name, handler] of Object.entries(handlers)) {
    const listener = (event) => handler(event.detail)
    window.addEventListener(`ticklab:${name}`, listener)
    model.on("remove", () => window.removeEventListener(`ticklab:${name}`, listener))
  }
}

/** Hovering or focusing `element` highlights request `id` on the whole page. */
export function lights(element, id) {
  element.dataset.request = id
  element.addEventListener("pointerenter", () => page.setRequest(id))
  element.addEventListener("pointerleave", () => page.setRequest(null))
  element.addEventListener("focusin", () => page.setRequest(id))
  element.addEventListener("focusout", () => page.setRequest(null))
  return element
}

/** Mark everything in `root` that belongs to the highlighted request. */
export function showRequest(root, id) {
  root.querySelectorAll("[data-request]").forEach((element) => {
    element.classList.toggle("lit", element.dataset.request === id)
  })
}

/** The runs called `names`, in that order; all of them when no name is given. */
export function chosen(names) {
  if (!names?.length) return page.runs
  return names.map((name) => page.runs.find((run) => run.timeline.name === name)).filter(Boolean)
}

/** What `run` is called in a narrow place. */
export function shortTitle(model, run) {
  const { name, title } = run.timeline
  return model.titles[name] ?? model.texts[`run.${name}.short`] ?? title
}

/** A picture's numbers behind a toggle; `html` comes from the renderer of the static pages. */
export function tableToggle(title, html) {
  const body = h("div", { class: "scroll", role: "region", "aria-label": title, tabindex: "0" })
  body.innerHTML = html
  return h("details", { class: "as-table" }, h("summary", { text: title }), body)
}

/**
 * A picture's table behind a toggle, as the static pages print it. While it is open the server is asked
 * for the table of the page's tick, but not while a player runs.
 */
export function serverTable(model) {
  const body = h("div")
  const toggle = h("details", { class: "as-table" }, h("summary", { text: model.texts.as_table }), body)
  const ask = () => { if (toggle.open && page.runs.length) model.send_msg({ type: "table", tick: page.tick }) }
  const fill = () => {
    const { tick, html } = model.table
    if (tick !== page.tick) return
    body.innerHTML = html
    body.prepend(h("link", { rel: "stylesheet", href: document.querySelector("link[href*='tables.css']")?.href ?? null }))
  }
  toggle.addEventListener("toggle", ask)
  model.on("table", fill)
  listen(model, { tick: ({ playing }) => { if (!playing) ask() } })
  return toggle
}

/** A request's chip: colour and name. */
export function chip(id, colour) {
  return h("span", { class: `chip r${colour % 8}`, text: id })
}

// ---- Bokeh figures --------------------------------------------------------------------------------

/** Figures read the page's colours when they paint: paint them again when the theme changes. */
export function repaintFigures() {
  if (state.repaints) return
  state.repaints = true
  const repaint = () => {
    for (const view of window.Bokeh.index.query((one) => typeof one.request_repaint === "function")) view.request_repaint()
  }
  window.addEventListener("ticklab:theme", repaint)
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint)
}
