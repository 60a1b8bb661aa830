import { Radio, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import type { ConsoleSubject } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DefinitionList } from '../../components/definition-list.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { shortIdOf, subjectNameOf } from '../../format/subject-name.ts'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatCount } from '../../format/numbers.ts'

type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly otherId: string
  /** Receives the id of the subject that is kept. */
  readonly onMerged: (keptId: string) => void
  readonly onClose: () => void
}

/** Merges two subjects of one person: one keeps its data and receives the faces of the other one. */
export function MergeDialog({ projectId, subject, otherId, ...rest }: Props) {
  const other = useApiQuery('/projects/:projectId/subjects/:subjectId', {
    pathParams: { projectId, subjectId: otherId },
  })
  return (
    <QueryContent query={other}>
      {(found) => <MergeForm projectId={projectId} pair={[subject, found]} {...rest} />}
    </QueryContent>
  )
}

type MergeFormProps = Pick<Props, 'projectId' | 'onMerged' | 'onClose'> & {
  readonly pair: readonly [ConsoleSubject, ConsoleSubject]
}

function MergeForm({ projectId, pair, onMerged, onClose }: MergeFormProps) {
  const [first, second] = pair
  const [keptId, setKeptId] = useState(first.subjectId)
  const [kept, ended] = keptId === first.subjectId ? [first, second] : [second, first]
  const merge = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/subjects/:subjectId/merge',
    // The drawer shows the first subject, which no longer exists if the second one is kept.
    ...(ended === first && { removedPath: '/projects/:projectId/subjects/:subjectId' }),
    onSuccess: ({ subject }) => {
      notifications.show({
        message: `Merged. ${subjectNameOf(subject)} has ${subject.embeddingCount} templates.`,
      })
      onMerged(subject.subjectId)
    },
  })
  return (
    <ConfirmDialog
      title="Merge two subjects"
      confirmationText={shortIdOf(ended.subjectId)}
      confirmLabel="Merge"
      isPending={merge.isPending}
      errorTitle="Couldn't merge the subjects"
      error={merge.error}
      onConfirm={(confirm) =>
        merge.mutate({
          pathParams: { projectId, subjectId: kept.subjectId },
          body: { sourceSubjectId: ended.subjectId, confirm },
        })
      }
      onClose={onClose}
    >
      <Stack gap="sm">
        <Radio.Group label="Keep" value={keptId} onChange={setKeptId}>
          <Stack gap={4} mt={4}>
            {pair.map((subject) => (
              <Radio
                key={subject.subjectId}
                value={subject.subjectId}
                label={`${subjectNameOf(subject)} (${shortIdOf(subject.subjectId)}, ${templatesText(subject.embeddingCount)})`}
              />
            ))}
          </Stack>
        </Radio.Group>
        <LostData ended={ended} kept={kept} />
      </Stack>
    </ConfirmDialog>
  )
}

function templatesText(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'template' : 'templates'}`
}

type LostDataProps = { readonly ended: ConsoleSubject; readonly kept: ConsoleSubject }

/** What a merge moves, what it deletes, and what the deletion ledger keeps. */
function LostData({ ended, kept }: LostDataProps) {
  const attributes = Object.keys(ended.attributes)
  const addedGroups = ended.groups.filter((group) => !kept.groups.includes(group))
  const { embeddingCount: moved } = ended
  return (
    <>
      <Text size="sm">
        Moved to <strong>{subjectNameOf(kept)}</strong>: {templatesText(moved)}
        {addedGroups.length > 0 && `, and the membership in ${addedGroups.join(', ')}`}. It then has{' '}
        {templatesText(moved + kept.embeddingCount)}. The subject{' '}
        <strong>{subjectNameOf(ended)}</strong> is deleted. This cannot be undone. These data are
        lost:
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
        The subject is removed from stored responses. The deletion ledger permanently keeps: the ids
        of the record, the subject and the account, the external id, the names of the groups, and
        the time, with 0 deleted templates.
      </Text>
    </>
  )
}
