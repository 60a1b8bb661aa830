import path from 'node:path'
import type { Expression } from '../../vision/attributes/face-attributes.ts'
import type { AnalysisRequest, FaceResult } from '../../vision/image-analysis.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import type { AnalyzeImage, UnusableImage } from '../read-image.ts'
import { analyzeCentralFace } from '../find-central-face.ts'
import { mapConcurrent } from '../map-concurrent.ts'
import { readCsv, type LabelRow } from '../read-csv.ts'
import { expressions, genders, type Gender, type AttributePrediction } from './attributes-report.ts'

/** One line of `labels.csv`; an empty cell is undefined. */
export type AttributeLabels = {
  /** The name in `labels.csv`, relative to its folder. */
  readonly file: string
  readonly path: string
  readonly age: number | undefined
  readonly gender: Gender | undefined
  readonly expression: Expression | undefined
}

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
): Promise<{
  readonly predictions: AttributePrediction[]
  readonly unusable: UnusableImage[]
}> {
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

function parseLabels({ location, cells }: LabelRow, folder: string): AttributeLabels {
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
): AttributePrediction {
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
