import { Button } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { UtcTime } from '../components/utc-time.tsx'

type SubjectFace = NonNullable<ConsoleSubject['faces']>[number]
type Props = { readonly projectId: string; readonly subject: ConsoleSubject }

/** The templates of a subject: how good each picture was, and which model read it. */
export function FaceTable({ projectId, subject }: Props) {
  const mayWrite = useHasRole('admin')
  const [chosen, setChosen] = useState<SubjectFace>()
  const faces = subject.faces ?? []
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/projects/:projectId/subjects/:subjectId/faces/:faceId',
    onSuccess: () => setChosen(undefined),
  })
  // The last template cannot go without its subject.
  const isRemovable = mayWrite && faces.length > 1
  return (
    <>
      <DataTable
        caption="Templates"
        rows={faces}
        rowKey={({ faceId }) => faceId}
        columns={isRemovable ? [...columns, removeColumn(setChosen)] : columns}
        empty={null}
      />
      {chosen && (
        <ConfirmDialog
          title="Remove this template"
          confirmationText={chosen.faceId.slice(0, 8)}
          confirmLabel="Remove"
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() =>
            remove.mutate({
              pathParams: { projectId, subjectId: subject.subjectId, faceId: chosen.faceId },
            })
          }
          onClose={() => setChosen(undefined)}
        >
          The subject is then found by its other templates alone.
        </ConfirmDialog>
      )}
    </>
  )
}

const columns: readonly Column<SubjectFace>[] = [
  { name: 'Face', isMonospace: true, renderCell: ({ faceId }) => faceId.slice(0, 8) },
  { name: 'Quality', align: 'right', renderCell: ({ qualityScore }) => qualityScore },
  { name: 'Model', isMonospace: true, renderCell: ({ modelId }) => modelId },
  { name: 'Added', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
]

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
