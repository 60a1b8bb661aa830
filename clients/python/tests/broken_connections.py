"""Sends calls over connections that break, and prints their request ids, one for each line.

Arguments: the number of calls, and the number of threads.
"""

from __future__ import annotations

import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

from facegate import CallOptions, Client

from .support import image_of


def main(call_count: int, thread_count: int) -> None:
    # Eight failed attempts of one call would occur in one of 100,000 runs.
    client = Client(attempts_max=8)

    def send(number: int) -> str:
        options = CallOptions(request_id=str(uuid.uuid4()))
        picture = image_of(f"guest {number}")
        # Every tenth call enrolls a subject, which must also happen only once.
        if number % 10 == 0:
            client.enroll(picture, externalId=f"guest {number}", options=options)
        else:
            client.detect(picture, options=options)
        return options.request_id or ""

    with ThreadPoolExecutor(thread_count) as pool:
        for request_id in pool.map(send, range(call_count)):
            print(request_id)


main(int(sys.argv[1]), int(sys.argv[2]))
