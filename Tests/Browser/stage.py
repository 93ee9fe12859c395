"""A store with its storefront and its console, and the browsers that use them."""

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import tempfile
import time
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, expect

COINS = "com.example.coins.100"
PRO = "com.example.pro"
CLUB = "com.example.club.monthly"
WINTER = "com.example.levels.winter"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# Every form of the page is used: a test gets the next one.
FORMS = [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")]
# Whether other tests run beside these, so that no speed of a page can be told exactly.
BUSY = "COUNTERFOIL_BROWSER_SHARES_THE_MACHINE" in os.environ
# Chromium itself writes each failed request to the console.
AWAY = [r"Failed to load resource.*50[234]", r"net::ERR_"]
# The names of the animations that a page has shown.
MOVED = """
    window.moved = [];
    addEventListener("animationstart", (event) => window.moved.push(event.animationName));
    addEventListener("transitionrun", (event) => window.moved.push(event.propertyName));
"""


class Visitor:
    """A browser context with one page. It records the errors of the page."""

    def __init__(self, stage, url, width, scheme, script=None, motion="reduce"):
        self.stage = stage
        self.url = url
        self.motion = motion
        self.complaints = []
        self.allowed = []
        self.context = stage.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale="en-US",
            reduced_motion=motion, accept_downloads=True,
        )
        self.context.set_default_timeout(60_000)
        # These are of every page of the context, also of those that a link opens.
        self.context.on("console", lambda message: self.complaints.append(message.text))
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        for each in filter(None, [MOVED, script]):
            self.context.add_init_script(each)
        self.page = self.open()

    def open(self):
        page = self.context.new_page()
        page.on("request", self.check_origin)
        page.goto(self.url)
        return page

    def check_origin(self, request):
        if not request.url.startswith((self.url, "blob:" + self.url)):
            self.complaints.append("a request to " + request.url)

    def check(self):
        """Checks what holds for every state of the page."""
        self.check_axe()
        left = [line for line in self.complaints
                if not any(re.search(pattern, line) for pattern in self.allowed)]
        assert not left, f"the console is not empty: {left}"

    def check_axe(self, page=None):
        page = page or self.page
        for is_last in [False, False, True]:
            try:
                return self.check_state(page)
            except Error as error:
                # A page about something that goes on loads itself again. What is on it then is checked.
                if is_last or "navigation" not in str(error):
                    raise
                page.wait_for_load_state()

    def check_state(self, page):
        result = Axe().run(page, options=RULES)
        found = [(violation["id"], [node["html"][:160] for node in violation["nodes"]])
                 for violation in result.response["violations"]]
        assert not found, f"axe finds {found}"
        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"the page is {wide} px too wide"
        moved = page.evaluate("() => window.moved")
        assert self.motion != "reduce" or not moved, f"somebody who wants no motion sees {moved}"

    def tab_through(self, dialog):
        """Presses Tab until the focus has gone through an open dialog, which it never leaves for the page behind."""
        seen = []
        for _ in range(dialog.locator("a[href], button, input, select, textarea").count() + 2):
            self.page.keyboard.press("Tab")
            place = dialog.evaluate("""(dialog) => {
                const place = document.activeElement;
                // Between the last place and the first one is the browser's own window.
                if (place === document.body) return "the window";
                return dialog.contains(place) ? place.id || place.textContent || place.value : "the page: " + place.outerHTML;
            }""")
            assert not place.startswith("the page"), place
            seen.append(place)
        return seen


