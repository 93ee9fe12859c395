"""Verifies receipts with openssl alone: with nothing of the store but its root certificate."""

import base64
import json
import os
import ssl
import subprocess
import tempfile


def openssl(*arguments):
    answer = subprocess.run(["openssl", *arguments], capture_output=True, timeout=60)
    assert answer.returncode == 0, f"openssl {arguments[0]}: {answer.stderr.decode()}"
    return answer.stdout


def written(folder, name, content):
    """Writes a file. Returns its path."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    return path


def pem(folder, name, certificate):
    return written(folder, name, ssl.DER_cert_to_PEM_cert(certificate).encode())


def integer(number):
    """A positive integer in DER."""
    number = number.lstrip(b"\0")
    if number[0] & 0x80:
        number = b"\0" + number
    return b"\x02" + bytes([len(number)]) + number


def verify_jws(jws, root):
    """Verifies a signed transaction up to a root certificate in DER. Returns its claims."""
    def decoded(text):
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

    header, payload, signature = jws.split(".")
    header_claims, raw = json.loads(decoded(header)), decoded(signature)
    assert header_claims["alg"] == "ES256" and len(raw) == 64, header_claims["alg"]
    leaf, intermediate, last = (base64.b64decode(text) for text in header_claims["x5c"])
    assert last == root, "the chain ends in another root"
    numbers = integer(raw[:32]) + integer(raw[32:])
    with tempfile.TemporaryDirectory() as folder:
        leaf = pem(folder, "leaf.pem", leaf)
        openssl("verify", "-purpose", "any", "-CAfile", pem(folder, "root.pem", root),
                "-untrusted", pem(folder, "intermediate.pem", intermediate), leaf)
        openssl("dgst", "-sha256",
                "-verify", written(folder, "key.pem", openssl("x509", "-in", leaf, "-pubkey", "-noout")),
                "-signature", written(folder, "signature", b"\x30" + bytes([len(numbers)]) + numbers),
                written(folder, "signed", f"{header}.{payload}".encode()))
    return json.loads(decoded(payload))


def verify_app_receipt(path, root):
    """Verifies an app receipt up to a root certificate in DER. Returns the bytes that are signed."""
    with tempfile.TemporaryDirectory() as folder:
        return openssl("cms", "-verify", "-purpose", "any", "-inform", "DER", "-in", path,
                       "-CAfile", pem(folder, "root.pem", root))
