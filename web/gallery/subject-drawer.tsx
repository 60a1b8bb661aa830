import { Button, Group, Title } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { DetailDrawer } from '../components/detail-drawer.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { EditSubjectForm } from './edit-subject-form.tsx'
import { FaceTable } from './face-table.tsx'

type Props = {
  readonly projectId: string
  readonly subjectId: string
  readonly onClose: () => void
}

/** One subject: what is known of it, its templates, and its end. */
export function SubjectDrawer({ projectId, subjectId, onClose }: Props) {
  const asked = useApiQuery('/projects/:projectId/subjects/:subjectId', {
    pathParams: { projectId, subjectId },
  })
  return (
    <DetailDrawer title="Subject" onClose={onClose}>
      <QueryContent query={asked}>
        {(subject) => <SubjectDetails projectId={projectId} subject={subject} onClose={onClose} />}
      </QueryContent>
    </DetailDrawer>
  )
}

type SubjectDetailsProps = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly onClose: () => void
}

function SubjectDetails({ projectId, subject, onClose }: SubjectDetailsProps) {
  const mayWrite = useHasRole('admin')
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <>
      <DefinitionList
        facts={{
          'Subject id': <span className="fg-mono">{subject.subjectId}</span>,
          Enrolled: <UtcTime timestampUtc={subject.createdAtUtc} />,
          Changed: <UtcTime timestampUtc={subject.updatedAtUtc} />,
          Templates: subject.embeddingCount,
        }}
      />
      <Title order={3}>Templates</Title>
      <FaceTable projectId={projectId} subject={subject} />
      <Title order={3}>What your programs said</Title>
      <EditSubjectForm
        key={subject.updatedAtUtc}
        projectId={projectId}
        subject={subject}
        isEditable={mayWrite}
      />
      {mayWrite && (
        <Group>
          <Button className="fg-danger" size="xs" onClick={() => setIsDeleting(true)}>
            Delete the subject
          </Button>
        </Group>
      )}
      {isDeleting && (
        <DeleteSubjectDialog
          projectId={projectId}
          subject={subject}
          onDone={onClose}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </>
  )
}

function DeleteSubjectDialog({
  projectId,
  subject: { subjectId },
  onDone,
  onClose,
}: SubjectDetailsProps & { readonly onDone: () => void }) {
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/projects/:projectId/subjects/:subjectId',
    removedPath: '/projects/:projectId/subjects/:subjectId',
    onSuccess: onDone,
  })
  return (
    <ConfirmDialog
      title="Delete this subject"
      confirmationText={subjectId.slice(0, 8)}
      confirmLabel="Delete for ever"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={(confirm) =>
        remove.mutate({ pathParams: { projectId, subjectId }, body: { confirm } })
      }
      onClose={onClose}
    >
      All templates, attributes and group links go; answers kept for retries lose every mention. It
      cannot be undone. A record without any of it stays in the deletion ledger.
    </ConfirmDialog>
  )
}