class Shopper(Visitor):
    """A buyer in the shop."""

    def sign_in(self, name=None, region="USA"):
        self.name = name or "buyer-" + secrets.token_hex(4)
        self.page.fill("#sign-in-name", self.name)
        self.page.select_option("#sign-in-region", region)
        self.page.click("#sign-in button")
        expect(self.card().first).to_be_visible()
        expect(self.page.locator("#stream")).to_have_text("live")
        return self

    def card(self, product=None):
        return self.page.locator(f"#shelf [data-product='{product}']" if product else "#shelf [data-product]")

    def buy(self, product, method="sandbox_success", quantity=None, double=False):
        self.card(product).get_by_role("button").click()
        # Before that, the methods are those of the purchase before.
        expect(self.page.locator("#pay")).to_be_visible()
        self.page.check(f"#methods input[value='{method}']")
        if quantity:
            self.page.fill("#pay input[name='quantity']", str(quantity))
        if double:
            self.page.dblclick("#buy")
        else:
            self.page.click("#buy")
        expect(self.page.locator("#pay")).not_to_be_visible()

    def methods(self, product):
        """Returns the payment methods that the dialog of a product offers."""
        self.card(product).get_by_role("button").click()
        expect(self.page.locator("#pay")).to_be_visible()
        found = self.page.locator("#methods input").evaluate_all("(inputs) => inputs.map((input) => input.value)")
        self.page.click("#pay-cancel")
        return found

    @property
    def subscription(self):
        return self.page.locator("#subscriptions > li")

    @property
    def newest(self):
        return self.page.locator("#queue > li").first

    def revisions(self):
        """Returns the revision that each row of the queue has, the newest row first."""
        rows = self.page.locator("#queue > li").evaluate_all(
            "(rows) => rows.map(({ dataset }) => [dataset.id, Number(dataset.revision)])")
        return dict(rows)

    def expect_finished(self, timeout=60_000):
        expect(self.newest).to_have_attribute("data-steps", re.compile("finished$"), timeout=timeout)

    def expect_coins(self, amount):
        expect(self.page.locator("[data-unit='coins']")).to_have_attribute("data-amount", str(amount))

    def owned(self, product):
        return self.page.locator(f"#owned [data-product='{product}']")


