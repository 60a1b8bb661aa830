import type { GalleryCalibration } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { TableChangeSummary } from './calibration/table-change-summary.tsx'

type Props = { readonly calibration: GalleryCalibration; readonly onClose: () => void }

/** Returns a gallery to the table of the model. Requires the typed name of its project. */
export function RevertCalibrationDialog({ calibration, onClose }: Props) {
  const path = '/projects/:projectId/calibration/revert'
  const revert = useApiMutation({ method: 'POST', path, onSuccess: onClose })
  const [project] = calibration.projects
  const { projectId = '', name = '' } = project ?? {}
  const { points } = calibration
  const ofModel = points.map(({ modelScore, ...point }) => ({ ...point, score: modelScore }))
  return (
    <ConfirmDialog
      title="Revert calibration"
      confirmationText={name}
      confirmLabel="Revert"
      isPending={revert.isPending}
      errorTitle="Couldn't revert the calibration"
      error={revert.error}
      onConfirm={(confirm) => revert.mutate({ pathParams: { projectId }, body: { confirm } })}
      onClose={onClose}
    >
      Similarities and thresholds of this gallery use the table of the model again. To use a
      measured table later, calibrate the gallery again.
      {calibration.isUsed && (
        <TableChangeSummary projectId={projectId} before={points} after={ofModel} />
      )}
    </ConfirmDialog>
  )
}
