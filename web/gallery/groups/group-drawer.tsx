import { Button, Group, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { ConsoleSubject } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import type { Column } from '../../lists/data-table.tsx'
import { ListPanel } from '../../lists/list-panel.tsx'
import { SubjectThumbnail, useCroppedFaces } from '../subjects/subject-thumbnail.tsx'
import { DeleteGroupDialog } from './delete-group-dialog.tsx'
import { RenameGroupDialog } from './rename-group-dialog.tsx'

type Props = {
  readonly projectId: string
  readonly name: string
  readonly onRenamed: (name: string) => void
  readonly onClose: () => void
}

/** The people of a group with their faces. Admins add, remove, rename and delete. */
export function GroupDrawer({ projectId, name, onRenamed, onClose }: Props) {
  const mayWrite = useHasRole('admin')
  const [dialog, setDialog] = useState<'rename' | 'delete'>()
  const close = (): void => setDialog(undefined)
  return (
    <DetailDrawer title={`Group ${name}`} onClose={onClose}>
      {mayWrite && (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => setDialog('rename')}>
            Rename
          </Button>
          <Button size="xs" className="fg-danger" onClick={() => setDialog('delete')}>
            Delete subjects
          </Button>
        </Group>
      )}
      <GroupMembers projectId={projectId} name={name} mayWrite={mayWrite} />
      {mayWrite && <AddPeople projectId={projectId} name={name} />}
      {dialog === 'rename' && (
        <RenameGroupDialog
          projectId={projectId}
          name={name}
          onRenamed={(renamed) => {
            close()
            onRenamed(renamed)
          }}
          onClose={close}
        />
      )}
      {dialog === 'delete' && (
        <DeleteGroupDialog projectId={projectId} name={name} onClose={close} />
      )}
    </DetailDrawer>
  )
}

type GroupPart = Pick<Props, 'projectId' | 'name'>

const pageRows = 25

function GroupMembers({ projectId, name, mayWrite }: GroupPart & { readonly mayWrite: boolean }) {
  const [cursor, setCursor] = useState<string>()
  const query = useApiQuery('/projects/:projectId/subjects', {
    pathParams: { projectId },
    query: { group: name, cursor, limit: pageRows },
  })
  const { change, error } = useMembership(projectId)
  const personColumn = usePersonColumn(projectId, query.data?.items ?? [])
  return (
    <>
      <Title order={3}>People</Title>
      <ErrorNotice title="Couldn't remove the person" error={error} />
      <ListPanel
        caption="People of the group"
        query={query}
        rowKey={({ subjectId }) => subjectId}
        columns={[
          personColumn,
          ...(mayWrite
            ? [buttonColumn('Remove', (subject) => change(subject, { removeGroups: [name] }))]
            : []),
        ]}
        cursor={cursor}
        onCursorChange={setCursor}
        empty={<EmptyState title="No people">A group without people no longer exists.</EmptyState>}
      />
    </>
  )
}

const searchDelayMs = 250
const foundMax = 5

/** Finds subjects that are not in the group by their name or id, and adds them. */
function AddPeople({ projectId, name }: GroupPart) {
  const [typed, setTyped] = useState('')
  const [searched] = useDebouncedValue(typed.trim(), searchDelayMs)
  const query = useApiQuery('/projects/:projectId/subjects', {
    pathParams: { projectId },
    query: { q: searched, limit: pageRows },
    enabled: searched !== '',
  })
  const { change, error } = useMembership(projectId)
  const found = (query.data?.items ?? []).filter(({ groups }) => !groups.includes(name))
  const others = { items: found.slice(0, foundMax), nextCursor: null, previousCursor: null }
  const personColumn = usePersonColumn(projectId, others.items)
  return (
    <>
      <Title order={3}>Add people</Title>
      <TextInput
        label="Name or id"
        maxLength={128}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <ErrorNotice title="Couldn't add the person" error={error ?? query.error} />
      {searched !== '' && query.data && (
        <ListPanel
          caption="People to add"
          query={{ ...query, data: others }}
          rowKey={({ subjectId }) => subjectId}
          columns={[
            personColumn,
            buttonColumn('Add', (subject) => change(subject, { addGroups: [name] })),
          ]}
          cursor={undefined}
          onCursorChange={() => {}}
          empty={
            <EmptyState title="No other people">
              No subject outside the group has this name or id.
            </EmptyState>
          }
        />
      )}
    </>
  )
}

type MembershipChange = { readonly addGroups?: [string]; readonly removeGroups?: [string] }

/** Returns a function that changes the groups of one subject. */
function useMembership(projectId: string) {
  const send = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/subjects/groups',
    onSuccess: ({ items }) => {
      for (const { message } of items) if (message !== undefined) notifications.show({ message })
    },
  })
  const change = ({ subjectId }: ConsoleSubject, groups: MembershipChange): void =>
    send.mutate({ pathParams: { projectId }, body: { subjectIds: [subjectId], ...groups } })
  return { change, error: send.error }
}

function usePersonColumn(
  projectId: string,
  people: readonly ConsoleSubject[],
): Column<ConsoleSubject> {
  const crops = useCroppedFaces(
    projectId,
    people.map(({ subjectId }) => subjectId),
  )
  return {
    name: 'Person',
    renderCell: (subject): ReactNode => (
      <Group gap="xs" wrap="nowrap">
        <SubjectThumbnail
          projectId={projectId}
          subjectId={subject.subjectId}
          faceId={crops.get(subject.subjectId)?.[0]}
          sizePx={48}
        />
        <Link to="/subjects" search={{ projectId, subject: subject.subjectId }}>
          {subjectNameOf(subject)}
        </Link>
      </Group>
    ),
  }
}

function buttonColumn(
  label: 'Add' | 'Remove',
  onPress: (subject: ConsoleSubject) => void,
): Column<ConsoleSubject> {
  return {
    name: 'Actions',
    renderCell: (subject) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`${label} ${subjectNameOf(subject)}`}
        onClick={() => onPress(subject)}
      >
        {label}
      </Button>
    ),
  }
}
