import type { ConsoleProject, ProjectLosses } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { formatLoss } from '../components/confirm/losses.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { formatQuantity } from '../format/numbers.ts'

type Props = {
  readonly project: ConsoleProject
  /** The new number of days; null: the default of the service. */
  readonly retentionDays: number | null
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: (confirmedSubjects: number) => void
  readonly onClose: () => void
}

/** Confirms a retention that may be shorter. Counts the subjects that its next run deletes. */
export function ChangeRetentionDialog(props: Props) {
  const { project, retentionDays, error } = props
  const { projectId, name } = project
  const losses = useApiQuery('/projects/:projectId/losses', {
    pathParams: { projectId },
    query: { retentionDays: retentionDays ?? 'default' },
  })
  const retention = losses.data?.retention
  return (
    <ConfirmDialog
      title="Change the retention"
      confirmationText={name}
      confirmLabel="Save"
      isReady={retention !== undefined && !losses.isFetching}
      isPending={props.isPending}
      errorTitle="Couldn't save settings"
      error={error ?? losses.error}
      onConfirm={() => props.onConfirm(retention?.subjects.total ?? 0)}
      onClose={props.onClose}
    >
      {retention === undefined ? (
        'Counting the affected subjects…'
      ) : (
        <RetentionEffect retention={retention} />
      )}
    </ConfirmDialog>
  )
}

type RetentionEffectProps = {
  readonly retention: NonNullable<ProjectLosses['retention']>
}

function RetentionEffect({ retention }: RetentionEffectProps) {
  const { days, previousDays, subjects, beforeUtc, intervalS } = retention
  if (days >= previousDays)
    return `The retention changes from ${previousDays} to ${formatQuantity(days, 'day')}. It deletes no subject earlier than before.`
  return (
    <>
      <p>
        The retention changes from {previousDays} to {formatQuantity(days, 'day')}. The next run
        permanently deletes{' '}
        <strong>{formatLoss({ count: subjects, one: 'subject', many: 'subjects' })}</strong> of this
        project, with no activity since <UtcTime timestampUtc={beforeUtc} /> (UTC). Later runs
        delete each further subject after {formatQuantity(days, 'day')} without activity.
      </p>
      <p>
        The deletion runs every {intervalS} seconds. Until its next run nothing is lost, and the
        earlier retention can be restored. Deleted subjects must be enrolled again.
      </p>
    </>
  )
}
