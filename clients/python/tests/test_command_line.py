from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Tuple

from .support import TestCase


def run(*arguments: str, key: str = "", **options: bytes) -> Tuple[int, str, str]:
    environment = {
        **os.environ,
        "FACEGATE_URL": os.environ["FACEGATE_REAL_URL"],
        "FACEGATE_KEY": key or os.environ["FACEGATE_REAL_KEY"],
    }
    done = subprocess.run(
        [sys.executable, "-m", "facegate", *arguments],
        capture_output=True,
        env=environment,
        input=options.get("stdin"),
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class CommandLineTests(TestCase):
    def test_an_action_prints_its_result_as_json(self) -> None:
        photo = os.environ["FACEGATE_PHOTO"]
        code, text, _ = run("detect", photo, "-p", "maxFaces=1", "-p", "facePolicy=largest")
        self.assertEqual((code, len(json.loads(text)["faces"])), (0, 1))
        with open(photo, "rb") as file:
            code, piped, _ = run("detect", "-", "--param", "maxFaces=1", stdin=file.read())
        self.assertEqual(piped, text)
        code, text, _ = run("verify", photo, photo)
        self.assertEqual((code, json.loads(text)["matched"]), (0, True))
        code, text, _ = run("enroll", photo, "--external-id", "cli-1", "-p", "facePolicy=largest")
        self.assertEqual((code, json.loads(text)["externalId"]), (0, "cli-1"))
        code, text, _ = run("verify", photo, "--external-id", "cli-1")
        self.assertEqual((code, json.loads(text)["matched"]), (0, True))
        code, text, _ = run("identify", photo, photo)
        self.assertEqual([value["matched"] for value in json.loads(text)], [True, True])

    def test_a_failure_prints_its_code_and_ends_with_1(self) -> None:
        code, text, errors = run("detect", "missing.jpg")
        self.assertEqual((code, text), (1, ""))
        self.assertRegex(errors, "^FILE_NOT_READABLE: missing.jpg")
        code, _, errors = run("detect", os.environ["FACEGATE_PHOTO"], key="fsk_live_x")
        self.assertRegex(errors, "^UNAUTHORIZED: ")
        self.assertEqual(code, 1)

    def test_a_wrong_option_ends_with_2(self) -> None:
        for arguments in (["dance", "photo.jpg"], ["detect"], ["detect", "a.jpg", "-p", "x"]):
            self.assertEqual(run(*arguments)[0], 2)
        self.assertEqual(run("detect", "a.jpg", key="a b")[0], 2)
