"""Checks a running store against its contracts, and the contracts against themselves.

usage: contracts.py STORE.json documents|fuzz|events [--seconds N] [--seed N] [--only SERVICE]

`devstore contracts` writes STORE.json, which has the addresses and tokens of the store. Exits with 1
if anything differs from the contracts, and prints each difference.
"""

import argparse
import sys

import documents
import events
import fuzz
import stream
from store import Store


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("store")
    parser.add_argument("part", choices=["documents", "fuzz", "events"])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    store = Store(arguments.store)
    if arguments.part == "documents":
        problems = documents.check(store) + stream.check(store)
    elif arguments.part == "fuzz":
        problems = fuzz.check(store, arguments.seconds, arguments.seed, arguments.only)
    else:
        problems = events.check(store)
    for problem in problems:
        print(f"  ✗ {problem}", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
