import path from 'node:path'
import { expressions } from '../../vision/attributes/face-attributes.ts'
import type { AnalysisRequest, FaceResult } from '../../vision/image-analysis.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import { type AnalyzeImage, type UnusableImage, analyzeCentralFace } from '../face-images.ts'
import { mapConcurrent } from '../map-concurrent.ts'
import { type LabelRow, readCsv } from '../read-csv.ts'

/** Labels and predictions for one image; an attribute without a label or a prediction is missing. */
type AttributePrediction = ReturnType<typeof comparePrediction>

type LabelledPrediction<T> = { readonly labelled: T; readonly predicted: T }

const genders: readonly ('male' | 'female')[] = ['female', 'male']

/** Age errors in years. A negative `bias` means that predicted ages are too low on average. */
export type AgeMetrics = ReturnType<typeof ageMetrics>[number]

/** `counts[row][column]`: images labelled `labels[row]` and predicted `labels[column]`. */
export type ConfusionMatrix = NonNullable<ReturnType<typeof confusionMatrix>>

export type AttributesReport = ReturnType<typeof createAttributesReport>

export function createAttributesReport(
  predictions: readonly AttributePrediction[],
  unusable: readonly UnusableImage[],
) {
  const ages = predictions.flatMap(({ age }) => age ?? [])
  return {
    pictures: predictions.length + unusable.length,
    unusable,
    /** One entry for all ages, one for 16 to 70, one per decade; null without age labels. */
    age: ages.length > 0 ? ageBands.flatMap((band) => ageMetrics(ages, band)) : null,
    gender: confusionMatrix(
      predictions.flatMap(({ gender }) => gender ?? []),
      genders,
    ),
    expression: confusionMatrix(
      predictions.flatMap(({ expression }) => expression ?? []),
      expressions,
    ),
    /** Files whose predicted gender differs from the label, for review: labels can be wrong. */
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
) {
  const errors = ages
    .filter(({ labelled }) => labelled >= from && labelled <= to)
    .map(({ labelled, predicted }) => predicted - labelled)
  if (errors.length === 0) return []
  const mean = (valueOf: (error: number) => number): number =>
    errors.reduce((sum, error) => sum + valueOf(error), 0) / errors.length
  return [
    {
      from,
      /** Inclusive. */
      to,
      pictures: errors.length,
      meanAbsoluteError: mean(Math.abs),
      bias: mean((error) => error),
      /** Share of images whose label lies within the predicted interval, 0..1. */
      withinInterval: mean((error) => Number(Math.abs(error) <= intervalYears)),
    },
  ]
}

function confusionMatrix<T extends string>(
  pairs: readonly LabelledPrediction<T>[],
  labels: readonly T[],
) {
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
    /** Mean of the accuracies per label, over the labels that occur. */
    balancedAccuracy: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
  }
}

/** One line of `labels.csv`; an empty cell is undefined. */
type AttributeLabels = ReturnType<typeof parseLabels>

/**
 * Reads `labels.csv` of a folder. The columns are `file` and any of `age` (years), `gender` (male,
 * female) and `expression`. An attribute with an empty cell is not evaluated.
 *
 * @throws Error that names the line with an invalid label.
 */
export async function readAttributeLabels(folder: string): Promise<AttributeLabels[]> {
  const rows = await readCsv(path.join(folder, 'labels.csv'), ['file'])
  return rows.map((row) => parseLabels(row, folder))
}

/** Predicts the attributes of the face nearest the centre of each image. */
export async function predictAttributes(
  labels: readonly AttributeLabels[],
  analyzeImage: AnalyzeImage,
  onProgress: (done: number, total: number) => void,
) {
  const analyze = (image: EncodedImage) => analyzeImage(image, attributesRequest)
  const predict = async (imageLabels: AttributeLabels) => {
    const face = await analyzeCentralFace(imageLabels.path, analyze)
    return 'unusable' in face
      ? { file: imageLabels.file, reason: face.unusable }
      : comparePrediction(imageLabels, face)
  }
  const results = await mapConcurrent(labels, predict, onProgress)
  const sorted = results.toSorted((a, b) => (a.file < b.file ? -1 : 1))
  return {
    predictions: sorted.filter((result) => !('reason' in result)),
    unusable: sorted.filter((result) => 'reason' in result),
  }
}

const attributesRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 10,
  crops: false,
  attributes: ['age', 'gender', 'expression'],
}

function parseLabels({ location, cells }: LabelRow, folder: string) {
  const { file = '', age = '', gender = '', expression = '' } = cells
  if (file === '') throw new Error(`${location}: file is empty; name an image`)
  const parseLabel = <T extends string>(name: string, text: string, allowed: readonly T[]) => {
    const label = allowed.find((value) => value === text)
    if (text !== '' && !label)
      throw new Error(
        `${location}: ${name} ${text} is none of ${allowed.join(', ')}; write one of them or leave the cell empty`,
      )
    return label
  }
  if (age !== '' && !/^\d{1,3}(?:\.\d+)?$/u.test(age))
    throw new Error(
      `${location}: age ${age} is not a number of years; write a number such as 34 or leave the cell empty`,
    )
  return {
    /** The name in `labels.csv`, relative to its folder. */
    file,
    path: path.join(folder, file),
    age: age === '' ? undefined : Number(age),
    gender: parseLabel('gender', gender, genders),
    expression: parseLabel('expression', expression, expressions),
  }
}

function comparePrediction(
  { file, age, gender, expression }: AttributeLabels,
  { attributes }: FaceResult,
) {
  const { age: years, maleProbability, expression: scores } = attributes ?? {}
  return {
    file,
    ...(age !== undefined && years !== undefined && { age: { labelled: age, predicted: years } }),
    ...(gender !== undefined &&
      maleProbability !== undefined && {
        gender: {
          labelled: gender,
          predicted: maleProbability >= 0.5 ? ('male' as const) : ('female' as const),
        },
      }),
    ...(expression !== undefined &&
      scores && {
        expression: {
          labelled: expression,
          predicted: expressions.reduce((best, name) =>
            scores[name] > scores[best] ? name : best,
          ),
        },
      }),
  }
}
