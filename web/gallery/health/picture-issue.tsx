import { Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConsoleSubject, CheckedSubject } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApi, useApiMutation } from '../../api/use-api.ts'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { shortIdOf, subjectNameOf, type NamedSubject } from '../../format/subject-name.ts'
import { RemoveFaceDialog } from '../subjects/remove-face-dialog.tsx'
import { SubjectLink } from '../subjects/subject-link.tsx'
import { SubjectThumbnail } from '../subjects/subject-thumbnail.tsx'

type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly picture: CheckedSubject['pictures'][number]
  /** The subject that the picture matches. */
  readonly owner: NamedSubject | null
  readonly hasCrop: boolean
}

const movePath = '/projects/:projectId/subjects/:subjectId/faces/:faceId/move'

/** A wrong or harmful picture, with the buttons that move or remove it. */
export function PictureIssue({ projectId, subject, picture, owner, hasCrop }: Props) {
  const mayWrite = useHasRole('admin')
  const [isRemoving, setIsRemoving] = useState(false)
  const [done, setDone] = useState<string>()
  const { faceId, similarity } = picture
  const move = useMoveFace(projectId, faceId, {
    from: subject,
    to: owner,
    onMoved: (target) => setDone(target && `Moved to ${subjectNameOf(target)}.`),
  })
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <SubjectThumbnail
        projectId={projectId}
        subjectId={done === undefined ? subject.subjectId : (owner?.subjectId ?? '')}
        faceId={hasCrop && done !== removedText ? faceId : undefined}
        sizePx={56}
        alt={`Picture ${shortIdOf(faceId)} of ${subjectNameOf(subject)}`}
      />
      <Stack gap={4} miw={0}>
        <Text size="sm">
          Picture <span className="fg-mono">{shortIdOf(faceId)}</span>
          {similarity !== null && `, similarity to the others ${similarity.toFixed(4)}`}
          {owner && (
            <>
              . It matches <SubjectLink subject={owner} />
            </>
          )}
          . {done}
        </Text>
        {mayWrite && done === undefined && (
          <Group gap="xs">
            {owner && (
              <Button
                size="compact-xs"
                variant="default"
                loading={move.isPending}
                onClick={move.start}
              >
                Move to {subjectNameOf(owner)}
              </Button>
            )}
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Remove picture ${shortIdOf(faceId)}`}
              onClick={() => setIsRemoving(true)}
            >
              Remove
            </Button>
          </Group>
        )}
        <ErrorNotice title="Couldn't move the picture" error={move.error} />
      </Stack>
      {isRemoving && (
        <RemoveFaceDialog
          projectId={projectId}
          subject={subject}
          faceId={faceId}
          hasCrop={hasCrop}
          onRemoved={() => {
            setIsRemoving(false)
            setDone(removedText)
          }}
          onClose={() => setIsRemoving(false)}
        />
      )}
    </Group>
  )
}

const removedText = 'Removed.'

type PictureMove = {
  readonly from: NamedSubject
  readonly to: NamedSubject | null
  /** Receives undefined after an undo. */
  readonly onMoved: (target: NamedSubject | undefined) => void
}

/** Moves a face to the subject that it matches. The undo moves it back. */
function useMoveFace(projectId: string, faceId: string, { from, to, onMoved }: PictureMove) {
  const api = useApi()
  const client = useQueryClient()
  const move = useApiMutation({
    method: 'POST',
    path: movePath,
    onSuccess: () => {
      onMoved(to ?? undefined)
      showUndo({
        message: `The picture was moved to ${to ? subjectNameOf(to) : ''}.`,
        undo: async () => {
          const pathParams = { projectId, subjectId: to?.subjectId ?? '', faceId }
          const body = { targetSubjectId: from.subjectId }
          await api.send('POST', movePath, { pathParams, body })
          onMoved(undefined)
          await client.invalidateQueries()
        },
        undoneMessage: `The picture belongs to ${subjectNameOf(from)} again.`,
      })
    },
  })
  return {
    isPending: move.isPending,
    error: move.error,
    start: () =>
      move.mutate({
        pathParams: { projectId, subjectId: from.subjectId, faceId },
        body: { targetSubjectId: to?.subjectId ?? '' },
      }),
  }
}
