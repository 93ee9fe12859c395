"""Runs the command `openssl`, and gives it the certificates of the store as files."""

import subprocess
import tempfile
from pathlib import Path


def run(*arguments, cwd=None):
    """Runs `openssl`. Returns its exit status, and both outputs as one text."""
    result = subprocess.run(
        ["openssl", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return result.returncode, result.stdout


class Certificates:
    """The leaf, the intermediate and the root certificate, as files in a temporary folder."""

    def __init__(self, chain):
        self._folder = tempfile.TemporaryDirectory(prefix="counterfoil-conformance-")
        self.path = Path(self._folder.name)
        text = Path(chain).read_text()
        end = "-----END CERTIFICATE-----"
        parts = [part.strip() + "\n" + end + "\n" for part in text.split(end) if part.strip()]
        for name, part in zip(["leaf", "intermediate", "root"], parts):
            (self.path / f"{name}.pem").write_text(part)

    def verify(self):
        status, _ = run(
            "verify", "-x509_strict", "-CAfile", "root.pem", "-untrusted", "intermediate.pem",
            "leaf.pem", cwd=self.path,
        )
        return status

    def ocsp_url(self, name):
        _, text = run("x509", "-noout", "-ocsp_uri", "-in", f"{name}.pem", cwd=self.path)
        return text.strip()

    def status(self, name, issuer, url, *arguments, serial=None):
        """Returns the status from the responder: good, revoked or unknown, if openssl accepts the answer."""
        asked = ["-serial", serial] if serial else ["-cert", f"{name}.pem"]
        status, text = run(
            # The option for the digest has to come before the certificate to which it applies.
            "ocsp", "-issuer", f"{issuer}.pem", *arguments, *asked, "-url", url, "-CAfile",
            "root.pem", "-verify_other", "intermediate.pem", cwd=self.path,
        )
        if "Response verify OK" not in text or "WARNING" in text:
            return "not believed: " + text.replace("\n", " ")[:160]
        subject = serial or f"{name}.pem"
        for line in text.splitlines():
            if line.startswith(f"{subject}: "):
                return line.removeprefix(f"{subject}: ")
        return f"no status ({status})"
