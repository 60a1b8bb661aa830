import { Group, Text } from '@mantine/core'
import type { ConsoleSubject } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { shortIdOf, subjectNameOf } from '../../format/subject-name.ts'
import { SubjectThumbnail } from './subject-thumbnail.tsx'

type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly faceId: string
  readonly hasCrop: boolean
  readonly onRemoved: () => void
  readonly onClose: () => void
}

/** Removes one template of a subject after its short id is typed. */
export function RemoveFaceDialog({ projectId, subject, faceId, hasCrop, ...props }: Props) {
  const { subjectId } = subject
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/projects/:projectId/subjects/:subjectId/faces/:faceId',
    onSuccess: props.onRemoved,
  })
  return (
    <ConfirmDialog
      title={`Remove a template of ${subjectNameOf(subject)}`}
      confirmationText={shortIdOf(faceId)}
      confirmLabel="Remove template"
      isPending={remove.isPending}
      errorTitle="Couldn't remove template"
      error={remove.error}
      onConfirm={() => remove.mutate({ pathParams: { projectId, subjectId, faceId } })}
      onClose={props.onClose}
    >
      <Group gap="sm" wrap="nowrap">
        <SubjectThumbnail
          projectId={projectId}
          subjectId={subjectId}
          faceId={hasCrop ? faceId : undefined}
          sizePx={72}
        />
        <Text size="sm">
          <strong>{subjectNameOf(subject)}</strong> is then matched only by the other templates.
          This cannot be undone.
        </Text>
      </Group>
    </ConfirmDialog>
  )
}
