"""Read by type checkers only: what must pass, and what must not."""

from __future__ import annotations

import pathlib
from typing import Dict, List, Optional

from facegate import CallOptions, Client, ItemResult
from facegate.contract import Candidate, DetectValue, IdentifyFace


def right(facegate: Client) -> None:
    faces: int = facegate.detect("photo.jpg", maxFaces=3)["faceCount"]
    results: List[ItemResult[DetectValue]] = facegate.detect([b"", b""], minQuality=40)
    paths = [pathlib.Path("photo.jpg")]
    several: List[ItemResult[DetectValue]] = facegate.detect(paths)
    best: Optional[Candidate] = facegate.identify(b"", groups=["staff"])["bestMatch"]
    found: List[IdentifyFace] = facegate.identify(paths, sameSubject=True)["faces"]
    stored: List[Candidate] = facegate.identify({"externalId": "a"})["candidates"]
    matched: bool = facegate.verify(b"", {"subjectId": "a"}, threshold="auto")["matched"]
    merged: bool = facegate.verify([b"", b""], {"externalId": "a"})["matched"]
    facegate.update_subject("a", displayName=None, options=CallOptions(attempts_max=1))
    described: Dict[str, str] = {"bytes": ""}
    print(faces, results, several, best, found, stored, matched, merged, described)


def wrong(facegate: Client) -> None:
    facegate.detect("photo.jpg", maxFace=3)  # type: ignore
    facegate.detect("photo.jpg", maxFaces="3")  # type: ignore
    facegate.detect("photo.jpg", images=[])  # type: ignore
    facegate.detect(17)  # type: ignore
    facegate.enroll(b"", onExisting="replace")  # type: ignore
    facegate.verify(b"", {})  # type: ignore
    facegate.verify([b""], b"")  # type: ignore
    facegate.identify([b""])["bestMatch"]  # type: ignore
    facegate.identify([b""], sameSubject=True)[0]  # type: ignore
    facegate.detect(b"")["face"]  # type: ignore
    facegate.execute("svc.dance", {})  # type: ignore
