"""A table of calls: the expected result, the actual one, and whether both are equal."""

import sys


class Table:
    """Collects rows and prints each as it comes."""

    def __init__(self, colour):
        self.rows = 0
        self.misses = []
        self._colour = colour

    def group(self, title):
        """Begins a group of rows."""
        print(f"\n{title}")

    def expect(self, call, expected, got):
        """Adds a row: values that have to be equal."""
        ok = expected == got
        self.rows += 1
        mark = self._paint("32", "ok") if ok else self._paint("31", "MISS")
        shown = self._cut(got)
        wanted = self._cut(expected)
        print(f"  {call:<58} {wanted:<34} {shown:<34} {mark}", flush=True)
        if not ok:
            self.misses.append(f"{call}: expected {expected!r}, got {got!r}")

    def answer(self, call, expected, body):
        """Adds a row with the result of a call of Apple's client. An error counts by its number."""
        self.expect(call, expected, outcome(body))

    def finish(self):
        """Prints the totals. Returns the exit status."""
        if self.misses:
            print(f"\n{len(self.misses)} of {self.rows} rows are not as expected:")
            for miss in self.misses:
                print("  " + miss)
            return 1
        print(f"\nAll {self.rows} rows are as expected.")
        return 0

    def _paint(self, code, text):
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    @staticmethod
    def _cut(value):
        text = str(value)
        return text if len(text) <= 34 else text[:31] + "..."


def outcome(body):
    """The result of a call: its value, or the HTTP status and Apple's number of its error."""
    from appstoreserverlibrary.api_client import APIException
    from appstoreserverlibrary.signed_data_verifier import VerificationException

    try:
        return body()
    except APIException as error:
        if error.raw_api_error is None:
            return str(error.http_status_code)
        return f"{error.http_status_code} {error.raw_api_error}"
    except VerificationException as error:
        return error.status.name


def fail(text):
    """Ends the run."""
    print(f"conformance: {text}", file=sys.stderr)
    sys.exit(1)
