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
  readonly change: Pick<
    ProjectPatch,
    'retentionDays' | 'visitorRetentionDays' | 'nearMissHours' | 'switches'
  >
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: (confirmed: ProjectPatch['confirmedLosses']) => void
  readonly onClose: () => void
}

/** Confirms a retention that may be shorter. Counts what its next run deletes. */
export function ChangeRetentionDialog({ project, change, error, onConfirm, ...props }: Props) {
  const { projectId, name } = project
  const { retentionDays, visitorRetentionDays, nearMissHours, switches } = change
  const losses = useApiQuery('/projects/:projectId/losses', {
    pathParams: { projectId },
    query: {
      retentionDays: retentionDays === null ? 'default' : retentionDays,
      visitorRetentionDays,
      nearMissHours: switches?.nearMissCrops === false ? 0 : nearMissHours,
    },
  })
  const { retention, visitorRetention, nearMisses } = losses.data ?? {}
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
          nearMisses: nearMisses?.deleted.total,
        })
      }
      onClose={props.onClose}
    >
      {!losses.data && 'Counting what is deleted…'}
      {retention && <RetentionEffect loss={retention} one="subject" />}
      {visitorRetention && <RetentionEffect loss={visitorRetention} one="visitor" />}
      {nearMisses && <NearMissEffect loss={nearMisses} />}
    </ConfirmDialog>
  )
}

type Loss = NonNullable<ProjectLosses['retention']>

/** A shorter time, or none, deletes the pictures at once. */
function NearMissEffect({ loss }: { readonly loss: Loss }) {
  const { days, previousDays, deleted } = loss
  const changed =
    days === 0
      ? 'Pictures of near misses are no longer kept.'
      : `Pictures of near misses are kept for ${formatQuantity(days * 24, 'hour')} instead of ${previousDays * 24}.`
  if (days >= previousDays) return <p>{changed} It deletes none earlier than before.</p>
  return (
    <p>
      {changed} This deletes{' '}
      <strong>{formatLoss({ count: deleted, one: 'picture', many: 'pictures' })}</strong> of this
      project, at once and permanently.
    </p>
  )
}

type RetentionEffectProps = {
  readonly loss: Loss
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
