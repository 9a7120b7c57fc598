"""A real Chromium without a screen, for pages: skipped where there is none."""

import shutil
import time
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDE, NARROW = (1280, 1000), (375, 780)


@contextmanager
def chromium(size, language="en"):
    """A browser of this size; narrow ones are phones with touch."""
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
    """Wait until a script gives something true, and return it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = browser.execute_script(f"return {script}")
        if found:
            return found
        time.sleep(0.03)
    raise AssertionError(f"waited {seconds} seconds for {script}")


def messages(browser):
    """What the browser complained about."""
    return [entry["message"] for entry in browser.get_log("browser")]
