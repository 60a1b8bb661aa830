"""The command line: `python -m facegate detect photo.jpg`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Dict, List, Optional

from .client import Client
from .errors import FacegateError
from .images import Image

_ACTIONS = ("detect", "analyze", "attributes", "liveness", "enroll", "identify", "verify")


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs an action and prints its result as JSON. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m facegate",
        description="Runs an action of Facegate and prints its result as JSON. "
        "FACEGATE_KEY is the key, FACEGATE_URL the address (default http://127.0.0.1:8080).",
    )
    parser.add_argument("action", choices=_ACTIONS)
    parser.add_argument(
        "picture", nargs="+", help="a JPEG or PNG; - is standard input; verify takes two"
    )
    parser.add_argument("--subject-id", help="the subject to verify, or to add a template to")
    parser.add_argument("--external-id", help="the same, with your id of the subject")
    parser.add_argument(
        "-p",
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the action; the value is JSON or text: -p maxFaces=3",
    )
    options = parser.parse_args(arguments)
    try:
        with Client() as client:
            result = _run(client, options)
    except FacegateError as error:
        for problem in error.problems:
            print(f"{problem['code']}: {problem['message']}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2, ensure_ascii=False))
    return 0


def _run(client: Any, options: argparse.Namespace) -> Any:
    params: Dict[str, Any] = dict(_parameter(text) for text in options.param)
    pictures: List[Image] = [
        sys.stdin.buffer if name == "-" else name for name in options.picture
    ]
    subject = {
        name: value
        for name, value in (("subjectId", options.subject_id), ("externalId", options.external_id))
        if value is not None
    }
    if options.action == "verify":
        if not subject and len(pictures) == 2:
            return client.verify(*pictures, **params)
        return client.verify(_one_or_all(pictures), subject, **params)
    if options.action == "enroll":
        params.update(subject)
    result = getattr(client, options.action)(_one_or_all(pictures), **params)
    if not isinstance(result, list):
        return result
    return [
        {"error": {"code": item.error.code, "message": str(item.error)}}
        if item.error
        else item.value
        for item in result
    ]


def _one_or_all(pictures: List[Image]) -> Any:
    return pictures[0] if len(pictures) == 1 else pictures


def _parameter(text: str) -> Any:
    name, separator, value = text.partition("=")
    if not separator:
        raise ValueError(f"--param {text}: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


if __name__ == "__main__":
    sys.exit(main())
