import type { ConsoleProject } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { formatQuantity } from '../../format/numbers.ts'
import { useSaveProject, useUndoChange } from '../project-change.ts'

type Props = { readonly project: ConsoleProject; readonly onClose: () => void }

/** Switches the storage of unknown people off. Counts those that are stored. */
export function StopStoringVisitorsDialog({ project, onClose }: Props) {
  const { projectId, name, visitorRetentionDays } = project
  const losses = useApiQuery('/projects/:projectId/losses', { pathParams: { projectId } })
  const undo = useUndoChange(project)
  const { save, isPending, error } = useSaveProject(project, {
    onSuccess: (saved, change) => {
      onClose()
      showUndo({
        message: 'Unknown people are no longer stored.',
        undo: () => undo(saved, change),
        undoneMessage: 'Unknown people are stored again.',
      })
    },
  })
  const visitors = losses.data?.deletion.visitors
  return (
    <ConfirmDialog
      title="Stop storing unknown people"
      confirmationText={name}
      confirmLabel="Stop storing"
      isReady={visitors !== undefined}
      isPending={isPending}
      errorTitle="Couldn't switch off"
      error={error ?? losses.error}
      onConfirm={() => save({ switches: { unknownPeople: false } })}
      onClose={onClose}
    >
      {visitors === undefined ? (
        'Counting the visitors…'
      ) : (
        <>
          svc.identify then stores and recognizes no visitor. This project has{' '}
          <strong>{formatQuantity(visitors, 'visitor')}</strong>. Each is permanently deleted{' '}
          {formatQuantity(visitorRetentionDays, 'day')} after its last picture. To delete all of
          them at once, run <code>facegate visitor delete --all --project {name}</code>.
        </>
      )}
    </ConfirmDialog>
  )
}
