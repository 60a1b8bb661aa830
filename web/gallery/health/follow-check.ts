import type { HealthReport } from '../../api/responses.ts'

export type HealthCheck = NonNullable<HealthReport['check']>

/** The newest check that a page has received, and the responses since then that did not contain it. */
export type FollowedCheck = { readonly check: HealthCheck | null; readonly missed: number }

/** Responses without a running check until its server has probably restarted. */
const missedMax = 30

/** Responses without any check until no server has probably one. */
const searchesMax = 4

/** Each server returns only the checks that it started, and a balancer chooses the server. */
export function followCheck(
  { check, missed }: FollowedCheck,
  received: HealthCheck | null,
): FollowedCheck {
  const isSame = received?.measurementId === check?.measurementId
  if (received && (isSame || isNewer(received, check))) return { check: received, missed: 0 }
  const isLost = check?.state === 'running' && missed >= missedMax
  return { check: isLost ? null : check, missed: missed + 1 }
}

/** Another check that has ended can be older than a running one. */
function isNewer(received: HealthCheck, known: HealthCheck | null): boolean {
  if (known === null) return true
  if (known.state === 'running') return false
  if (received.state === 'running') return true
  return (
    received.state === 'measured' &&
    (known.state !== 'measured' || received.result.checkedAtUtc > known.result.checkedAtUtc)
  )
}

/** Whether the next response can contain more of a check. */
export function isToFollow({ check, missed }: FollowedCheck): boolean {
  return check === null ? missed < searchesMax : check.state === 'running'
}
