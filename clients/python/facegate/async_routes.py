"""The routes of subjects, groups, deletion records and liveness sessions, for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Mapping, Optional

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
from .routes import Deletions, Groups, LivenessSessions, Subjects

if TYPE_CHECKING:
    from typing_extensions import Unpack

Run = Callable[..., Any]
"""Runs a method of the synchronous client: the method, its arguments, its options."""

_DEFAULTS = CallOptions()


class AsyncSubjects:
    def __init__(self, subjects: Subjects, run: Run) -> None:
        self._subjects = subjects
        self._run = run

    async def page(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[ListSubjectsQuery]
    ) -> SubjectPage:
        """One page and the cursor of the next one, `nextCursor`."""
        page: SubjectPage = await self._run(self._subjects.page, options=options, **query)
        return page

    def list(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[SubjectFilter]
    ) -> AsyncIterator[Subject]:
        """Every subject that matches, by default oldest first. Pages are fetched as needed."""
        return _items(self._run, self._subjects.page, query, options)

    async def get(
        self,
        subject_id: str,
        *,
        options: CallOptions = _DEFAULTS,
        **query: Unpack[GetSubjectQuery],
    ) -> Subject:
        """Raises SubjectNotFoundError."""
        get = self._subjects.get
        subject: Subject = await self._run(get, subject_id, options=options, **query)
        return subject


class AsyncGroups:
    def __init__(self, groups: Groups, run: Run) -> None:
        self._groups = groups
        self._run = run

    async def page(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[ListGroupsQuery]
    ) -> GroupPage:
        page: GroupPage = await self._run(self._groups.page, options=options, **query)
        return page

    def list(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[GroupFilter]
    ) -> AsyncIterator[Group]:
        """Every group, by name."""
        return _items(self._run, self._groups.page, query, options)

    async def delete(
        self, name: str, *, dry_run: bool = False, options: CallOptions = _DEFAULTS
    ) -> GroupDeletion:
        """Deletes every subject of the group permanently; with `dry_run` it only counts them.

        It is not retried when the connection breaks: `deletions.list` returns what was deleted.
        Raises GroupNotFoundError.
        """
        delete = self._groups.delete
        deletion: GroupDeletion = await self._run(delete, name, options=options, dry_run=dry_run)
        return deletion


class AsyncDeletions:
    def __init__(self, deletions: Deletions, run: Run) -> None:
        self._deletions = deletions
        self._run = run

    async def page(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[ListDeletionsQuery]
    ) -> DeletionPage:
        page: DeletionPage = await self._run(self._deletions.page, options=options, **query)
        return page

    def list(
        self, *, options: CallOptions = _DEFAULTS, **query: Unpack[DeletionFilter]
    ) -> AsyncIterator[DeletionRecord]:
        """Every deletion record that matches, by default newest first."""
        return _items(self._run, self._deletions.page, query, options)


class AsyncLivenessSessions:
    def __init__(self, sessions: LivenessSessions, run: Run) -> None:
        self._sessions = sessions
        self._run = run

    async def create(
        self,
        *,
        steps: Optional[int] = None,
        request_id: Optional[str] = None,
        options: CallOptions = _DEFAULTS,
    ) -> LivenessSession:
        """Creates a session: movements that a person shows, in up to three attempts.

        Send the frames with `send_liveness_frames`.
        """
        create = self._sessions.create
        session: LivenessSession = await self._run(
            create, options=options, steps=steps, request_id=request_id
        )
        return session

    async def get(
        self,
        session_id: str,
        *,
        reference_frame: bool = False,
        options: CallOptions = _DEFAULTS,
    ) -> LivenessSession:
        """Raises LivenessSessionNotFoundError."""
        session: LivenessSession = await self._run(
            self._sessions.get, session_id, options=options, reference_frame=reference_frame
        )
        return session


async def _items(
    run: Run, get_page: Callable[..., Any], query: Mapping[str, Any], options: CallOptions
) -> AsyncIterator[Any]:
    cursor: Dict[str, str] = {}
    while True:
        page = await run(get_page, options=options, **{**query, **cursor})
        for item in page["items"]:
            yield item
        if page["nextCursor"] is None:
            return
        cursor = {"cursor": page["nextCursor"]}
