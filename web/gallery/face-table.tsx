import { Button } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { RemoveFaceDialog } from './subjects/remove-face-dialog.tsx'
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
        <RemoveFaceDialog
          projectId={projectId}
          subject={subject}
          faceId={faceToRemove.faceId}
          hasCrop={croppedFaces.includes(faceToRemove.faceId)}
          onRemoved={() => setFaceToRemove(undefined)}
          onClose={() => setFaceToRemove(undefined)}
        />
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

function cropColumn({ projectId, subject, croppedFaces }: Props): Column<SubjectFace> {
  return {
    name: 'Crop',
    renderCell: ({ faceId }) => (
      <SubjectThumbnail
        projectId={projectId}
        subjectId={subject.subjectId}
        faceId={croppedFaces.includes(faceId) ? faceId : undefined}
        sizePx={48}
        alt={`Crop of face ${faceId.slice(0, 8)}`}
      />
    ),
  }
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
