import path from 'node:path'
import { ActionError } from '../../lib/errors.ts'
import type { Expression } from '../../vision/attributes/face-attributes.ts'
import type { AnalysisRequest, FaceResult } from '../../vision/image-analysis.ts'
import { findCentralFace } from '../find-central-face.ts'
import { mapConcurrent } from '../map-concurrent.ts'
import { readImage, type AnalyzeImage } from '../read-image.ts'
import { readLabels } from '../read-labels.ts'
import { expressions, genders } from './attributes-report.ts'
import type { AttributesReport, Gender, AttributePrediction } from './attributes-report.ts'

/** One line of `labels.csv`; an empty cell is undefined. */
type AttributeLabels = {
  readonly file: string
  readonly age: number | undefined
  readonly gender: Gender | undefined
  readonly expression: Expression | undefined
}

/**
 * Predicts the attributes of the face nearest the centre of each image in `folder/labels.csv`. The
 * columns are `file` and any of `age` (years), `gender` (male, female) and `expression`. An
 * attribute with an empty cell is not evaluated.
 *
 * @throws Error that names the line with an invalid label.
 */
export async function predictAttributes(
  folder: string,
  analyzeImage: AnalyzeImage,
  onProgress: (done: number, total: number) => void,
): Promise<{
  readonly predictions: AttributePrediction[]
  readonly unusable: AttributesReport['unusable'][number][]
}> {
  const rows = await readLabels(folder, ['file'])
  const labels = rows.map((row, index) =>
    parseLabels(row, `${folder}/labels.csv, line ${index + 2}`),
  )
  const predictions: AttributePrediction[] = []
  const unusable: { file: string; reason: string }[] = []
  const predict = async (imageLabels: AttributeLabels): Promise<void> => {
    const { file } = imageLabels
    const face = await analyzeCentralFace(path.join(folder, file), analyzeImage)
    if ('reason' in face) unusable.push({ file, reason: face.reason })
    else predictions.push(comparePrediction(imageLabels, face))
  }
  await mapConcurrent(labels, predict, onProgress)
  const byFile = (a: { readonly file: string }, b: { readonly file: string }): number =>
    a.file < b.file ? -1 : 1
  return { predictions: predictions.toSorted(byFile), unusable: unusable.toSorted(byFile) }
}

const attributesRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 10,
  crops: false,
  attributes: ['age', 'gender', 'expression'],
}

function parseLabels(row: Readonly<Record<string, string>>, location: string): AttributeLabels {
  const { file = '', age = '', gender = '', expression = '' } = row
  const parseLabel = <T extends string>(name: string, text: string, allowed: readonly T[]) => {
    const label = allowed.find((value) => value === text)
    if (text !== '' && !label)
      throw new Error(`${location}: ${name} ${text} is none of ${allowed.join(', ')}`)
    return label
  }
  if (age !== '' && !/^\d{1,3}(?:\.\d+)?$/u.test(age))
    throw new Error(`${location}: age ${age} is not a number of years`)
  return {
    file,
    age: age === '' ? undefined : Number(age),
    gender: parseLabel('gender', gender, genders),
    expression: parseLabel('expression', expression, expressions),
  }
}

async function analyzeCentralFace(
  file: string,
  analyzeImage: AnalyzeImage,
): Promise<FaceResult | { readonly reason: string }> {
  try {
    const analysis = await analyzeImage(await readImage(file), attributesRequest)
    return findCentralFace(analysis) ?? { reason: 'NO_FACE_FOUND' }
  } catch (error) {
    if (error instanceof ActionError) return { reason: error.code }
    throw error
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
