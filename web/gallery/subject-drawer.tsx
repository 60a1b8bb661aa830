import { Button, Group, Skeleton, Text, Title } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { SubjectDeletionFacts } from '../components/confirm/subject-deletion-facts.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { DetailDrawer } from '../components/detail-drawer.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { ShortId } from '../components/names/short-id.tsx'
import { subjectNameOf } from '../format/subject-name.ts'
import { EditSubjectForm } from './edit-subject-form.tsx'
import { FaceTable } from './face-table.tsx'
import { EnrollDrawer, SimilarSubjects, SubjectMatchDays, SubjectVisitors } from './lazy-parts.tsx'
import { SubjectThumbnail, useCroppedFaces } from './subjects/subject-thumbnail.tsx'

const SubjectHealth = lazy(async () => ({
  default: (await import('./health/subject-health.tsx')).SubjectHealth,
}))

type Props = {
  readonly projectId: string
  readonly subjectId: string
  /** Opens another subject, such as a similar one. */
  readonly onOpen: (subjectId: string) => void
  readonly onClose: () => void
}

/** Shows one subject with its templates. Admins can edit, merge or delete it and add faces. */
export function SubjectDrawer({ projectId, subjectId, onOpen, onClose }: Props) {
  const query = useApiQuery('/projects/:projectId/subjects/:subjectId', {
    pathParams: { projectId, subjectId },
  })
  return (
    <DetailDrawer title="Subject" onClose={onClose}>
      <QueryContent query={query}>
        {(subject) => (
          <SubjectDetails
            key={subject.subjectId}
            projectId={projectId}
            subject={subject}
            onOpen={onOpen}
            onClose={onClose}
          />
        )}
      </QueryContent>
    </DetailDrawer>
  )
}

type SubjectDetailsProps = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly onOpen: (subjectId: string) => void
  readonly onClose: () => void
}

function SubjectDetails({ projectId, subject, onOpen, onClose }: SubjectDetailsProps) {
  const mayWrite = useHasRole('admin')
  const [isDeleting, setIsDeleting] = useState(false)
  const [isAdding, setIsAdding] = useState(false)
  const croppedFaces = useCroppedFaces(projectId, [subject.subjectId]).get(subject.subjectId) ?? []
  return (
    <>
      <Group gap="sm" wrap="nowrap">
        <SubjectThumbnail
          projectId={projectId}
          subjectId={subject.subjectId}
          faceId={croppedFaces[0]}
          sizePx={72}
        />
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {subjectNameOf(subject)}
        </Text>
      </Group>
      <DefinitionList
        items={{
          'Subject id': <ShortId label="subject id" id={subject.subjectId} />,
          Enrolled: <UtcTime timestampUtc={subject.createdAtUtc} />,
          Updated: <UtcTime timestampUtc={subject.updatedAtUtc} />,
          'Last seen': <UtcTime timestampUtc={subject.lastSeenAtUtc} />,
          Templates: subject.embeddingCount,
        }}
      />
      <Group justify="space-between">
        <Title order={3}>Templates</Title>
        {mayWrite && (
          <Button size="xs" variant="default" onClick={() => setIsAdding(true)}>
            Add faces
          </Button>
        )}
      </Group>
      <FaceTable projectId={projectId} subject={subject} croppedFaces={croppedFaces} />
      <Suspense fallback={<Skeleton h={60} />}>
        <SubjectHealth projectId={projectId} subject={subject} croppedFaces={croppedFaces} />
      </Suspense>
      <SubjectMatchDays projectId={projectId} subject={subject} />
      <SubjectVisitors projectId={projectId} subject={subject} />
      {mayWrite && <SimilarSubjects projectId={projectId} subject={subject} onOpen={onOpen} />}
      <Title order={3}>Details</Title>
      <EditSubjectForm projectId={projectId} subject={subject} isEditable={mayWrite} />
      {mayWrite && (
        <Group>
          <Button className="fg-danger" size="xs" onClick={() => setIsDeleting(true)}>
            Delete subject
          </Button>
        </Group>
      )}
      {isAdding && (
        <EnrollDrawer
          projectId={projectId}
          subject={subject}
          onOpen={() => setIsAdding(false)}
          onClose={() => setIsAdding(false)}
        />
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
  subject,
  onDone,
  onClose,
}: Omit<SubjectDetailsProps, 'onOpen'> & { readonly onDone: () => void }) {
  const { subjectId } = subject
  const faceId = useCroppedFaces(projectId, [subjectId]).get(subjectId)?.[0]
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
      <Group gap="sm" wrap="nowrap">
        <SubjectThumbnail projectId={projectId} subjectId={subjectId} faceId={faceId} sizePx={72} />
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {subjectNameOf(subject)}
        </Text>
      </Group>
      <SubjectDeletionFacts />
    </ConfirmDialog>
  )
}
