import type { Expression } from '../../vision/attributes/face-attributes.ts'

/** What is known of a picture and what was told of it; undefined where nothing is. */
export type AttributePrediction = {
  readonly file: string
  readonly age?: LabelledPrediction<number>
  readonly gender?: LabelledPrediction<Gender>
  readonly expression?: LabelledPrediction<Expression>
}

type LabelledPrediction<T> = { readonly labelled: T; readonly predicted: T }

export type Gender = 'male' | 'female'

export const genders: readonly Gender[] = ['female', 'male']

export const expressions: readonly Expression[] = [
  'neutral',
  'happy',
  'sad',
  'angry',
  'fearful',
  'disgusted',
  'surprised',
]

/** Errors of the age, years; `bias` is below 0 where people are told younger than they are. */
export type AgeMetrics = {
  readonly from: number
  /** Up to and with. */
  readonly to: number
  readonly pictures: number
  readonly meanAbsoluteError: number
  readonly bias: number
  /** Share of the pictures whose label lies within the interval that is told. */
  readonly withinInterval: number
}

/** `counts[row][column]`: labelled `labels[row]`, told `labels[column]`. */
export type ConfusionMatrix = {
  readonly labels: readonly string[]
  readonly counts: readonly (readonly number[])[]
  readonly pictures: number
  readonly accuracy: number
  /** The mean of the accuracies of those labels that occur. */
  readonly balancedAccuracy: number
}

export type AttributesReport = {
  readonly pictures: number
  readonly unusable: readonly { readonly file: string; readonly reason: string }[]
  /** All ages, 16 to 70, and decades; null where no picture has an age. */
  readonly age: readonly AgeMetrics[] | null
  readonly gender: ConfusionMatrix | null
  readonly expression: ConfusionMatrix | null
  /** Whose gender is told otherwise than labelled: labels err as well. */
  readonly genderErrors: readonly string[]
}

export function createAttributesReport(
  told: readonly AttributePrediction[],
  unusable: AttributesReport['unusable'],
): AttributesReport {
  const ages = told.flatMap(({ age }) => age ?? [])
  return {
    pictures: told.length + unusable.length,
    unusable,
    age: ages.length > 0 ? ageBands.flatMap((band) => ageMetrics(ages, band)) : null,
    gender: confusionMatrix(
      told.flatMap(({ gender }) => gender ?? []),
      genders,
    ),
    expression: confusionMatrix(
      told.flatMap(({ expression }) => expression ?? []),
      expressions,
    ),
    genderErrors: told
      .filter(({ gender }) => gender && gender.labelled !== gender.predicted)
      .map(({ file }) => file),
  }
}

const ageBands = [
  [0, 120],
  [16, 70],
  ...[0, 10, 20, 30, 40, 50, 60, 70, 80].map(
    (from) => [from, from === 80 ? 120 : from + 9] as const,
  ),
] as const

/** As svc.attributes tells it: ten years to either side. */
const intervalYears = 10

function ageMetrics(
  ages: readonly LabelledPrediction<number>[],
  [from, to]: readonly [number, number],
): AgeMetrics[] {
  const errors = ages
    .filter(({ labelled }) => labelled >= from && labelled <= to)
    .map(({ labelled, predicted: told }) => told - labelled)
  if (errors.length === 0) return []
  const mean = (of: (error: number) => number): number =>
    errors.reduce((sum, error) => sum + of(error), 0) / errors.length
  return [
    {
      from,
      to,
      pictures: errors.length,
      meanAbsoluteError: mean(Math.abs),
      bias: mean((error) => error),
      withinInterval: mean((error) => Number(Math.abs(error) <= intervalYears)),
    },
  ]
}

function confusionMatrix<T extends string>(
  pairs: readonly LabelledPrediction<T>[],
  labels: readonly T[],
): ConfusionMatrix | null {
  if (pairs.length === 0) return null
  const counts = labels.map((row) =>
    labels.map(
      (column) =>
        pairs.filter(({ labelled, predicted: told }) => labelled === row && told === column).length,
    ),
  )
  const recalls = counts.flatMap((row, at) => {
    const sum = row.reduce((total, count) => total + count, 0)
    return sum > 0 ? [(row[at] ?? 0) / sum] : []
  })
  const right = counts.reduce((sum, row, at) => sum + (row[at] ?? 0), 0)
  return {
    labels,
    counts,
    pictures: pairs.length,
    accuracy: right / pairs.length,
    balancedAccuracy: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
  }
}
