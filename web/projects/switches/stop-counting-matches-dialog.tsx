import type { ConsoleProject } from '../../api/responses.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { useSaveProject, useUndoChange } from '../project-change.ts'

type Props = { readonly project: ConsoleProject; readonly onClose: () => void }

/** Switches the counting of matches off, which deletes the counts. */
export function StopCountingMatchesDialog({ project, onClose }: Props) {
  const undo = useUndoChange(project)
  const { save, isPending, error } = useSaveProject(project, {
    onSuccess: (saved, change) => {
      onClose()
      showUndo({
        message: 'Matches per day are no longer counted. The counts were deleted.',
        undoLabel: 'Count matches again',
        undo: () => undo(saved, change),
        undoneMessage: 'Matches per day are counted again, from now on.',
      })
    },
  })
  return (
    <ConfirmDialog
      title="Stop counting matches"
      confirmationText={project.name}
      confirmLabel="Delete the counts"
      isPending={isPending}
      errorTitle="Couldn't switch off"
      error={error}
      onConfirm={() => save({ switches: { matchDays: false } })}
      onClose={onClose}
    >
      This deletes the matches per day of all people that calls of this project have matched, at
      once and permanently. Switching the setting on again counts later calls only.
    </ConfirmDialog>
  )
}
