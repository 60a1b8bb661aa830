import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { DefinitionList } from '../../components/definition-list.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatCount } from '../../format/numbers.ts'
import { shortIdOf, subjectNameOf } from '../../format/subject-name.ts'
import { SubjectChoice } from '../subjects/named-faces.tsx'

/** A completed merge. */
export type Merge = {
  readonly mergeId: string
  readonly kept: ConsoleSubject
  readonly ended: ConsoleSubject
}

type Props = {
  readonly projectId: string
  /** The first one is kept, unless the user chooses the other one. */
  readonly pair: readonly [ConsoleSubject, ConsoleSubject]
  /** The subject that the page shows. If it is not kept, it is not fetched again. */
  readonly shownId?: string
  readonly onMerged: (merge: Merge) => void
  readonly onClose: () => void
}

/** Merges two subjects of one person: one keeps its data and receives the faces of the other one. */
export function MergeDialog({ projectId, pair, shownId, onMerged, onClose }: Props) {
  const [first, second] = pair
  const [keptId, setKeptId] = useState(first.subjectId)
  const [kept, ended] = keptId === first.subjectId ? [first, second] : [second, first]
  const merge = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/subjects/:subjectId/merge',
    ...(ended.subjectId === shownId && {
      removedPath: '/projects/:projectId/subjects/:subjectId' as const,
    }),
    onSuccess: ({ mergeId }) => onMerged({ mergeId, kept, ended }),
  })
  // A merge can be undone, so that no text must be typed. The route requires the start of the id.
  const body = { sourceSubjectId: ended.subjectId, confirm: shortIdOf(ended.subjectId) }
  return (
    <Modal
      opened
      onClose={onClose}
      title="Merge two subjects"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          merge.mutate({ pathParams: { projectId, subjectId: kept.subjectId }, body })
        }}
      >
        <Stack gap="sm">
          <SubjectChoice
            projectId={projectId}
            label="Keep"
            subjects={pair}
            value={keptId}
            onChange={setKeptId}
            sizePx={56}
            remarkOf={({ embeddingCount }) => templatesText(embeddingCount)}
          />
          <MovedData ended={ended} kept={kept} />
          <ErrorNotice title="Couldn't merge the subjects" error={merge.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={merge.isPending} data-autofocus>
              Merge
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function templatesText(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'template' : 'templates'}`
}

type MovedDataProps = { readonly ended: ConsoleSubject; readonly kept: ConsoleSubject }

/** What a merge moves and what it deletes until it is undone. */
function MovedData({ ended, kept }: MovedDataProps) {
  const attributes = Object.keys(ended.attributes)
  const addedGroups = ended.groups.filter((group) => !kept.groups.includes(group))
  const { embeddingCount: moved } = ended
  return (
    <>
      <Text size="sm">
        Moved to <strong>{subjectNameOf(kept)}</strong>: {templatesText(moved)}
        {addedGroups.length > 0 && `, and the membership in ${addedGroups.join(', ')}`}. It then has{' '}
        {templatesText(moved + kept.embeddingCount)}. The subject{' '}
        <strong>{subjectNameOf(ended)}</strong> is deleted with these data:
      </Text>
      <DefinitionList
        items={{
          'Subject id': <span className="fg-mono">{ended.subjectId}</span>,
          Name: ended.displayName ?? '–',
          'External id': ended.externalId ?? '–',
          Attributes: attributes.join(', ') || '–',
          Expires: <UtcTime timestampUtc={ended.expiresAtUtc} fallback="Never" />,
        }}
      />
      <Text size="sm">
        The merge can be undone for 30 days on the page Gallery health: the subject then exists
        again with its data and faces, and with a new subject id. The deletion ledger permanently
        keeps the deletion of the former id.
      </Text>
    </>
  )
}
