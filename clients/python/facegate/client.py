"""The client."""

from __future__ import annotations

import ssl
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, List, Literal, Mapping, Optional, Union, overload

from .actions import (
    AnyImage,
    Images,
    StoredFaceReference,
    SubjectReference,
    identify_params,
    image_params,
    is_several,
    is_stored_face,
    read_reference,
    update_params,
    verify_params,
)
from .contract import (
    ActionName,
    AnalyzeOptions,
    AnalyzeValue,
    AttributesOptions,
    AttributesValue,
    DeleteSubjectValue,
    DetectOptions,
    DetectValue,
    EnrollOptions,
    EnrollValue,
    IdentifyOptions,
    ImageSearchValue,
    LivenessOptions,
    LivenessValue,
    Me,
    StoredSearchValue,
    SubjectChanges,
    UpdateSubjectValue,
    VerifyOptions,
    VerifyValue,
)
from .errors import client_error
from .images import Image
from .options import CallOptions, ClientEvent, read_settings
from .requests import action_request, body_reader, route_request
from .responses import (
    ActionResponse,
    CallValidation,
    ItemResult,
    read_envelope,
    read_validation,
)
from .retries import send_with_retries
from .routes import Deletions, Groups, LivenessSessions, Send, Subjects
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_DEFAULTS = CallOptions()


