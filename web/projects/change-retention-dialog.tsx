import type { ConsoleProject, ProjectLosses } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { formatLoss } from '../components/confirm/losses.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { formatQuantity } from '../format/numbers.ts'
import type { ProjectPatch } from './project-change.ts'

type Props = {
  readonly project: ConsoleProject
  /** Null: the default of the service. */
  readonly change: Pick<ProjectPatch, 'retentionDays' | 'visitorRetentionDays'>
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: (confirmed: ProjectPatch['confirmedLosses']) => void
  readonly onClose: () => void
}

/** Confirms a retention that may be shorter. Counts what its next run deletes. */
export function ChangeRetentionDialog({ project, change, error, onConfirm, ...props }: Props) {
  const { projectId, name } = project
  const { retentionDays, visitorRetentionDays } = change
  const losses = useApiQuery('/projects/:projectId/losses', {
    pathParams: { projectId },
    query: {
      retentionDays: retentionDays === null ? 'default' : retentionDays,
      visitorRetentionDays,
    },
  })
  const { retention, visitorRetention } = losses.data ?? {}
  const isCounted = losses.data !== undefined && !losses.isFetching
  return (
    <ConfirmDialog
      title="Change the retention"
      confirmationText={name}
      confirmLabel="Save"
      isReady={isCounted}
      isPending={props.isPending}
      errorTitle="Couldn't save settings"
      error={error ?? losses.error}
      onConfirm={() =>
        onConfirm({
          subjects: retention?.deleted.total,
          visitors: visitorRetention?.deleted.total,
        })
      }
      onClose={props.onClose}
    >
      {!losses.data && 'Counting what is deleted…'}
      {retention && <RetentionEffect loss={retention} one="subject" />}
      {visitorRetention && <RetentionEffect loss={visitorRetention} one="visitor" />}
    </ConfirmDialog>
  )
}

type RetentionEffectProps = {
  readonly loss: NonNullable<ProjectLosses['retention']>
  readonly one: 'subject' | 'visitor'
}

function RetentionEffect({ loss, one }: RetentionEffectProps) {
  const { days, previousDays, deleted, beforeUtc, intervalS } = loss
  const changed = `The retention of ${one}s changes from ${previousDays} to ${formatQuantity(days, 'day')}.`
  if (days >= previousDays) return <p>{changed} It deletes none earlier than before.</p>
  return (
    <>
      <p>
        {changed} The next run permanently deletes{' '}
        <strong>{formatLoss({ count: deleted, one, many: `${one}s` })}</strong> of this project,
        with no activity since <UtcTime timestampUtc={beforeUtc} /> (UTC). Later runs delete each
        further {one} after {formatQuantity(days, 'day')} without activity.
      </p>
      <p>
        The deletion runs every {intervalS} seconds. Until its next run nothing is lost, and the
        earlier retention can be restored.
        {one === 'subject' && ' Deleted subjects must be enrolled again.'}
      </p>
    </>
  )
}
