"""The routes of subjects, groups, deletion records and liveness sessions. They are free."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Mapping, Optional

from .contract import (
    DeletionFilter,
    DeletionPage,
    DeletionRecord,
    GetSubjectQuery,
    Group,
    GroupDeletion,
    GroupFilter,
    GroupPage,
    ListDeletionsQuery,
    ListGroupsQuery,
    ListSubjectsQuery,
    LivenessSession,
    Subject,
    SubjectFilter,
    SubjectPage,
)
from .options import CallOptions
from .requests import body_reader, route_request

if TYPE_CHECKING:
    from typing_extensions import Unpack

Send = Callable[..., Any]
"""Sends a request: the request, the reader of its response, the options of the call."""

_DEFAULTS = CallOptions()


class Subjects:
    def __init__(self, send: Send) -> None:
        self._send = send

    def page(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[ListSubjectsQuery]
    ) -> SubjectPage:
        """One page and the cursor of the next one, `nextCursor`."""
        page: SubjectPage = self._send(
            route_request("GET", "/v1/subjects", query=query), body_reader("items"), options
        )
        return page

    def list(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[SubjectFilter]
    ) -> Iterator[Subject]:
        """Every subject that matches, by default oldest first. Pages are fetched as needed."""
        return _items(self._send, "/v1/subjects", query, options)

    def get(
        self,
        subject_id: str,
        *,
        options: CallOptions = _DEFAULTS,
        **query: Unpack[GetSubjectQuery],
    ) -> Subject:
        """Raises SubjectNotFoundError."""
        request = route_request("GET", "/v1/subjects/{subjectId}", subject_id, query)
        subject: Subject = self._send(request, body_reader("subjectId", "SUBJECT_NOT_FOUND"), options)
        return subject


class Groups:
    def __init__(self, send: Send) -> None:
        self._send = send

    def page(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[ListGroupsQuery]
    ) -> GroupPage:
        page: GroupPage = self._send(
            route_request("GET", "/v1/groups", query=query), body_reader("items"), options
        )
        return page

    def list(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[GroupFilter]
    ) -> Iterator[Group]:
        """Every group, by name."""
        return _items(self._send, "/v1/groups", query, options)

    def delete(
        self, name: str, *, dry_run: bool = False, options: CallOptions = _DEFAULTS
    ) -> GroupDeletion:
        """Deletes every subject of the group permanently; with `dry_run` it only counts them.

        It is not retried when the connection breaks: `deletions.list` returns what was deleted.
        Raises GroupNotFoundError.
        """
        query = {"dryRun": True} if dry_run else None
        request = route_request("DELETE", "/v1/groups/{name}", name, query)
        deletion: GroupDeletion = self._send(request, body_reader("deletedCount", "GROUP_NOT_FOUND"), options)
        return deletion


class Deletions:
    def __init__(self, send: Send) -> None:
        self._send = send

    def page(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[ListDeletionsQuery]
    ) -> DeletionPage:
        page: DeletionPage = self._send(
            route_request("GET", "/v1/deletions", query=query), body_reader("items"), options
        )
        return page

    def list(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[DeletionFilter]
    ) -> Iterator[DeletionRecord]:
        """Every deletion record that matches, by default newest first."""
        return _items(self._send, "/v1/deletions", query, options)


class LivenessSessions:
    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self,
        *,
        steps: Optional[int] = None,
        request_id: Optional[str] = None,
        options: CallOptions = _DEFAULTS,
    ) -> LivenessSession:
        """Creates a session: movements that a person shows, in up to three attempts.

        Send the frames with `send_liveness_frames`.
        """
        body: Dict[str, Any] = {"requestId": request_id or str(uuid.uuid4())}
        if steps is not None:
            body["steps"] = steps
        request = route_request("POST", "/v1/liveness/sessions", body=body)
        session: LivenessSession = self._send(request, body_reader("sessionId"), options)
        return session

    def get(
        self,
        session_id: str,
        *,
        reference_frame: bool = False,
        options: CallOptions = _DEFAULTS,
    ) -> LivenessSession:
        """Raises LivenessSessionNotFoundError."""
        request = route_request(
            "GET",
            "/v1/liveness/sessions/{sessionId}",
            path_param=session_id,
            query={"referenceFrame": reference_frame},
        )
        read = body_reader("sessionId", "LIVENESS_SESSION_NOT_FOUND")
        session: LivenessSession = self._send(request, read, options)
        return session


def _items(send: Send, route: str, query: Mapping[str, Any], options: CallOptions) -> Iterator[Any]:
    cursor: Optional[str] = None
    while True:
        request = route_request("GET", route, query={**query, "cursor": cursor})
        page = send(request, body_reader("items"), options)
        yield from page["items"]
        cursor = page.get("nextCursor")
        if cursor is None:
            return