class Operator(Visitor):
    """Somebody in the console."""

    def sign_in(self, scopes):
        self.page.goto(self.stage.ticket(scopes))
        expect(self.page.get_by_role("heading", name="Now")).to_be_visible()
        return self

    def field(self, name):
        return self.page.locator(f"[data-field='{name}']")

    def search(self, text):
        self.page.fill("#q", text)
        self.page.press("#q", "Enter")

    def send(self, path, form=None, headers=None, signed_in=True):
        """Sends a request with the cookies of the page and with any header. Returns the answer and its body."""
        cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in self.context.cookies())
        headers = {"cookie": cookies if signed_in else "", **(headers or {})}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers["content-type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)
        connection.request("GET" if body is None else "POST", "/" + path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def csrf(self):
        return self.page.locator("[name='csrf']").first.input_value()


def is_running(process):
    """Whether a process runs; one that ended and waits for its parent does not."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Stage:
    """What the tests share: the browser, the address, and the processes of the store."""

    def __init__(self, browser, url, store, counterfoil, environment):
        self.browser = browser
        self.url = url
        self.store = store
        self.counterfoil = counterfoil
        self.environment = dict(os.environ)
        with open(environment) as file:
            for name, value in re.findall(r'^export (\w+)="(.*)"$', file.read(), re.M):
                if name != "PATH":
                    self.environment[name] = value
        self.console = self.environment["COUNTERFOIL_CONSOLE_URL"] + "/"
        self.shoppers = []
        self.restarted = []
        self.form = 0

    def shopper(self, width=None, scheme=None, script=None, motion="reduce"):
        form = FORMS[self.form % len(FORMS)]
        self.shoppers.append(Shopper(self, self.url, width or form[0], scheme or form[1], script, motion))
        return self.shoppers[-1]

    def operator(self, scopes=(), signs_in=True, width=None, scheme=None, script=None, motion="reduce"):
        form = FORMS[self.form % len(FORMS)]
        operator = Operator(self, self.console, width or form[0], scheme or form[1], script, motion)
        self.shoppers.append(operator)
        return operator.sign_in(scopes) if signs_in else operator

    def command(self, *arguments, check=True):
        """Runs the command line as the store's operator. Returns its output."""
        answer = subprocess.run(
            [self.counterfoil, *arguments], env=self.environment, capture_output=True, text=True, timeout=120)
        assert answer.returncode == 0 or not check, answer.stderr
        return answer.stdout

    def ticket(self, scopes=()):
        options = [option for scope in scopes for option in ("--scope", scope)]
        return self.command("console", "ticket", *options).strip()

    def why(self, subject):
        return json.loads(self.command("why", subject, "--json"))

    def settled(self, transaction):
        """The story of a purchase, once nothing is left to do."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            story = self.why(transaction)
            if not story["waitsFor"]:
                return story
        raise AssertionError(f"{transaction} waits for {story['waitsFor']}")

    def buy(self, method, timeout=60):
        """Buys coins for a new account. Returns the account and the transaction, also of one that waits."""
        account = "buyer-" + secrets.token_hex(4)
        is_direct = method == "sandbox_success" and timeout > 1
        # One that waits is made soon, and waited for in vain. A busy machine may not even make it soon.
        waits = [timeout] if is_direct or timeout <= 1 else [1, 5, 30]
        for wait in waits:
            self.command("buy", COINS, "--account", account, "--payment-method", method,
                         "--timeout", str(wait), check=is_direct)
            if timeout <= 1:
                break
            try:
                return account, self.why(account)["purchases"][0]["transactionID"]
            except (AssertionError, IndexError):
                if wait == waits[-1]:
                    raise
        return account, None

    def subscribe(self, method="sandbox_success"):
        """Begins a subscription for a new account. Returns the account."""
        account = "buyer-" + secrets.token_hex(4)
        self.command("buy", CLUB, "--account", account, "--payment-method", method)
        return account

    def ask_refund(self, transaction, account, reason="unsatisfied"):
        """Asks for a refund as the buyer does in the app."""
        token = self.command("token", "account", "--account", account).strip()
        self.post(f"/v1/transactions/{transaction}/refund-requests", {"reason": reason}, token, 201)

    def ask_about_price(self, subscription, minor_units):
        """Asks a subscriber at once about a higher price, in US dollars, of each period."""
        self.post(f"/v1/admin/test/subscriptions/{subscription}/price-increase",
                  {"price": {"minorUnits": minor_units, "currency": "USD"}},
                  self.command("token", "admin").strip(), 200)

    def exported(self, product):
        """Returns a product as the command line exports it."""
        return json.loads(self.command("products", "export"))["products"][product]

    def import_product(self, product, content):
        """Makes a product what it was when it was exported, or another one."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"products": {product: content}}, file)
            file.flush()
            self.command("products", "import", file.name)

    def offer(self, product, terms):
        """Gives a subscription an introductory offer, or takes it away. Returns when payments knows it."""
        changed = {**self.exported(product), "introductoryOffer": terms}
        if terms is None:
            del changed["introductoryOffer"]
        self.import_product(product, changed)
        known = f"SELECT data -> 'introductoryOffer' ->> 'mode' FROM products WHERE id = '{product}'"
        deadline = time.monotonic() + 60
        # One offer may replace another, so it is not enough that there is one.
        while self.query(self.owner("payments"), known) != ("" if terms is None else terms["mode"]):
            assert time.monotonic() < deadline, f"payments does not hear of the offer of {product}"
            time.sleep(0.05)

    def post(self, path, body, token, status):
        """Sends a request to payments."""
        netloc = urllib.parse.urlsplit(self.environment["COUNTERFOIL_PAYMENTS_URL"]).netloc
        connection = http.client.HTTPConnection(netloc, timeout=60)
        connection.request(
            "POST", path, json.dumps(body),
            {"authorization": "Bearer " + token, "content-type": "application/json",
             "idempotency-key": secrets.token_hex(8)})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == status, text

    def root(self):
        """Returns the root certificate under the store's receipts, in DER."""
        with open(os.path.join(self.environment["COUNTERFOIL_KEYS"], "receipts", "root.cer"), "rb") as file:
            return file.read()

    def query(self, url, text):
        """Runs a statement in a database. Returns what it prints."""
        answer = subprocess.run(
            ["psql", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-Atc", text, url],
            env=self.environment, capture_output=True, text=True, timeout=60)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.strip()

    def event_of(self, transaction):
        """Returns the id of an event of a transaction."""
        return self.query(
            self.environment["COUNTERFOIL_PAYMENTS_DATABASE_URL"],
            f"SELECT event_id FROM outbox WHERE subject = '{transaction}' LIMIT 1")

    def owner(self, service):
        """Returns the address of a service's database, as the service itself connects to it."""
        with open(f"/proc/{self.program(service)}/environ", "rb") as file:
            variables = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
        return variables[b"DATABASE_URL"].decode()

    def database_owner(self, service):
        """Returns the address of a service's database for the role that owns its tables."""
        return re.sub(r"//[^@]*@", "//counterfoil_owner@", self.owner(service))

    def poison(self, service, count):
        """Records events that can never be applied: one is dead, the others are parked. Returns their account."""
        account = "buyer-" + secrets.token_hex(4)
        self.query(
            self.owner(service),
            f"""INSERT INTO dead_letters (consumer, event_id, topic, partition, "offset", key, type, subject, time,
                    data, reason, state)
                SELECT '{service}', gen_random_uuid(), 'payments.transactions', 0, number, '{account}',
                    'transaction.purchased.v1', '1', now(), 'no event', 'made by a test',
                    CASE number WHEN 1 THEN 'dead' ELSE 'parked' END
                FROM generate_series(1, {count}) AS number ORDER BY number""")
        return account

    def bury(self, transaction):
        """Records the events of a purchase as ones that receipts could not apply, although it has applied them.

        The first one is dead, the others are parked. Returns their number."""
        events = self.query(
            self.owner("payments"),
            f"""SELECT event_id, topic, key, type, time, encode(convert_to(unpacked_json(data), 'UTF8'), 'hex')
                FROM outbox WHERE subject = '{transaction}' AND topic = 'payments.transactions'
                ORDER BY xid, position""").splitlines()
        rows = []
        for number, event in enumerate(events):
            event, topic, key, type_, time_, data = event.split("|")
            rows.append(
                f"('receipts', '{event}', '{topic}', 0, {number}, '{key}', '{type_}', '{transaction}', '{time_}', "
                f"'\\x{data}', 'made by a test', '{'parked' if rows else 'dead'}')")
        self.query(
            self.owner("receipts"),
            """INSERT INTO dead_letters (consumer, event_id, topic, partition, "offset", key, type, subject, time,
                    data, reason, state)
                VALUES """ + ", ".join(rows))
        return len(rows)

    def discard_all(self, account):
        """Discards the dead letters of an account."""
        while letters := json.loads(self.command("dead-letters", "list", "--key", account, "--json"))["deadLetters"]:
            letter = letters[0]
            self.command("dead-letters", "discard", letter["service"], str(letter["id"]), "--reason", "made by a test",
                         check=False)

    def close(self):
        """Ends a test: closes its pages. The next test gets another form."""
        for shopper in self.shoppers:
            shopper.context.close()
        self.shoppers = []
        self.form += 1

    def stop(self):
        for process in self.restarted:
            process.terminate()
            process.wait()

    def program(self, name):
        """Returns the process of a program: the child of the store's process, or one that was started again."""
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parent = file.read().rsplit(")", 1)[1].split()[1]
                program = os.path.basename(os.readlink(f"/proc/{entry}/exe"))
            except OSError:
                continue
            if program == name and parent in (str(self.store), str(os.getpid())):
                return int(entry)
        raise AssertionError(f"no {name} runs below {self.store}")

    def kill(self, name, number=signal.SIGKILL, timeout=60):
        """Ends a program. Returns a function that starts it again in the same way."""
        process = self.program(name)
        with open(f"/proc/{process}/cmdline", "rb") as file:
            command = file.read().split(b"\0")[:-1]
        with open(f"/proc/{process}/environ", "rb") as file:
            environment = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
        program = os.readlink(f"/proc/{process}/exe")
        os.kill(process, number)
        for child in self.restarted:
            if child.pid == process:
                child.wait(timeout)
        deadline = time.monotonic() + timeout
        while is_running(process):
            assert time.monotonic() < deadline, f"{name} has not ended within {timeout} s"
            time.sleep(0.05)

        def start():
            self.restarted.append(subprocess.Popen(
                [program, *command[1:]], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return start
