import { ApiError } from '../../api/api-error.ts'
import type { ConsoleProject } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { formatLoss } from '../../components/confirm/losses.tsx'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { useSaveProject, useUndoChange } from '../project-change.ts'

type Props = { readonly project: ConsoleProject; readonly onClose: () => void }

/** Switches the storage of crops off. Counts the stored crops first, which this deletes. */
export function StopStoringCropsDialog({ project, onClose }: Props) {
  const { projectId, name } = project
  const losses = useApiQuery('/projects/:projectId/losses', { pathParams: { projectId } })
  const undo = useUndoChange(project)
  const crops = losses.data?.crops
  const count = crops && formatLoss({ count: crops, one: 'stored crop', many: 'stored crops' })
  const { save, isPending, error } = useSaveProject(project, {
    onSuccess: (saved, change) => {
      onClose()
      showUndo({
        message: `Crops are no longer stored. Deleted: ${count ?? 'none'}.`,
        undoLabel: 'Store crops again',
        undo: () => undo(saved, change),
        undoneMessage: 'Crops of new faces are stored again.',
      })
    },
    onError: (cause) => {
      // There are more crops than counted.
      if (cause instanceof ApiError && cause.status === 409) void losses.refetch()
    },
  })
  return (
    <ConfirmDialog
      title="Stop storing crops"
      confirmationText={name}
      confirmLabel={crops?.total === 0 ? 'Stop storing crops' : 'Delete the crops'}
      isReady={crops !== undefined && !losses.isFetching}
      isPending={isPending}
      errorTitle="Couldn't switch off"
      error={error ?? losses.error}
      onConfirm={() =>
        save({ switches: { storeCrops: false }, confirmedLosses: { crops: crops?.total ?? 0 } })
      }
      onClose={onClose}
    >
      {count === undefined ? (
        'Counting the stored crops…'
      ) : (
        <>
          This deletes <strong>{count}</strong> of this project, at once and permanently. Subjects
          and their templates stay and are still matched. After a change of the recognition model,
          subjects without a stored crop must be enrolled again. Switching the setting on again
          stores crops of newly enrolled faces only.
        </>
      )}
    </ConfirmDialog>
  )
}