class Client:
    """A client of one service with one key. Threads can share it.

    Parameters of actions are keywords with the names of the HTTP API. `options` sets the id, the
    limits and the cancellation of one call. A failed call raises a `FacegateError`.
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        attempts_max: Optional[int] = None,
        attempt_seconds_max: Optional[float] = None,
        call_seconds_max: Optional[float] = None,
        on_event: Optional[Callable[[ClientEvent], None]] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """`base_url` is by default FACEGATE_URL of the environment or http://127.0.0.1:8080, and
        `api_key` FACEGATE_KEY. By default a call ends after 5 attempts or 90 s, an attempt after
        30 s. `on_event` is called after every attempt; errors it raises are ignored.

        Raises ValueError that names the invalid option.
        """
        limits = CallOptions(
            attempts_max=attempts_max,
            attempt_seconds_max=attempt_seconds_max,
            call_seconds_max=call_seconds_max,
        )
        self._settings = read_settings(base_url, api_key, limits, on_event, ssl_context)
        self._transport = Transport(self._settings)
        self._send: Send = partial(send_with_retries, self._transport, self._settings)
        self.subjects = Subjects(self._send)
        self.groups = Groups(self._send)
        self.deletions = Deletions(self._send)
        self.liveness_sessions = LivenessSessions(self._send)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def me(self, *, options: CallOptions = _DEFAULTS) -> Me:
        """The key of the client: its project, permissions, limits, budget and prices."""
        me: Me = self._send(route_request("GET", "/v1/me"), body_reader("keyId"), options)
        return me

    def close(self) -> None:
        """Closes the connections that are kept for later calls."""
        self._transport.close()

    @overload
    def detect(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[DetectOptions]
    ) -> List[ItemResult[DetectValue]]: ...
    @overload
    def detect(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[DetectOptions]
    ) -> DetectValue: ...
    def detect(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Returns every face of an image. A list of images has one result for each."""
        return self._one_image("svc.detect", image, params, options)

    @overload
    def analyze(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[AnalyzeOptions]
    ) -> List[ItemResult[AnalyzeValue]]: ...
    @overload
    def analyze(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[AnalyzeOptions]
    ) -> AnalyzeValue: ...
    def analyze(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Returns the quality of each face, the reasons, and whether it can be enrolled."""
        return self._one_image("svc.analyze", image, params, options)

    @overload
    def attributes(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[AttributesOptions]
    ) -> List[ItemResult[AttributesValue]]: ...
    @overload
    def attributes(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[AttributesOptions]
    ) -> AttributesValue: ...
    def attributes(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Returns age, gender, expression, eyes and mouth of the largest face."""
        return self._one_image("svc.attributes", image, params, options)

    @overload
    def liveness(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[LivenessOptions]
    ) -> List[ItemResult[LivenessValue]]: ...
    @overload
    def liveness(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[LivenessOptions]
    ) -> LivenessValue: ...
    def liveness(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Classifies the largest face as live, spoof or uncertain."""
        return self._one_image("svc.liveness", image, params, options)

    def send_liveness_frames(
        self,
        session_id: str,
        frames: Images[AnyImage],
        *,
        options: CallOptions = _DEFAULTS,
        **params: Unpack[LivenessOptions],
    ) -> LivenessValue:
        """Verifies the frames of an attempt in a session, in the order of recording."""
        if not is_several(frames):
            raise client_error("INVALID_ARGUMENT", "frames: must be a list of images")
        request = {**image_params(frames, params), "livenessSessionId": session_id}
        del request["allImages"]
        value: LivenessValue = self._execute("svc.liveness", request, options).single()
        return value

    def enroll(
        self,
        image: Union[Image, Images[AnyImage]],
        *,
        options: CallOptions = _DEFAULTS,
        **params: Unpack[EnrollOptions],
    ) -> EnrollValue:
        """Enrolls the face of an image as a new subject, or adds it to an existing one.

        Several images of one person become several templates of the subject; `images` of the result
        reports each of them.
        """
        request = image_params(image, params)
        value: EnrollValue = self._execute("svc.enroll", request, options).single()
        return value

    @overload
    def verify(
        self,
        probe: Images[AnyImage],
        reference: SubjectReference,
        *,
        options: CallOptions = ...,
        **params: Unpack[VerifyOptions],
    ) -> VerifyValue: ...
    @overload
    def verify(
        self,
        probe: Image,
        reference: Union[SubjectReference, Image],
        *,
        options: CallOptions = ...,
        **params: Unpack[VerifyOptions],
    ) -> VerifyValue: ...
    def verify(
        self, probe: Any, reference: Any, *, options: CallOptions = _DEFAULTS, **params: Any
    ) -> VerifyValue:
        """Compares a face with another image, or with a subject of the gallery.

        Two to ten images of one person are merged into one probe for a subject.
        """
        request = verify_params(probe, reference, params)
        value: VerifyValue = self._execute("svc.verify", request, options).single()
        return value

    @overload
    def identify(
        self,
        sought: Images[AnyImage],
        *,
        sameSubject: Literal[False] = ...,
        options: CallOptions = ...,
        **params: Unpack[IdentifyOptions],
    ) -> List[ItemResult[ImageSearchValue]]: ...
    @overload
    def identify(
        self,
        sought: Images[AnyImage],
        *,
        sameSubject: Literal[True],
        options: CallOptions = ...,
        **params: Unpack[IdentifyOptions],
    ) -> ImageSearchValue: ...
    @overload
    def identify(
        self,
        sought: StoredFaceReference,
        *,
        options: CallOptions = ...,
        **params: Unpack[IdentifyOptions],
    ) -> StoredSearchValue: ...
    @overload
    def identify(
        self, sought: Image, *, options: CallOptions = ..., **params: Unpack[IdentifyOptions]
    ) -> ImageSearchValue: ...
    def identify(
        self,
        sought: Any,
        *,
        sameSubject: bool = False,
        options: CallOptions = _DEFAULTS,
        **params: Any,
    ) -> Any:
        """Searches the gallery for the faces of an image, or for a stored face.

        Several images have one result each; with `sameSubject` they are frames of one person and
        have one result together. A stored face is searched among all other subjects.
        """
        request = identify_params(sought, sameSubject, params)
        response = self._execute("svc.identify", request, options)
        is_batch = is_several(sought) and not sameSubject
        return response.results if is_batch else response.single()

    def update_subject(
        self,
        subject: Union[str, SubjectReference],
        *,
        image: Optional[Image] = None,
        options: CallOptions = _DEFAULTS,
        **changes: Unpack[SubjectChanges],
    ) -> UpdateSubjectValue:
        """Changes a subject, given by its `subjectId` or by a dict with one of its ids.

        `image` adds a template, with the same checks as enrollment.
        """
        request = update_params(subject, image, changes)
        value: UpdateSubjectValue = self._execute("svc.updateSubject", request, options).single()
        return value

    def delete_subject(
        self, subject: Union[str, SubjectReference], *, options: CallOptions = _DEFAULTS
    ) -> DeleteSubjectValue:
        """Deletes a subject permanently. Its deletion record is kept.

        An external id is resolved first, which needs the permission `subjects:read`.
        """
        reference = read_reference(subject)
        if "externalId" in reference:
            items = self.subjects.page(externalId=reference["externalId"], options=options)["items"]
            if not items:
                message = "the gallery contains no subject with this externalId"
                raise client_error("SUBJECT_NOT_FOUND", message)
            reference = {"subjectId": items[0]["subjectId"]}
        value: DeleteSubjectValue = self._execute("svc.deleteSubject", reference, options).single()
        return value

    def execute(
        self, action: ActionName, params: Mapping[str, Any], *, options: CallOptions = _DEFAULTS
    ) -> ActionResponse[Any]:
        """Runs any action, with the parameters and results of the HTTP API."""
        return self._execute(action, params, options)

    def validate(
        self, action: ActionName, params: Mapping[str, Any], *, options: CallOptions = _DEFAULTS
    ) -> CallValidation:
        """Checks a call, with the parameters of the HTTP API, and returns its price.

        Nothing is run, changed or charged. Raises FacegateError as the call would, as far as it
        needs no image and no subject.
        """
        request = action_request(action, params, options, validate_only=True)
        validation: CallValidation = self._send(request, read_validation, options)
        return validation

    def _one_image(
        self, action: str, image: object, params: Mapping[str, Any], options: CallOptions
    ) -> Any:
        response = self._execute(action, image_params(image, params), options)
        return response.results if is_several(image) else response.single()

    def _execute(
        self, action: str, params: Mapping[str, Any], options: CallOptions
    ) -> ActionResponse[Any]:
        request = action_request(action, params, options)
        response: ActionResponse[Any] = self._send(request, read_envelope, options)
        return response
