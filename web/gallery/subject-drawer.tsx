import { Button, Group, Title } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { SubjectDeletionFacts } from '../components/confirm/subject-deletion-facts.tsx'
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

/** Shows one subject with its templates. Admins can edit or delete it. */
export function SubjectDrawer({ projectId, subjectId, onClose }: Props) {
  const query = useApiQuery('/projects/:projectId/subjects/:subjectId', {
    pathParams: { projectId, subjectId },
  })
  return (
    <DetailDrawer title="Subject" onClose={onClose}>
      <QueryContent query={query}>
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
        items={{
          'Subject id': <span className="fg-mono">{subject.subjectId}</span>,
          Enrolled: <UtcTime timestampUtc={subject.createdAtUtc} />,
          Updated: <UtcTime timestampUtc={subject.updatedAtUtc} />,
          Templates: subject.embeddingCount,
        }}
      />
      <Title order={3}>Templates</Title>
      <FaceTable projectId={projectId} subject={subject} />
      <Title order={3}>Details</Title>
      <EditSubjectForm
        key={subject.updatedAtUtc}
        projectId={projectId}
        subject={subject}
        isEditable={mayWrite}
      />
      {mayWrite && (
        <Group>
          <Button className="fg-danger" size="xs" onClick={() => setIsDeleting(true)}>
            Delete subject
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
      title="Delete subject"
      confirmationText={subjectId.slice(0, 8)}
      confirmLabel="Delete permanently"
      isPending={remove.isPending}
      errorTitle="Couldn't delete subject"
      error={remove.error}
      onConfirm={(confirm) =>
        remove.mutate({ pathParams: { projectId, subjectId }, body: { confirm } })
      }
      onClose={onClose}
    >
      <SubjectDeletionFacts />
    </ConfirmDialog>
  )
}
