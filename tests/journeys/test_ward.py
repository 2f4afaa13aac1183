"""Journey 8: the ward, live. A nurse with a mouse, a machine over HTTP, and a nightly file, on one server."""

import shutil
import tempfile
import time
from pathlib import Path

import pytest

import keyhole as kh

from .test_sharing import Server

selenium = pytest.importorskip("selenium", reason="the page is tested in a browser: pip install selenium")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
AXE = Path(__file__).parents[1] / "fixtures" / "axe.min.js"
TESTS = ["glucose", "lipids", "sodium", "<script>alert('x')</script>", "pulse"]
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-default-apps"),
)

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no browser: install chromium and chromium-driver to test the page"
)


@pytest.fixture
def ward(sqlite_url):
    """A server with one learner that has prices."""
    with kh.open_store(sqlite_url) as store:
        note = {"label": "HbA1c", "unit": "%", "currency": "EUR"}
        store.create("icu", "thrifty", names=TESTS, k=2, prices=[3.0, 12.0, 2.0, 1.0, 1.0], seed=0, note=note)
    server = Server(sqlite_url)
    yield server
    server.stop()


@pytest.fixture
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        driver.implicitly_wait(20)  # a page that is on its way after a click is waited for
        yield driver
        driver.quit()


def fetched(browser):
    """Every address the browser asked for."""
    import json

    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def soon(what, seconds=300.0):
    """Wait until something is true on the page; gives it."""
    end = time.monotonic() + seconds
    while True:
        try:
            found = what()
        except selenium.common.exceptions.WebDriverException:
            found = None
        if found:
            return found
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def press(browser, words):
    browser.find_element(By.XPATH, f"//button[normalize-space()='{words}']").click()


def text(browser, id):
    return browser.find_element(By.ID, id).text


def serious_faults(browser):
    """What axe-core finds serious or worse."""
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    return [(v["id"], v["nodes"][0]["html"]) for v in found["violations"] if v["impact"] in ("serious", "critical")]


def test_a_round_is_played_by_clicking_and_another_window_sees_it(ward, browser):
    browser.get(ward.address + "/")
    first = browser.current_window_handle
    assert "0 of 0" in text(browser, "learners")
    browser.switch_to.new_window("window")
    browser.get(ward.address + "/")
    browser.find_element(By.LINK_TEXT, "icu").click()
    browser.find_element(By.ID, "key").send_keys("patient-17")
    press(browser, "Ask")
    order = soon(lambda: browser.find_element(By.CLASS_NAME, "order").text)
    entry = kh.connect(ward.address)["icu"].rounds("open")[0]
    assert order == f"{', '.join(entry.sources)}: {entry.price:.2f} EUR"
    assert serious_faults(browser) == []

    browser.find_element(By.ID, "v0").send_keys("six")
    press(browser, "Predict")
    assert "'six' is not a number" in soon(lambda: browser.find_element(By.CSS_SELECTOR, "[role=alert]").text)
    field = browser.find_element(By.ID, "v0")
    assert field.get_attribute("value") == "six"
    field.clear()
    field.send_keys("6,1", Keys.TAB, "2.5", Keys.ENTER)  # by keyboard
    soon(lambda: "%" in browser.find_element(By.CSS_SELECTOR, "#prediction .big").text)
    assert kh.connect(ward.address)["icu"].rounds()[0].values == dict(zip(entry.names, (6.1, 2.5), strict=True))

    browser.switch_to.window(first)
    soon(lambda: "0 of 1" in text(browser, "learners"))  # without reloading
    browser.switch_to.window(browser.window_handles[1])
    browser.find_element(By.ID, "y").send_keys("6.4")
    press(browser, "Tell")
    soon(lambda: "6.4 %" in text(browser, "label"))
    browser.switch_to.window(first)
    soon(lambda: "1 of 1" in text(browser, "learners"))

    loud = [entry for entry in browser.get_log("browser") if "422" not in entry["message"]]
    assert loud == [], "the refused form is the only thing the console may mention"
    addresses = [a for a in fetched(browser) if a.startswith(("http", "ws"))]  # the rest is its own empty page
    assert len(addresses) > 5
    assert [a for a in addresses if not a.startswith(ward.address)] == []


def test_the_page_of_a_learner_is_alive_and_sound(ward, browser):
    icu = kh.connect(ward.address)["icu"]
    for i in range(6):
        r = icu.ask(key=f"patient-{i}")
        icu.predict(r, [float(i % 3)] * len(r.names))
        if i < 4:
            icu.tell(r, None, i / 2)
    browser.get(ward.address + "/learners/icu")
    assert "4 of 6" in text(browser, "numbers")
    assert [e.text for e in browser.find_elements(By.CSS_SELECTOR, "#open a")] == ["patient-4", "patient-5"]
    soon(lambda: len(browser.find_elements(By.CSS_SELECTOR, "#figures svg")) == 3, 60)
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        assert serious_faults(browser) == []
    metrics = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360

    outcomes = icu.tell_many([("patient-4", 1.0), ("patient-5", 2.0)])  # the nightly file
    assert [outcome.status for outcome in outcomes] == ["labelled", "labelled"]
    soon(lambda: "6 of 6" in text(browser, "numbers") and "No round is open" in text(browser, "open"))

    ward.kill()
    ward.start()
    icu.ask(key="after")
    soon(lambda: "6 of 7" in text(browser, "numbers"), 40)  # the page found the server again by itself
    assert icu.ask(key="patient-0").index == 1
