import { Button, Group, Title } from '@mantine/core'
import { useState } from 'react'
import type { Subject } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useAnswer, useSend } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { SideSheet } from '../parts/side-sheet.tsx'
import { Utc } from '../parts/utc.tsx'
import { EditSubject } from './edit-subject.tsx'
import { FaceTable } from './face-table.tsx'

type Parts = {
  readonly projectId: string
  readonly subjectId: string
  readonly onClose: () => void
}

/** One subject: what is known of it, its templates, and its end. */
export function SubjectSheet({ projectId, subjectId, onClose }: Parts) {
  const asked = useAnswer('/projects/:projectId/subjects/:subjectId', {
    parts: { projectId, subjectId },
  })
  return (
    <SideSheet title="Subject" onClose={onClose}>
      <Answered asked={asked}>
        {(subject) => <Content projectId={projectId} subject={subject} onClose={onClose} />}
      </Answered>
    </SideSheet>
  )
}

type ContentParts = {
  readonly projectId: string
  readonly subject: Subject
  readonly onClose: () => void
}

function Content({ projectId, subject, onClose }: ContentParts) {
  const mayWrite = useMay('admin')
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <>
      <Facts
        facts={{
          'Subject id': <span className="fg-mono">{subject.subjectId}</span>,
          Enrolled: <Utc at={subject.createdAtUtc} />,
          Changed: <Utc at={subject.updatedAtUtc} />,
          Templates: subject.embeddingCount,
        }}
      />
      <Title order={3}>Templates</Title>
      <FaceTable projectId={projectId} subject={subject} />
      <Title order={3}>What your programs said</Title>
      <EditSubject
        key={subject.updatedAtUtc}
        projectId={projectId}
        subject={subject}
        mayWrite={mayWrite}
      />
      {mayWrite && (
        <Group>
          <Button className="fg-danger" size="xs" onClick={() => setIsDeleting(true)}>
            Delete the subject
          </Button>
        </Group>
      )}
      {isDeleting && (
        <DeleteSubject
          projectId={projectId}
          subject={subject}
          onDone={onClose}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </>
  )
}

function DeleteSubject({
  projectId,
  subject: { subjectId },
  onDone,
  onClose,
}: ContentParts & { readonly onDone: () => void }) {
  const remove = useSend({
    method: 'DELETE',
    path: '/projects/:projectId/subjects/:subjectId',
    ends: '/projects/:projectId/subjects/:subjectId',
    onDone,
  })
  return (
    <Confirm
      title="Delete this subject"
      word={subjectId.slice(0, 8)}
      verb="Delete for ever"
      isRunning={remove.isPending}
      error={remove.error}
      onConfirm={(confirm) => remove.mutate({ parts: { projectId, subjectId }, body: { confirm } })}
      onClose={onClose}
    >
      All templates, attributes and group links go; answers kept for retries lose every mention. It
      cannot be undone. A record without any of it stays in the deletion ledger.
    </Confirm>
  )
}
