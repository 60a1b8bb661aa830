"""The client for asyncio."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, List, Literal, Mapping, Optional, Union, overload

from .actions import AnyImage, Images, StoredFaceReference, SubjectReference
from .async_routes import AsyncDeletions, AsyncGroups, AsyncLivenessSessions, AsyncSubjects
from .cancellation import Cancellation
from .client import Client
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
from .images import Image
from .options import CallOptions, ClientEvent
from .responses import ActionResponse, CallValidation, ItemResult

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_DEFAULTS = CallOptions()


class AsyncClient:
    """The client of one service with one key, for asyncio. Its methods are those of `Client`.

    Each call runs in a thread of the client, at most `concurrency_max` at once; further calls wait.
    A task that is cancelled closes the connection of its call. The service may have completed and
    charged the call: repeat it with the same `request_id` to read its result.
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        concurrency_max: int = 16,
        attempts_max: Optional[int] = None,
        attempt_seconds_max: Optional[float] = None,
        call_seconds_max: Optional[float] = None,
        on_event: Optional[Callable[[ClientEvent], None]] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """The options are those of `Client`. `on_event` is called in the thread of the call."""
        self._client = Client(
            base_url,
            api_key,
            attempts_max=attempts_max,
            attempt_seconds_max=attempt_seconds_max,
            call_seconds_max=call_seconds_max,
            on_event=on_event,
            ssl_context=ssl_context,
        )
        self._executor = ThreadPoolExecutor(concurrency_max, "facegate")
        self.subjects = AsyncSubjects(self._client.subjects, self._run)
        self.groups = AsyncGroups(self._client.groups, self._run)
        self.deletions = AsyncDeletions(self._client.deletions, self._run)
        self.liveness_sessions = AsyncLivenessSessions(
            self._client.liveness_sessions, self._run
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the threads and closes the connections, after the running calls."""
        self._executor.shutdown(wait=False)
        self._client.close()

    async def me(self, *, options: CallOptions = _DEFAULTS) -> Me:
        """The key of the client: its project, permissions, limits, budget and prices."""
        me: Me = await self._run(self._client.me, options=options)
        return me

    @overload
    async def detect(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[DetectOptions]
    ) -> List[ItemResult[DetectValue]]: ...
    @overload
    async def detect(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[DetectOptions]
    ) -> DetectValue: ...
    async def detect(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Returns every face of an image. A list of images has one result for each."""
        return await self._run(self._client.detect, image, options=options, **params)

    @overload
    async def analyze(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[AnalyzeOptions]
    ) -> List[ItemResult[AnalyzeValue]]: ...
    @overload
    async def analyze(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[AnalyzeOptions]
    ) -> AnalyzeValue: ...
    async def analyze(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Returns the quality of each face, the reasons, and whether it can be enrolled."""
        return await self._run(self._client.analyze, image, options=options, **params)

    @overload
    async def attributes(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[AttributesOptions]
    ) -> List[ItemResult[AttributesValue]]: ...
    @overload
    async def attributes(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[AttributesOptions]
    ) -> AttributesValue: ...
    async def attributes(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Returns age, gender, expression, eyes and mouth of the largest face."""
        return await self._run(self._client.attributes, image, options=options, **params)

    @overload
    async def liveness(
        self, image: Images[AnyImage], *, options: CallOptions = ..., **params: Unpack[LivenessOptions]
    ) -> List[ItemResult[LivenessValue]]: ...
    @overload
    async def liveness(
        self, image: Image, *, options: CallOptions = ..., **params: Unpack[LivenessOptions]
    ) -> LivenessValue: ...
    async def liveness(self, image: Any, *, options: CallOptions = _DEFAULTS, **params: Any) -> Any:
        """Classifies the largest face as live, spoof or uncertain."""
        return await self._run(self._client.liveness, image, options=options, **params)

    async def send_liveness_frames(
        self,
        session_id: str,
        frames: Images[AnyImage],
        *,
        options: CallOptions = _DEFAULTS,
        **params: Unpack[LivenessOptions],
    ) -> LivenessValue:
        """Verifies the frames of an attempt in a session, in the order of recording."""
        value: LivenessValue = await self._run(
            self._client.send_liveness_frames, session_id, frames, options=options, **params
        )
        return value

    async def enroll(
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
        value: EnrollValue = await self._run(
            self._client.enroll, image, options=options, **params
        )
        return value

    @overload
    async def verify(
        self,
        probe: Images[AnyImage],
        reference: SubjectReference,
        *,
        options: CallOptions = ...,
        **params: Unpack[VerifyOptions],
    ) -> VerifyValue: ...
    @overload
    async def verify(
        self,
        probe: Image,
        reference: Union[SubjectReference, Image],
        *,
        options: CallOptions = ...,
        **params: Unpack[VerifyOptions],
    ) -> VerifyValue: ...
    async def verify(
        self, probe: Any, reference: Any, *, options: CallOptions = _DEFAULTS, **params: Any
    ) -> VerifyValue:
        """Compares a face with another image, or with a subject of the gallery.

        Two to ten images of one person are merged into one probe for a subject.
        """
        value: VerifyValue = await self._run(
            self._client.verify, probe, reference, options=options, **params
        )
        return value

    @overload
    async def identify(
        self,
        sought: Images[AnyImage],
        *,
        sameSubject: Literal[False] = ...,
        options: CallOptions = ...,
        **params: Unpack[IdentifyOptions],
    ) -> List[ItemResult[ImageSearchValue]]: ...
    @overload
    async def identify(
        self,
        sought: Images[AnyImage],
        *,
        sameSubject: Literal[True],
        options: CallOptions = ...,
        **params: Unpack[IdentifyOptions],
    ) -> ImageSearchValue: ...
    @overload
    async def identify(
        self,
        sought: StoredFaceReference,
        *,
        options: CallOptions = ...,
        **params: Unpack[IdentifyOptions],
    ) -> StoredSearchValue: ...
    @overload
    async def identify(
        self, sought: Image, *, options: CallOptions = ..., **params: Unpack[IdentifyOptions]
    ) -> ImageSearchValue: ...
    async def identify(
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
        return await self._run(
            self._client.identify, sought, options=options, sameSubject=sameSubject, **params
        )

    async def update_subject(
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
        value: UpdateSubjectValue = await self._run(
            self._client.update_subject, subject, options=options, image=image, **changes
        )
        return value

    async def delete_subject(
        self, subject: Union[str, SubjectReference], *, options: CallOptions = _DEFAULTS
    ) -> DeleteSubjectValue:
        """Deletes a subject permanently. Its deletion record is kept.

        An external id is resolved first, which needs the permission `subjects:read`.
        """
        value: DeleteSubjectValue = await self._run(
            self._client.delete_subject, subject, options=options
        )
        return value

    async def validate(
        self, action: ActionName, params: Mapping[str, Any], *, options: CallOptions = _DEFAULTS
    ) -> CallValidation:
        """Checks a call, with the parameters of the HTTP API, and returns its price."""
        value: CallValidation = await self._run(
            self._client.validate, action, params, options=options
        )
        return value

    async def execute(
        self, action: ActionName, params: Mapping[str, Any], *, options: CallOptions = _DEFAULTS
    ) -> ActionResponse[Any]:
        """Runs any action, with the parameters and results of the HTTP API."""
        value: ActionResponse[Any] = await self._run(
            self._client.execute, action, params, options=options
        )
        return value

    async def _run(
        self, method: Callable[..., Any], *args: Any, options: CallOptions, **rest: Any
    ) -> Any:
        """Runs a method of the synchronous client, and cancels its call with the task."""
        cancellation = Cancellation()
        if options.cancellation is not None:
            options.cancellation.add(cancellation.cancel)
        options_of_call = replace(options, cancellation=cancellation)
        call = partial(method, *args, options=options_of_call, **rest)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise
        finally:
            if options.cancellation is not None:
                options.cancellation.remove(cancellation.cancel)
