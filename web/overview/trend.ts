import { formatPercentage } from '../format/numbers.ts'

/** Describes a change against the earlier period; undefined without a value in both. */
export function describeTrend(
  now: number | null,
  before: number | null,
  earlier: string,
): string | undefined {
  if (now === null || before === null || before === 0) return undefined
  const change = (now - before) / before
  if (Math.abs(change) < 0.005) return 'as before'
  const sign = change > 0 ? '+' : '−'
  return `${sign}${formatPercentage(Math.abs(change))} on ${earlier}`
}

/** Describes the change of a share in percentage points. */
export function describeShareTrend(now: number | null, before: number | null): string | undefined {
  if (now === null || before === null) return undefined
  const points = (now - before) * 100
  if (Math.abs(points) < 0.05) return 'as before'
  return `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(1)} points`
}
