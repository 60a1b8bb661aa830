import { Text } from '@mantine/core'
import type { ConsoleWebhook } from '../api/responses.ts'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

type WebhookProps = { readonly webhook: ConsoleWebhook }

/** Shows whether a webhook accepts events and, if not, the last error and the next attempt. */
export function WebhookStatus({ webhook }: WebhookProps) {
  const { failingSinceUtc, pausedUntilUtc, lastAttempt } = webhook
  if (failingSinceUtc === null)
    return lastAttempt ? (
      <StatusTag tone="ok">accepts events</StatusTag>
    ) : (
      <StatusTag tone="plain">no event yet</StatusTag>
    )
  return (
    <>
      <StatusTag tone="bad">
        failing since <UtcTime timestampUtc={failingSinceUtc} />
      </StatusTag>
      <Text size="xs" c="dimmed">
        {lastAttempt?.error}
        {pausedUntilUtc !== null && (
          <>
            ; next attempt at <UtcTime timestampUtc={pausedUntilUtc} />
          </>
        )}
      </Text>
    </>
  )
}

/** Shows the time and the result of the last attempt. */
export function LastAttempt({ webhook: { lastAttempt } }: WebhookProps) {
  if (!lastAttempt) return <>none</>
  const { attemptedAtUtc, status, error } = lastAttempt
  return (
    <>
      <UtcTime timestampUtc={attemptedAtUtc} />: {error ?? `status ${status}`}
    </>
  )
}

/** Describes which matches a webhook receives; undefined if it receives all. */
export function describeFilter({ matchFilter }: Pick<ConsoleWebhook, 'matchFilter'>) {
  const { groups, outcomes, minSimilarity } = matchFilter
  const conditions = [
    groups && `groups ${groups.join(', ')}`,
    outcomes && `outcomes ${outcomes.join(', ')}`,
    minSimilarity === undefined ? undefined : `similarity from ${minSimilarity}`,
  ].filter((condition) => condition !== undefined)
  return conditions.length > 0 ? conditions.join('; ') : undefined
}
