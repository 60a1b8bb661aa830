import type { UnusableImage } from '../read-image.ts'
import type { Expression } from '../../vision/attributes/face-attributes.ts'

/** Labels and predictions for one image; an attribute without a label or a prediction is missing. */
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

/** Age errors in years. A negative `bias` means that predicted ages are too low on average. */
export type AgeMetrics = {
  readonly from: number
  /** Inclusive. */
  readonly to: number
  readonly pictures: number
  readonly meanAbsoluteError: number
  readonly bias: number
  /** Share of images whose label lies within the predicted interval, 0..1. */
  readonly withinInterval: number
}

/** `counts[row][column]`: images labelled `labels[row]` and predicted `labels[column]`. */
export type ConfusionMatrix = {
  readonly labels: readonly string[]
  readonly counts: readonly (readonly number[])[]
  readonly pictures: number
  readonly accuracy: number
  /** Mean of the accuracies per label, over the labels that occur. */
  readonly balancedAccuracy: number
}

export type AttributesReport = {
  readonly pictures: number
  readonly unusable: readonly UnusableImage[]
  /** One entry for all ages, one for 16 to 70, one per decade; null without age labels. */
  readonly age: readonly AgeMetrics[] | null
  readonly gender: ConfusionMatrix | null
  readonly expression: ConfusionMatrix | null
  /** Files whose predicted gender differs from the label, for review: labels can be wrong. */
  readonly genderErrors: readonly string[]
}

export function createAttributesReport(
  predictions: readonly AttributePrediction[],
  unusable: AttributesReport['unusable'],
): AttributesReport {
  const ages = predictions.flatMap(({ age }) => age ?? [])
  return {
    pictures: predictions.length + unusable.length,
    unusable,
    age: ages.length > 0 ? ageBands.flatMap((band) => ageMetrics(ages, band)) : null,
    gender: confusionMatrix(
      predictions.flatMap(({ gender }) => gender ?? []),
      genders,
    ),
    expression: confusionMatrix(
      predictions.flatMap(({ expression }) => expression ?? []),
      expressions,
    ),
    genderErrors: predictions
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

/** `svc.attributes` returns an interval of ten years on either side. */
const intervalYears = 10

function ageMetrics(
  ages: readonly LabelledPrediction<number>[],
  [from, to]: readonly [number, number],
): AgeMetrics[] {
  const errors = ages
    .filter(({ labelled }) => labelled >= from && labelled <= to)
    .map(({ labelled, predicted }) => predicted - labelled)
  if (errors.length === 0) return []
  const mean = (valueOf: (error: number) => number): number =>
    errors.reduce((sum, error) => sum + valueOf(error), 0) / errors.length
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
        pairs.filter(({ labelled, predicted }) => labelled === row && predicted === column).length,
    ),
  )
  const recalls = counts.flatMap((row, index) => {
    const sum = row.reduce((total, count) => total + count, 0)
    return sum > 0 ? [(row[index] ?? 0) / sum] : []
  })
  const correct = counts.reduce((sum, row, index) => sum + (row[index] ?? 0), 0)
  return {
    labels,
    counts,
    pictures: pairs.length,
    accuracy: correct / pairs.length,
    balancedAccuracy: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
  }
}
