import type { ConsoleVisitor } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { formatQuantity } from '../../format/numbers.ts'
import { shortIdOf } from '../../format/subject-name.ts'
import { VisitorSummary } from './visitor-summary.tsx'

type Props = {
  readonly projectId: string
  readonly visitor: ConsoleVisitor
  readonly onDeleted: () => void
  readonly onClose: () => void
}

/** Deletes a visitor after its short id is typed. */
export function DeleteVisitorDialog({ projectId, visitor, onDeleted, onClose }: Props) {
  const { visitorId, embeddingCount } = visitor
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/projects/:projectId/visitors/:visitorId',
    removedPath: '/projects/:projectId/visitors/:visitorId',
    onSuccess: onDeleted,
  })
  return (
    <ConfirmDialog
      title="Delete visitor"
      confirmationText={shortIdOf(visitorId)}
      confirmLabel="Delete permanently"
      isPending={remove.isPending}
      errorTitle="Couldn't delete visitor"
      error={remove.error}
      onConfirm={(confirm) =>
        remove.mutate({ pathParams: { projectId, visitorId }, body: { confirm } })
      }
      onClose={onClose}
    >
      <VisitorSummary projectId={projectId} visitor={visitor} />
      <p>
        This deletes {formatQuantity(embeddingCount, 'template')}, and the stored pictures. It
        cannot be undone. The next picture of the person creates a new visitor. The deletion is
        recorded permanently.
      </p>
    </ConfirmDialog>
  )
}
