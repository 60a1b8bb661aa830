import { leadAxisCount, type LeadAxes } from './lead.ts'
import type { TemplateVector } from '../../calibration/score.ts'

/** Rows that are searched for in the sample, to measure which share of it the lead excludes. */
const trialProbes = 16
/** Trial probes are compared with this many rows. */
const trialRowsMax = 1_024
/** A row is kept if its bound is among the highest ones of the sample, as in a scan. */
const trialRowsKept = 8
/** If more rows pass, the lead would cost more than it saves. */
const passingShareMax = 0.3

/**
 * Chooses the axes with the largest mean squares in a sample of a gallery. The templates of the
 * built-in models are principal components: 48 axes have three quarters of their squared length.
 *
 * @returns undefined if the axes are so similar that a bound from some of them excludes few rows.
 */
export function chooseLeadAxes(sample: readonly TemplateVector[]): LeadAxes | undefined {
  const dimensions = sample[0]?.vector.length ?? 0
  if (dimensions <= 2 * leadAxisCount) return undefined
  const squares = new Float64Array(dimensions)
  for (const { vector } of sample)
    for (let axis = 0; axis < dimensions; axis++)
      squares[axis] = (squares[axis] ?? 0) + (vector[axis] ?? 0) ** 2
  const order = [...squares.keys()].sort((a, b) => (squares[b] ?? 0) - (squares[a] ?? 0))
  const axes = Uint16Array.from(order.slice(0, leadAxisCount).sort((a, b) => a - b))
  return passingShare(sample, axes) <= passingShareMax ? axes : undefined
}

/** Returns the share of rows whose lead bound is above the score of a well-placed row. */
function passingShare(sample: readonly TemplateVector[], axes: LeadAxes): number {
  const rows = sample.slice(0, trialRowsMax)
  let passing = 0
  for (let trial = 0; trial < trialProbes; trial++) {
    const probe = rows[Math.floor((trial * rows.length) / trialProbes)]
    if (!probe) return 1
    const scores = new Float64Array(rows.length)
    const bounds = rows.map((row, index) => {
      const { score, bound } = boundsOf(probe, row, axes)
      scores[index] = score
      return bound
    })
    const lowestKept = scores.sort()[Math.max(0, rows.length - trialRowsKept)] ?? 0
    passing += bounds.filter((bound) => bound > lowestKept).length / rows.length
  }
  return passing / trialProbes
}

function boundsOf(probe: TemplateVector, row: TemplateVector, axes: LeadAxes) {
  let product = 0
  let probeSquared = 0
  let rowSquared = 0
  for (let axis = 0; axis < row.vector.length; axis++) {
    const [a, b] = [probe.vector[axis] ?? 0, row.vector[axis] ?? 0]
    product += a * b
    probeSquared += a * a
    rowSquared += b * b
  }
  const bias = -rowSquared - row.density / 2
  let leadProduct = 0
  for (const axis of axes) {
    const [a, b] = [probe.vector[axis] ?? 0, row.vector[axis] ?? 0]
    leadProduct += a * b
    probeSquared -= a * a
    rowSquared -= b * b
  }
  const rests = Math.sqrt(Math.max(0, probeSquared) * Math.max(0, rowSquared))
  return { score: bias + 2 * product, bound: bias + 2 * (leadProduct + rests) }
}
