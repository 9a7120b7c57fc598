"""A real Chromium without a screen, for tests of pages, which are skipped where there is none."""

import shutil
import time
from contextlib import contextmanager
from importlib import resources

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDE, NARROW = (1280, 1000), (375, 780)


@contextmanager
def chromium(size, language="en"):
    """Open a browser of this size; a narrow one is a phone with touch."""
    pytest.importorskip("selenium")
    from selenium import webdriver

    driver = shutil.which("chromedriver")
    if CHROMIUM is None or driver is None:
        pytest.skip("no Chromium with its driver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    width, height = size
    flags = (
        "headless=new no-sandbox disable-gpu hide-scrollbars no-first-run disable-background-networking disable-sync"
    )
    for flag in (*flags.split(), f"lang={language}", f"window-size={width},{height}"):
        options.add_argument(f"--{flag}")
    if size == NARROW:
        metrics = {"width": width, "height": height, "pixelRatio": 1, "touch": True}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def wait(browser, script, seconds=60):
    """Wait until a script returns a true value, and return it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = browser.execute_script(f"return {script}")
        if found:
            return found
        time.sleep(0.03)
    raise AssertionError(f"waited {seconds} seconds for {script}")


def text(browser, selector):
    """Return the text of the first element of a selector, "" if there is none."""
    return "".join(texts(browser, selector)[:1])


def texts(browser, selector):
    """Return the text of every element of a selector."""
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
    )


def messages(browser):
    """Return the browser's messages."""
    return [entry["message"] for entry in browser.get_log("browser")]


def emulate(browser, *, size=None, scheme=None):
    """Give the page another size, as on a phone if it is narrow, or another colour scheme."""
    if size is not None:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 900}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    if scheme is not None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def inaccessible(browser, impacts=("serious", "critical")):
    """Return the accessibility problems that axe finds on a page: rule, impact and the first elements."""
    axe = pytest.importorskip("selenium_axe_python")
    script = (resources.files(axe) / "axe-core" / "axe.min.js").read_text("utf-8")
    found = browser.execute_async_script(f"""
        const done = arguments[0];
        {script};
        const nodes = (one) => one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + node.failureSummary);
        axe.run({{resultTypes: ["violations"], preload: false}})
            .then((told) => done(told.violations.map((one) => [one.id, one.impact, nodes(one)])));
    """)
    return [one for one in found if one[1] in impacts]


def english_left(browser):
    """Return English words in what a Chinese page shows or says, unless they are marked as English."""
    return browser.execute_script("""
        const found = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
            const isApart = element.closest("script, style, code, pre, input, #keys, [lang=en]");
            if (isApart || !element.checkVisibility()) continue;
            const texts = node === element ? [element.ariaLabel, element.title, element.placeholder] : [node.data];
            found.push(...texts.filter((text) => /[A-Za-z]{2}/.test(text ?? "")));
        }
        return [...new Set(found)];
    """)
