from __future__ import annotations

import asyncio
import inspect
import os
import unittest
import uuid
from typing import Any

from facegate import AsyncClient, CallCancelled, CallOptions, Cancellation, Client
from facegate.error_codes import NoFaceFoundError

from .support import DETECT_BODY, ScriptedServer, image_of, project_key


def project_client() -> AsyncClient:
    return AsyncClient(os.environ["FACEGATE_TEST_URL"], project_key())


class AsyncTests(unittest.IsolatedAsyncioTestCase):
    def test_the_methods_are_those_of_the_synchronous_client(self) -> None:
        blocking, client = Client("http://127.0.0.1", "k"), AsyncClient("http://127.0.0.1", "k")
        for holder in ("", "subjects", "groups", "deletions", "liveness_sessions"):
            first: Any = getattr(blocking, holder) if holder else blocking
            second: Any = getattr(client, holder) if holder else client
            names = {name for name in dir(first) if not name.startswith("_")} - {"close"}
            self.assertEqual(names, {name for name in dir(second) if name[0] != "_"} - {"aclose"})
            for name in names:
                if inspect.ismethod(getattr(first, name)):
                    expected = inspect.signature(getattr(first, name)).parameters
                    self.assertEqual(
                        inspect.signature(getattr(second, name)).parameters, expected, name
                    )

    async def test_a_subject_is_enrolled_identified_verified_listed_and_deleted(self) -> None:
        async with project_client() as client:
            ada, _ = await asyncio.gather(
                client.enroll(image_of("Ada"), externalId="badge-1", groups=["staff"]),
                client.enroll(image_of("Ben"), externalId="badge-2", groups=["staff"]),
            )
            subject = ada["subjectId"]
            best = (await client.identify(image_of("Ada")))["bestMatch"]
            self.assertEqual(best and best["subjectId"], subject)
            results = await client.identify([image_of("Ada"), image_of()])
            self.assertEqual([result.ok for result in results], [True, False])
            verified = await client.verify(image_of("Ada"), {"externalId": "badge-2"})
            self.assertFalse(verified["matched"])
            await client.update_subject(subject, displayName="Ada", image=image_of("Ada"))
            self.assertEqual((await client.subjects.get(subject))["displayName"], "Ada")
            names = [each["externalId"] async for each in client.subjects.list(limit=1)]
            self.assertEqual(sorted(map(str, names)), ["badge-1", "badge-2"])
            await client.delete_subject({"externalId": "badge-1"})
            groups = [group async for group in client.groups.list()]
            self.assertEqual(groups, [{"name": "staff", "subjectCount": 1}])
            await client.groups.delete("staff")
            self.assertEqual(len([each async for each in client.deletions.list(limit=1)]), 2)
            price = (await client.validate("svc.deleteSubject", {"subjectId": subject})).price_micros
            self.assertEqual(price, 0)
            self.assertEqual((await client.me())["permissions"], ["*"])
            self.assertEqual(len((await client.liveness_sessions.create(steps=2))["steps"]), 2)
            with self.assertRaises(NoFaceFoundError):
                await client.attributes(image_of())
            item = {"kind": "image", "bytes": "W10=", "contentType": "image/jpeg"}
            options = CallOptions(request_id=str(uuid.uuid4()))
            for is_replay in (False, True):
                response = await client.execute("svc.detect", {"images": [item]}, options=options)
                self.assertEqual(response.is_replay, is_replay)

    async def test_a_cancelled_task_closes_the_connection_of_its_call(self) -> None:
        with ScriptedServer(None) as server:
            async with AsyncClient(server.url, "k", concurrency_max=1) as client:
                task = asyncio.ensure_future(client.detect(image_of("A")))
                while not server.requests:
                    await asyncio.sleep(0.001)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                # The only thread of the client is free again.
                cancellation = Cancellation()
                options = CallOptions(cancellation=cancellation)
                later = asyncio.ensure_future(client.detect(image_of("A"), options=options))
                while len(server.requests) < 2:
                    await asyncio.sleep(0.001)
                cancellation.cancel()
                with self.assertRaises(CallCancelled):
                    await later

    async def test_calls_run_at_the_same_time(self) -> None:
        with ScriptedServer({"status": 200, "body": DETECT_BODY}) as server:
            async with AsyncClient(server.url, "k", concurrency_max=4) as client:
                values = await asyncio.gather(*(client.detect(image_of("A")) for _ in range(20)))
            self.assertEqual(len(values), 20)
            self.assertLessEqual(server.connections, 4)
