"""Builds the parameters of actions from the arguments of the methods."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypedDict, TypeVar, Union

from .errors import client_error
from .contract import ImageItem
from .images import Image, to_image_item


class SubjectId(TypedDict):
    subjectId: str


class ExternalId(TypedDict):
    externalId: str


class FaceId(TypedDict):
    faceId: str


SubjectReference = Union[SubjectId, ExternalId]
"""A subject by exactly one of its ids."""

StoredFaceReference = Union[SubjectId, ExternalId, FaceId]
"""A stored face to search with: one face, or all faces of a subject."""

AnyImage = TypeVar("AnyImage", bound=Image)

Images = Union[List[AnyImage], Tuple[AnyImage, ...]]
"""Several images: a list or a tuple."""


def is_several(images: object) -> bool:
    return isinstance(images, (list, tuple))


def image_params(images: object, params: Mapping[str, Any]) -> Dict[str, Any]:
    """The parameters of an action about one image. Several images have a result each."""
    several = {"allImages": True} if is_several(images) else {}
    return {**params, **several, "images": image_items(images)}


def verify_params(probe: object, reference: object, params: Mapping[str, Any]) -> Dict[str, Any]:
    if _is_reference(reference, ("subjectId", "externalId")):
        several = {"sameSubject": True} if is_several(probe) else {}
        return {**params, **several, **read_reference(reference), "images": image_items(probe)}
    if is_several(probe):
        message = "several images can be compared with a subject only"
        raise client_error("INVALID_ARGUMENT", message)
    return {**params, "images": image_items([probe, reference])}


def is_stored_face(sought: object) -> bool:
    return _is_reference(sought, ("subjectId", "externalId", "faceId"))


def identify_params(
    sought: Any, same_subject: bool, params: Mapping[str, Any]
) -> Dict[str, Any]:
    if is_stored_face(sought):
        return {**params, **sought}
    merged = {"sameSubject": True} if same_subject else {}
    return {**params, **merged, "images": image_items(sought)}


def update_params(
    subject: object, image: Optional[object], changes: Mapping[str, Any]
) -> Dict[str, Any]:
    reference = read_reference(subject)
    # The service takes an external id without a subject id for that of the subject.
    if "externalId" in reference and "externalId" in changes:
        message = "an external id can be changed only by subjectId"
        raise client_error("INVALID_ARGUMENT", message)
    images = {} if image is None else {"images": image_items(image)}
    return {**changes, **reference, **images}


def read_reference(reference: object) -> Dict[str, str]:
    """Returns the one id of a reference; text is a `subjectId`."""
    if isinstance(reference, str):
        return {"subjectId": reference}
    if isinstance(reference, Mapping):
        ids = {
            name: reference[name]
            for name in ("subjectId", "externalId")
            if reference.get(name) is not None
        }
        if len(ids) == 1:
            return ids
    message = "exactly one of subjectId and externalId is required"
    raise client_error("INVALID_ARGUMENT", message)


def image_items(images: Any) -> List[ImageItem]:
    sources: Sequence[Image] = images if is_several(images) else [images]
    if not sources:
        raise client_error("INVALID_ARGUMENT", "at least one image is required")
    return [to_image_item(image) for image in sources]


def _is_reference(value: object, names: Sequence[str]) -> bool:
    return isinstance(value, Mapping) and any(name in value for name in names)
