import type { MeasuredGalleryTable } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { TableChangeSummary } from './table-change-summary.tsx'
import type { ScoreTable } from './table-changes.ts'

type Props = {
  readonly measurement: MeasuredGalleryTable
  readonly project: { readonly projectId: string; readonly name: string }
  /** The table that the gallery uses now, if it is not that of the model. */
  readonly current: ScoreTable | undefined
  readonly onApplied: () => void
  readonly onClose: () => void
}

/** Makes the measured table the one of the gallery. Requires the typed name of the project. */
export function ApplyMeasurementDialog(props: Props) {
  const { measurement, project, current, onApplied, onClose } = props
  const path = '/projects/:projectId/calibration/apply'
  const apply = useApiMutation({ method: 'POST', path, onSuccess: onApplied })
  const { projectId, name } = project
  const { measurementId, projects, report } = measurement
  const shipped = report.points.map(({ shippedScore, ...point }) => ({
    ...point,
    score: shippedScore,
  }))
  const others = projects.filter((other) => other.projectId !== projectId)
  return (
    <ConfirmDialog
      title="Apply calibration"
      confirmationText={name}
      confirmLabel="Apply"
      isPending={apply.isPending}
      errorTitle="Couldn't apply the calibration"
      error={apply.error}
      onConfirm={(confirm) =>
        apply.mutate({ pathParams: { projectId }, body: { measurementId, confirm } })
      }
      onClose={onClose}
    >
      The similarities of all actions of this gallery change: from now on, each is a false-match
      rate of this gallery. Thresholds stay as they are and refer to the new rates. Similarities
      from before cannot be compared with those from now on. You can revert to the table of the
      model at any time.
      {others.length > 0 &&
        ` These projects share the gallery: ${others.map((other) => other.name).join(', ')}.`}
      <TableChangeSummary projectId={projectId} before={current ?? shipped} after={report.points} />
    </ConfirmDialog>
  )
}
