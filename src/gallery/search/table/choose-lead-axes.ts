import { leadAxisCount, type LeadAxes } from '../scan/row-layout.ts'
import type { TemplateVector } from '../../calibration/similarity.ts'

/** Rows that are searched for in the sample, to measure which share of it the lead excludes. */
const trialProbes = 16
/** Trial probes are compared with this many rows. */
const trialRowsMax = 1_024
/**
 * If more rows pass, the lead would cost more than it saves: a lead has a third of the bytes of a
 * row, and rows that pass are not read in sequence. In a larger gallery, a smaller share passes.
 */
const passingShareMax = 0.35

/**
 * Chooses the axes with the largest mean squares in a sample of a gallery. The templates of the
 * built-in models are principal components: 80 axes have six sevenths of their squared length.
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

/** Returns the share of rows whose lead bound is above the score of the most similar other row. */
function passingShare(sample: readonly TemplateVector[], axes: LeadAxes): number {
  const rows = sample.slice(0, trialRowsMax)
  let passing = 0
  for (let trial = 0; trial < trialProbes; trial++) {
    const probe = rows[Math.floor((trial * rows.length) / trialProbes)]
    if (!probe) return 1
    let best = Number.NEGATIVE_INFINITY
    const bounds = rows.map((row) => {
      const { score, bound } = boundsOf(probe, row, axes)
      if (row !== probe) best = Math.max(best, score)
      return bound
    })
    passing += bounds.filter((bound) => bound > best).length / rows.length
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
