from __future__ import annotations

import os
import pickle
import unittest
import uuid
from typing import Any, Callable, List

from facegate import CallOptions, Client, ClientEvent, FacegateError
from facegate.error_codes import (
    InvalidRequestError,
    LivenessFailedError,
    LivenessSessionNotFoundError,
    NoFaceFoundError,
    RequestIdConflictError,
    SubjectFaceMismatchError,
    SubjectNotFoundError,
    UnauthorizedError,
)
from facegate.errors import InvalidArgumentError

from .support import TestCase, image_of, project_client


class ClientTests(TestCase):
    def test_a_subject_is_enrolled_identified_verified_updated_listed_and_deleted(self) -> None:
        client = project_client()
        ada = client.enroll(image_of("Ada"), externalId="badge-1", groups=["staff"])
        client.enroll(image_of("Ben"), externalId="badge-2", groups=["staff"])
        subject_id = ada["subjectId"]
        found = client.identify(image_of({"name": "Ada", "deviation": 0.3}))["bestMatch"]
        assert found is not None
        self.assertEqual(found["subjectId"], subject_id)
        self.assertTrue(client.verify(image_of("Ada"), {"subjectId": subject_id})["matched"])
        self.assertFalse(client.verify(image_of("Ada"), {"externalId": "badge-2"})["matched"])
        self.assertTrue(client.verify(image_of("Ada"), image_of("Ada"), threshold=0.9)["matched"])

        picture = image_of({"name": "Ada", "deviation": 0.3})
        updated = client.update_subject(subject_id, displayName="Ada", image=picture)
        self.assertEqual(updated["embeddingCount"], 2)
        faces = client.subjects.get(subject_id, include="faces").get("faces", [])
        self.assertEqual(len(faces), 2)
        self.assertEqual(list(client.groups.list(limit=1)), [{"name": "staff", "subjectCount": 2}])
        stored = client.identify({"subjectId": subject_id}, threshold=0.5)
        self.assertEqual(stored["probe"]["subjectId"], subject_id)

        deletion = client.delete_subject(subject_id)
        with self.assertRaises(SubjectNotFoundError) as missing:
            client.subjects.get(subject_id)
        self.assertEqual(missing.exception.status, 404)
        with self.assertRaises(SubjectNotFoundError):
            client.delete_subject(subject_id)
        self.assertEqual(client.groups.delete("staff", dry_run=True)["deletedCount"], 1)
        self.assertEqual(client.groups.delete("staff")["records"][0]["externalId"], "badge-2")
        records = list(client.deletions.list(limit=1))
        self.assertEqual([record["externalId"] for record in records], ["badge-2", "badge-1"])
        self.assertEqual(records[1]["deletionId"], deletion["deletionId"])

    def test_each_image_of_a_batch_has_a_result_and_the_call_fails_if_all_fail(self) -> None:
        client = project_client()
        client.enroll(image_of("Ada"), externalId="badge-1")
        door = image_of("Ada")
        door["correlationId"] = "door"
        first, second = client.identify([door, image_of()])
        self.assertEqual(first.correlation_id, "door")
        best = first.value["bestMatch"]
        self.assertEqual(best and best["externalId"], "badge-1")
        self.assertEqual((first.ok, second.ok), (True, False))
        self.assertIsInstance(second.error, NoFaceFoundError)
        with self.assertRaises(NoFaceFoundError):
            _ = second.value
        with self.assertRaises(NoFaceFoundError) as failed:
            client.identify([image_of(), image_of()])
        codes = [problem["code"] for problem in failed.exception.problems]
        self.assertEqual(codes, ["NO_FACE_FOUND", "NO_FACE_FOUND"])
        counts = [
            result.error.code if result.error else result.value["faceCount"]
            for result in client.detect([image_of("Ada"), image_of("Ben", "Cem"), image_of()])
        ]
        self.assertEqual(counts, [1, 2, 0])

    def test_several_images_of_one_person_are_enrolled_identified_and_verified(self) -> None:
        client = project_client()

        def pictures(count: int) -> List[Any]:
            return [image_of({"name": "Ada", "deviation": 0.3, "take": n}) for n in range(count)]

        enrolled = client.enroll([*pictures(2), image_of("Ben")], externalId="badge-1")
        self.assertEqual([image["enrolled"] for image in enrolled.get("images", [])], [True, True, False])
        merged = client.identify(pictures(3), sameSubject=True)["bestMatch"]
        self.assertEqual(merged and merged["externalId"], "badge-1")
        self.assertTrue(client.verify(pictures(3), {"externalId": "badge-1"})["matched"])
        with self.assertRaises(SubjectFaceMismatchError):
            client.verify([image_of("Ada"), image_of("Ben")], {"externalId": "badge-1"})
        updated = client.update_subject({"externalId": "badge-1"}, displayName=None)
        self.assertIsNone(updated["displayName"])

    def test_a_subject_is_deleted_by_its_external_id(self) -> None:
        client = project_client()
        client.enroll(image_of("Eve"), externalId="badge 7&8")
        self.assertEqual(client.delete_subject({"externalId": "badge 7&8"})["embeddingCount"], 1)
        with self.assertRaises(SubjectNotFoundError):
            client.delete_subject({"externalId": "badge 7&8"})

    def test_an_error_has_a_code_every_problem_with_its_path_and_the_request_id(self) -> None:
        request_id = str(uuid.uuid4())
        with self.assertRaises(FacegateError) as raised:
            options = CallOptions(request_id=request_id)
            project_client().detect(image_of("A"), maxFaces=0, minQuality=101, options=options)
        error = raised.exception
        facts = (error.code, error.request_id, error.status, len(error.problems))
        self.assertEqual(facts, ("INVALID_REQUEST", request_id, 200, 2))
        self.assertRegex(str(error), r"params\.maxFaces.*params\.minQuality")
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((copy.code, copy.request_id, str(copy)), (error.code, request_id, str(error)))

        url = os.environ["FACEGATE_TEST_URL"]
        with self.assertRaises(UnauthorizedError):
            Client(url, "fsk_live_x").detect(image_of("Ada"))
        with self.assertRaises(UnauthorizedError):
            # The service refuses this call before it has read the image.
            Client(url, "fsk_live_x").detect(b"\xff\xd8\xff" + bytes(6_000_000))
        with self.assertRaises(FacegateError) as lost:
            Client(f"{url}/wrong-path", "k").subjects.get(str(uuid.uuid4()))
        self.assertEqual(lost.exception.code, "HTTP_404")

    def test_a_repeated_request_id_returns_the_same_result_marked_as_a_replay(self) -> None:
        client = project_client()
        options = CallOptions(request_id=str(uuid.uuid4()))
        first = client.enroll(image_of("Ada"), options=options)
        self.assertEqual(client.enroll(image_of("Ada"), options=options), first)
        item = {"kind": "image", "bytes": "W10=", "contentType": "image/jpeg"}
        options = CallOptions(request_id=str(uuid.uuid4()), debug=True)
        responses = [
            client.execute("svc.detect", {"images": [item]}, options=options) for _ in range(2)
        ]
        self.assertEqual([response.is_replay for response in responses], [False, True])
        self.assertIn("debug", responses[0].single())
        with self.assertRaises(RequestIdConflictError):
            client.detect(image_of("Ben"), options=options)

    def test_a_list_fetches_pages_only_while_its_items_are_read(self) -> None:
        events: List[ClientEvent] = []
        client = project_client(on_event=events.append)
        for name in "ABCDE":
            client.enroll(image_of(name), externalId=name)
        events.clear()
        for subject in client.subjects.list(limit=2):
            if subject["externalId"] == "C":
                break
        self.assertEqual([event.operation for event in events], ["GET /v1/subjects"] * 2)
        page = client.subjects.page(limit=4, total=True)
        self.assertEqual((len(page["items"]), page.get("total")), (4, 5))
        cursor = page["nextCursor"]
        assert cursor is not None
        self.assertEqual(len(client.subjects.page(limit=4, cursor=cursor)["items"]), 1)

    def test_the_key_is_described(self) -> None:
        me = project_client().me()
        self.assertEqual(me["permissions"], ["*"])
        prices = {each["action"]: int(each["priceMicros"]) for each in me["prices"]}
        self.assertEqual(prices["svc.identify"], 2 * prices["svc.detect"])

    def test_a_call_is_validated_and_not_run(self) -> None:
        client = project_client()
        before = client.me()["budget"]["availableMicros"]
        item = {"kind": "image", "bytes": "W10=", "contentType": "image/jpeg"}
        validation = client.validate("svc.identify", {"images": [item, item]})
        self.assertEqual((validation.price_micros, validation.billing), (4000, True))
        with self.assertRaises(InvalidRequestError):
            client.validate("svc.identify", {})
        self.assertEqual(client.me()["budget"]["availableMicros"], before)

    def test_a_session_is_created_read_and_judged_and_its_frame_is_used_once(self) -> None:
        client = project_client()
        request_id = str(uuid.uuid4())
        session = client.liveness_sessions.create(steps=2, request_id=request_id)
        self.assertEqual(client.liveness_sessions.create(steps=2, request_id=request_id), session)
        self.assertEqual(len(session["steps"]), 2)
        # A head that does not move fails the attempt, which is a result.
        frames = [image_of({"name": "Ada", "take": n}) for n in range(4)]
        answer = client.send_liveness_frames(session["sessionId"], frames)
        assert "challenge" in answer
        self.assertFalse(answer["challenge"]["passed"])
        state = client.liveness_sessions.get(session["sessionId"], reference_frame=True)
        self.assertEqual((state["state"], state["attemptsLeft"]), ("open", 2))
        self.assertEqual(state["causes"][0]["cause"], "MOVED_TOO_LITTLE")
        with self.assertRaises(LivenessSessionNotFoundError):
            client.liveness_sessions.get("none")
        with self.assertRaises(LivenessFailedError):
            client.execute("svc.enroll", {"livenessSessionId": session["sessionId"]})

    def test_a_wrong_argument_is_named_and_nothing_is_sent(self) -> None:
        client: Any = Client("http://127.0.0.1:1", "k", attempts_max=1)
        image = image_of("Ada")
        both = {"subjectId": "a", "externalId": "b"}
        calls: List[Callable[[], Any]] = [
            lambda: client.detect([]),
            lambda: client.detect(17),
            lambda: client.detect({}),
            lambda: client.verify(image, both),
            lambda: client.verify(image, {"externalId": None}),
            lambda: client.verify([image, image], image),
            lambda: client.send_liveness_frames("a", image),
            lambda: client.update_subject(None),
            lambda: client.update_subject({"externalId": "a"}, externalId="b"),
            lambda: client.delete_subject(both),
            lambda: client.subjects.get(".."),
            lambda: client.execute("svc.detect", {"images": object()}),
            lambda: client.execute("svc.detect", {"minQuality": float("nan")}),
        ]
        for call in calls:
            with self.assertRaises(InvalidArgumentError):
                call()

    def test_an_invalid_option_is_named_without_its_value(self) -> None:
        valid = {"base_url": "http://127.0.0.1", "api_key": "k"}
        for name, value in (
            ("base_url", "faces.example.com"),
            ("base_url", "ftp://faces.example.com"),
            ("base_url", "http://me:secret@127.0.0.1"),
            ("base_url", "http://127.0.0.1:99999"),
            ("api_key", ""),
            ("api_key", "secret\n"),
            ("attempts_max", 0),
            ("attempt_seconds_max", float("nan")),
            ("call_seconds_max", -1),
        ):
            options: Any = {**valid, name: value}
            with self.assertRaisesRegex(ValueError, f"^{name}: ") as raised:
                Client(**options)
            self.assertNotIn("secret", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
