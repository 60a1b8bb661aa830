import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { subjectNameOf } from '../format/subject-name.ts'
import { SubjectThumbnail } from './subjects/subject-thumbnail.tsx'

type SubjectFace = NonNullable<ConsoleSubject['faces']>[number]
type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  /** The faces with a stored crop. */
  readonly croppedFaces: readonly string[]
}

/** The templates of a subject with the quality of the image and the model. */
export function FaceTable({ projectId, subject, croppedFaces }: Props) {
  const mayWrite = useHasRole('admin')
  const [faceToRemove, setFaceToRemove] = useState<SubjectFace>()
  const faces = subject.faces ?? []
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/projects/:projectId/subjects/:subjectId/faces/:faceId',
    onSuccess: () => setFaceToRemove(undefined),
  })
  // The last template can be deleted only with its subject.
  const isRemovable = mayWrite && faces.length > 1
  return (
    <>
      <DataTable
        caption="Templates"
        rows={faces}
        rowKey={({ faceId }) => faceId}
        columns={[
          ...(croppedFaces.length > 0 ? [cropColumn({ projectId, subject, croppedFaces })] : []),
          ...columns,
          ...(isRemovable ? [removeColumn(setFaceToRemove)] : []),
        ]}
        empty={null}
      />
      {faceToRemove && (
        <ConfirmDialog
          title="Remove template"
          confirmationText={faceToRemove.faceId.slice(0, 8)}
          confirmLabel="Remove template"
          isPending={remove.isPending}
          errorTitle="Couldn't remove template"
          error={remove.error}
          onConfirm={() =>
            remove.mutate({
              pathParams: { projectId, subjectId: subject.subjectId, faceId: faceToRemove.faceId },
            })
          }
          onClose={() => setFaceToRemove(undefined)}
        >
          <Group gap="sm" wrap="nowrap" mb="sm">
            <FaceCrop {...{ projectId, subject, croppedFaces }} faceId={faceToRemove.faceId} />
            <strong style={{ overflowWrap: 'anywhere' }}>{subjectNameOf(subject)}</strong>
          </Group>
          The subject is then matched only by its other templates. This cannot be undone.
        </ConfirmDialog>
      )}
    </>
  )
}

const columns: readonly Column<SubjectFace>[] = [
  { name: 'Face id', isMonospace: true, renderCell: ({ faceId }) => faceId.slice(0, 8) },
  { name: 'Quality', align: 'right', renderCell: ({ qualityScore }) => qualityScore },
  { name: 'Model', isMonospace: true, renderCell: ({ modelId }) => modelId },
  { name: 'Added', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
]

function cropColumn(props: Props): Column<SubjectFace> {
  return { name: 'Crop', renderCell: ({ faceId }) => <FaceCrop {...props} faceId={faceId} /> }
}

function FaceCrop({
  projectId,
  subject,
  croppedFaces,
  faceId,
}: Props & { readonly faceId: string }) {
  return (
    <SubjectThumbnail
      projectId={projectId}
      subjectId={subject.subjectId}
      faceId={croppedFaces.includes(faceId) ? faceId : undefined}
      sizePx={48}
      alt={`Crop of face ${faceId.slice(0, 8)}`}
    />
  )
}

function removeColumn(onRemove: (face: SubjectFace) => void): Column<SubjectFace> {
  return {
    name: 'Actions',
    renderCell: (face) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Remove template ${face.faceId.slice(0, 8)}`}
        onClick={() => onRemove(face)}
      >
        Remove
      </Button>
    ),
  }
}
