import { Button, Group, Text, Title } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleVisitor } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { DefinitionList } from '../../components/definition-list.tsx'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { ShortId } from '../../components/names/short-id.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatCount } from '../../format/numbers.ts'
import { shortIdOf } from '../../format/subject-name.ts'
import { SubjectThumbnail, useCroppedFaces } from '../subjects/subject-thumbnail.tsx'
import { DeleteVisitorDialog } from './delete-visitor-dialog.tsx'
import { EnrollVisitorDialog } from './enroll-visitor-dialog.tsx'
import { MergeVisitorDialog } from './merge-visitor-dialog.tsx'

type Props = {
  readonly projectId: string
  readonly visitorId: string
  readonly onClose: () => void
}

/** Shows one unknown person. Admins can enroll, merge, ignore or delete it. */
export function VisitorDrawer({ projectId, visitorId, onClose }: Props) {
  const query = useApiQuery('/projects/:projectId/visitors/:visitorId', {
    pathParams: { projectId, visitorId },
  })
  return (
    <DetailDrawer title="Visitor" onClose={onClose}>
      <QueryContent query={query}>
        {(visitor) => (
          <>
            <VisitorFaces projectId={projectId} visitor={visitor} />
            <DefinitionList
              items={{
                'Visitor id': <ShortId label="visitor id" id={visitor.visitorId} />,
                Pictures: formatCount(visitor.visitCount),
                'Last seen': <UtcTime timestampUtc={visitor.lastSeenAtUtc} />,
                'First seen': <UtcTime timestampUtc={visitor.firstSeenAtUtc} />,
                Templates: formatCount(visitor.embeddingCount),
                Events: visitor.ignored ? 'None: the visitor is ignored' : 'Sent',
              }}
            />
            <VisitorChanges projectId={projectId} visitor={visitor} onClose={onClose} />
          </>
        )}
      </QueryContent>
    </DetailDrawer>
  )
}

type VisitorProps = { readonly projectId: string; readonly visitor: ConsoleVisitor }

/** The stored crops, the best one first. */
function VisitorFaces({ projectId, visitor: { visitorId } }: VisitorProps) {
  const faceIds = useCroppedFaces(projectId, [visitorId]).get(visitorId) ?? []
  if (faceIds.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No picture is stored. With Store crops on, later pictures of the visitor are.
      </Text>
    )
  return (
    <Group gap="xs">
      {faceIds.map((faceId, index) => (
        <SubjectThumbnail
          key={faceId}
          projectId={projectId}
          subjectId={visitorId}
          faceId={faceId}
          sizePx={96}
          alt={`Picture ${index + 1} of visitor ${shortIdOf(visitorId)}`}
        />
      ))}
    </Group>
  )
}

type ChangesProps = VisitorProps & { readonly onClose: () => void }

function VisitorChanges({ projectId, visitor, onClose }: ChangesProps) {
  const { visitorId, ignored } = visitor
  const mayWrite = useHasRole('admin')
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'enroll' | 'merge' | 'delete'>()
  const ignore = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/visitors/:visitorId/ignore',
  })
  if (!mayWrite) return null
  const dialogProps = { projectId, visitor, onClose: () => setDialog(undefined) }
  const openSubject = (subjectId: string): void =>
    void navigate({ to: '/subjects', search: { projectId, subject: subjectId } })
  return (
    <>
      <Title order={3}>Actions</Title>
      <Group gap="xs">
        <Button size="xs" onClick={() => setDialog('enroll')}>
          Enroll as a subject
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('merge')}>
          Merge with a subject
        </Button>
        <Button
          size="xs"
          variant="default"
          loading={ignore.isPending}
          onClick={() =>
            ignore.mutate({ pathParams: { projectId, visitorId }, body: { ignored: !ignored } })
          }
        >
          {ignored ? 'Send events again' : 'Ignore'}
        </Button>
        <Button size="xs" className="fg-danger" onClick={() => setDialog('delete')}>
          Delete visitor
        </Button>
      </Group>
      <ErrorNotice title="Couldn't change the visitor" error={ignore.error} />
      {dialog === 'enroll' && <EnrollVisitorDialog {...dialogProps} onEnrolled={openSubject} />}
      {dialog === 'merge' && <MergeVisitorDialog {...dialogProps} onMerged={openSubject} />}
      {dialog === 'delete' && <DeleteVisitorDialog {...dialogProps} onDeleted={onClose} />}
    </>
  )
}
