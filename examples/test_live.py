"""The live page in headless Chromium, with a real shop and a real Redis."""

import os
import time
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from servers import ROOT, wait_until

SCREENSHOT = Path(os.environ.get("SCREENSHOT", ROOT / "target/clients/live.png"))


class Page:
    def __init__(self, url, profile):
        options = webdriver.ChromeOptions()
        options.binary_location = os.environ["CHROMIUM"]
        for flag in ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync",
                     "disable-background-networking", "disable-component-update", "hide-scrollbars",
                     f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(options, Service(os.environ["CHROMEDRIVER"]))
        metrics = {"width": 1120, "height": 790, "deviceScaleFactor": 1.5, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.browser.get(url)

    def element(self, name):
        return self.browser.find_element(By.ID, name)

    def text(self, name):
        return self.element(name).text

    def click(self, name):
        self.element(name).click()

    def set(self, name, value):
        """As a person sets a field: the page hears of it."""
        self.browser.execute_script(
            "const e = arguments[0]; e.value = arguments[1]; e.oninput?.(); e.onchange?.()", self.element(name), value)

    def shows(self, what, seconds=15, **texts):
        """Waits for the elements to have these texts."""
        seen = lambda: {name: self.text(name) for name in texts}
        try:
            wait_until(what, lambda: seen() == texts, seconds)
        except TimeoutError:
            pytest.fail(f"{what}: {seen()}, want {texts}")

    def click_on_the_newest_pile(self):
        """Near its bottom, at the right end of the time line."""
        self.browser.execute_script(
            "const c = document.getElementById('timeline'), { left, top } = c.getBoundingClientRect();"
            "c.dispatchEvent(new MouseEvent('click', { clientX: left + c.clientWidth - 29, clientY: top + 275 }))")

    def quit(self):
        self.browser.quit()


@pytest.fixture
def page(shop, tmp_path):
    page = Page(f"http://127.0.0.1:{shop.port}/live", tmp_path)
    yield page
    page.quit()


def test_the_live_page(page, redis):
    page.shows("an empty window", used="0", of="20", remaining="20", retry="now", reset="it is", refused="0")
    page.set("window", "4s")
    page.click("ten")
    page.shows("10 calls", used="10", remaining="10", retry="now", refused="0")
    page.shows("it slides: after 4 s they have left", used="0", remaining="20", reset="it is")

    page.click("clear")
    page.set("window", "1h")
    page.shows("DEL empties it", used="0", reset="it is", refused="0")
    page.click("fifty")
    page.shows("50 calls: what is above the limit is refused", used="20", remaining="0", refused="30")
    assert 3500 < int(page.text("retry").split()[0]) <= 3600, "the next call waits for the first to leave"
    assert len(page.browser.find_elements(By.CSS_SELECTOR, "#log tr")) == 6, "the newest are listed"
    # All 20 have been admitted just now, so they are at the right end of the time line.
    drawn = lambda: page.element("timeline").get_attribute("data-drawn")
    assert int(drawn()) >= 20, "and drawn"
    page.click_on_the_newest_pile()
    page.shows("a click on an admission gives it back", used="19", remaining="1", retry="now")
    page.set("cost", "5")
    page.click("one")
    page.shows("a call of cost 5: refused", used="19", refused="31")
    page.set("limit", "30")
    page.shows("a raised limit", of="30", remaining="11")
    page.click("one")
    page.shows("a call of cost 5: admitted", used="24", remaining="6")
    page.set("limit", "100")
    page.set("cost", "1")
    page.click("clear")
    page.shows("DEL empties it again", used="0", remaining="100")
    page.click("fifty")
    page.shows("50 calls, all admitted", used="50", remaining="50")
    assert redis.client.zcard("live") < 40, "an element of the set holds several of them"
    wait_until("each is drawn by itself", lambda: int(drawn()) >= 50)
    page.click_on_the_newest_pile()
    page.shows("one of several in an element is given back", used="49", remaining="51")
    page.set("limit", "30")

    page.set("window", "never")
    page.shows("a wrong window says what a right one is", trouble="window must be a duration from 1ms to 3650d, such as 60, 0.5, 250ms, 5m or 24h")
    page.set("window", "1h")
    page.shows("and is mended", trouble="")
    redis.kill()
    page.shows("Redis is down", trouble="Redis is down.")
    redis.start()
    page.shows("and back, empty", trouble="", used="0", remaining="30")

    # The picture: traffic for more than a window, with two crowds.
    page.click("clear")
    for name, value in (("window", "10s"), ("limit", "20"), ("cost", "1"), ("rate", "1")):
        page.set(name, value)
    time.sleep(5.5)
    page.click("ten")
    time.sleep(2)
    page.set("cost", "3")
    page.click("one")
    page.set("cost", "1")
    time.sleep(2)
    page.set("rate", "4")
    time.sleep(1.2)
    page.click("ten")
    page.set("rate", "2")
    wait_until("a picture with refused calls", lambda: int(page.text("refused")) > 5)
    time.sleep(2)
    page.browser.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    page.browser.save_screenshot(str(SCREENSHOT))
    assert SCREENSHOT.stat().st_size > 20_000, "a picture is saved"
    used = int(page.text("used"))
    assert 10 <= used <= 20, "steady traffic fills the window, and no more"

    # A wrong window and a Redis that is down are answered with 400 and 503, which the browser logs as well.
    errors = [entry["message"] for entry in page.browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not errors, "no error of the script"
