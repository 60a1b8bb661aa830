/**
 * What the calls of one key decided in a period. A key belongs to one camera in most installations,
 * so that a change of these numbers is a change of the camera, its place or its light.
 */
export type KeyDecisions = Readonly<typeof noDecisions>

export const noDecisions = {
  /** Calls that failed because no picture contains a face. */
  withoutFace: 0,
  /** Calls with an outcome. */
  decided: 0,
  /** Calls that compared a face, those of them without a match, and those just below the threshold. */
  compared: 0,
  unmatched: 0,
  nearMisses: 0,
  matched: 0,
  /** The sum over the matches, in ten-thousandths. */
  similaritySum: 0,
  /** The calls with a quality, and the sum of their qualities, 0..100. */
  rated: 0,
  qualitySum: 0,
}

const decisionNames = Object.keys(noDecisions) as (keyof KeyDecisions)[]

/** Adds the decisions of several periods. */
export function addDecisions(all: readonly KeyDecisions[]): KeyDecisions {
  const sum = { ...noDecisions }
  for (const part of all) for (const name of decisionNames) sum[name] += part[name]
  return sum
}

type KeyMeasure = {
  readonly name: string
  /** `share`: of the calls, 0..1. `mean`: of a score. */
  readonly kind: 'share' | 'mean'
  /** The smallest change that is reported; only rises if it is positive, only falls if negative. */
  readonly changeMin: number
  /** Returns the sum, and the number of calls that it is divided by. */
  readonly of: (decisions: KeyDecisions) => readonly [sum: number, calls: number]
}

/** The values that are compared, each with the direction in which it becomes worse. */
export const cameraMeasures = {
  withoutFace: {
    name: 'Calls without a face',
    kind: 'share',
    changeMin: 0.05,
    of: ({ withoutFace, decided }) => [withoutFace, withoutFace + decided],
  },
  quality: {
    name: 'Quality of the faces',
    kind: 'mean',
    changeMin: -10,
    of: ({ qualitySum, rated }) => [qualitySum, rated],
  },
  unmatched: {
    name: 'Faces without a match',
    kind: 'share',
    changeMin: 0.1,
    of: ({ unmatched, compared }) => [unmatched, compared],
  },
  nearMisses: {
    name: 'Near misses',
    kind: 'share',
    changeMin: 0.05,
    of: ({ nearMisses, compared }) => [nearMisses, compared],
  },
  similarity: {
    name: 'Similarity of matches',
    kind: 'mean',
    changeMin: -0.03,
    of: ({ similaritySum, matched }) => [similaritySum / 10_000, matched],
  },
} as const satisfies Readonly<Record<string, KeyMeasure>>

export type CameraMeasure = keyof typeof cameraMeasures

/** The names of the measures; as a tuple, for schemas. */
export const allCameraMeasures = Object.keys(cameraMeasures) as unknown as readonly [
  CameraMeasure,
  ...CameraMeasure[],
]

export type MeasuredChange = {
  readonly measure: CameraMeasure
  readonly before: number
  readonly after: number
}

/** A period with fewer calls of a measure is not compared. */
export const comparedCallsMin = 50

/**
 * The smallest change of a share in standard errors of independent calls. A camera without a change
 * exceeds it by chance in one of 30,000 comparisons.
 */
const standardErrorsMin = 4

/** Returns the value of a measure; undefined without calls. */
export function measureValue(measure: CameraMeasure, decisions: KeyDecisions): number | undefined {
  const [sum, calls] = cameraMeasures[measure].of(decisions)
  return calls === 0 ? undefined : sum / calls
}

/** Returns what became worse from one period to the next, in the order of the measures. */
export function findCameraChanges(before: KeyDecisions, after: KeyDecisions): MeasuredChange[] {
  return allCameraMeasures.flatMap((measure): MeasuredChange[] => {
    const { kind, changeMin, of }: KeyMeasure = cameraMeasures[measure]
    const [sumBefore, callsBefore] = of(before)
    const [sumAfter, callsAfter] = of(after)
    if (Math.min(callsBefore, callsAfter) < comparedCallsMin) return []
    const values = { before: sumBefore / callsBefore, after: sumAfter / callsAfter }
    const change = values.after - values.before
    if (change / changeMin < 1) return []
    const share = (sumBefore + sumAfter) / (callsBefore + callsAfter)
    const error = Math.sqrt(share * (1 - share) * (1 / callsBefore + 1 / callsAfter))
    if (kind === 'share' && change < standardErrorsMin * error) return []
    return [{ measure, ...values }]
  })
}

/** The last week is compared with this many weeks before it. */
export const weeksBefore = 4

/** Returns what became worse in the last of these weeks, the oldest first. */
export function changesOfLastWeek(weeks: readonly KeyDecisions[]): MeasuredChange[] {
  const before = addDecisions(weeks.slice(-1 - weeksBefore, -1))
  return findCameraChanges(before, addDecisions(weeks.slice(-1)))
}

/** Returns a change as a sentence without a full stop: "Near misses rose from 2 % to 18 %". */
export function describeCameraChange({ measure, before, after }: MeasuredChange): string {
  const { name, kind } = cameraMeasures[measure]
  const format = (value: number): string => {
    if (kind === 'share') return `${Math.round(value * 100)} %`
    return measure === 'similarity' ? value.toFixed(2) : String(Math.round(value))
  }
  const verb = after > before ? 'rose' : 'fell'
  return `${name} ${verb} from ${format(before)} to ${format(after)}`
}
