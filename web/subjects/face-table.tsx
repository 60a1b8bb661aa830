import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Subject } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useSend } from '../api/use-api.ts'
import { Confirm } from '../parts/confirm.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Utc } from '../parts/utc.tsx'

type Face = NonNullable<Subject['faces']>[number]
type Parts = { readonly projectId: string; readonly subject: Subject }

/** The templates of a subject: how good each picture was, and which model read it. */
export function FaceTable({ projectId, subject }: Parts) {
  const mayWrite = useMay('admin')
  const [chosen, setChosen] = useState<Face>()
  const faces = subject.faces ?? []
  const remove = useSend({
    method: 'DELETE',
    path: '/projects/:projectId/subjects/:subjectId/faces/:faceId',
    onDone: () => setChosen(undefined),
  })
  // The last template cannot go without its subject.
  const isRemovable = mayWrite && faces.length > 1
  return (
    <>
      <DataTable
        caption="Templates"
        rows={faces}
        keyOf={({ faceId }) => faceId}
        columns={isRemovable ? [...columns, removeColumn(setChosen)] : columns}
        empty={null}
      />
      {chosen && (
        <Confirm
          title="Remove this template"
          word={chosen.faceId.slice(0, 8)}
          verb="Remove"
          isRunning={remove.isPending}
          error={remove.error}
          onConfirm={() =>
            remove.mutate({
              parts: { projectId, subjectId: subject.subjectId, faceId: chosen.faceId },
            })
          }
          onClose={() => setChosen(undefined)}
        >
          The subject is then found by its other templates alone.
        </Confirm>
      )}
    </>
  )
}

const columns: readonly Column<Face>[] = [
  { name: 'Face', mono: true, cell: ({ faceId }) => faceId.slice(0, 8) },
  { name: 'Quality', align: 'right', cell: ({ qualityScore }) => qualityScore },
  { name: 'Model', mono: true, cell: ({ modelId }) => modelId },
  { name: 'Added', cell: ({ createdAtUtc }) => <Utc at={createdAtUtc} /> },
]

function removeColumn(onRemove: (face: Face) => void): Column<Face> {
  return {
    name: 'Actions',
    cell: (face) => (
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
