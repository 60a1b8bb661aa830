import path from 'node:path'
import { ActionError } from '../../lib/errors.ts'
import type { Expression } from '../../vision/attributes/face-attributes.ts'
import type {
  AnalysisRequest,
  EncodedImage,
  FaceResult,
  ImageAnalysis,
} from '../../vision/image-analysis.ts'
import { readImage } from '../read-image.ts'
import { readLabels } from '../read-labels.ts'
import { expressions, genders } from './attributes-report.ts'
import type { AttributesReport, Gender, AttributePrediction } from './attributes-report.ts'

/** What `labels.csv` says of a picture; undefined where it says nothing. */
type AttributeLabels = {
  readonly file: string
  readonly age: number | undefined
  readonly gender: Gender | undefined
  readonly expression: Expression | undefined
}

/**
 * Has the face nearest the centre of each picture of `folder/labels.csv` read. Columns: `file`, and
 * any of `age` (years), `gender` (male, female) and `expression`; an empty cell is not judged.
 *
 * @throws Error that names the line whose label means nothing.
 */
export async function predictAttributes(
  folder: string,
  look: (picture: EncodedImage, look: AnalysisRequest) => Promise<ImageAnalysis>,
  onProgress: (done: number, total: number) => void,
): Promise<{
  readonly told: AttributePrediction[]
  readonly unusable: AttributesReport['unusable'][number][]
}> {
  const rows = await readLabels(folder, ['file'])
  const labels = rows.map((row, index) =>
    parseLabels(row, `${folder}/labels.csv, line ${index + 2}`),
  )
  const told: AttributePrediction[] = []
  const unusable: { file: string; reason: string }[] = []
  let done = 0
  const waiting = labels.values()
  const takeTurns = async (): Promise<void> => {
    for (const one of waiting) {
      const face = await findCentralFace(path.join(folder, one.file), look)
      if ('reason' in face) unusable.push({ file: one.file, reason: face.reason })
      else told.push(comparePrediction(one, face))
      onProgress(++done, labels.length)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, takeTurns))
  const byFile = (a: { readonly file: string }, b: { readonly file: string }): number =>
    a.file < b.file ? -1 : 1
  return { told: told.toSorted(byFile), unusable: unusable.toSorted(byFile) }
}

/** Enough to keep every worker busy. */
const concurrency = 16

const attributesRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 10,
  crops: false,
  attributes: ['age', 'gender', 'expression'],
}

function parseLabels(row: Readonly<Record<string, string>>, where: string): AttributeLabels {
  const { file = '', age = '', gender = '', expression = '' } = row
  const oneOf = <T extends string>(name: string, value: string, known: readonly T[]) => {
    const found = known.find((label) => label === value)
    if (value !== '' && !found)
      throw new Error(`${where}: ${name} ${value} is none of ${known.join(', ')}`)
    return found
  }
  if (age !== '' && !/^\d{1,3}(?:\.\d+)?$/u.test(age))
    throw new Error(`${where}: age ${age} is no number of years`)
  return {
    file,
    age: age === '' ? undefined : Number(age),
    gender: oneOf('gender', gender, genders),
    expression: oneOf('expression', expression, expressions),
  }
}

async function findCentralFace(
  file: string,
  look: (picture: EncodedImage, look: AnalysisRequest) => Promise<ImageAnalysis>,
): Promise<FaceResult | { readonly reason: string }> {
  try {
    const { faces, width, height } = await look(await readImage(file), attributesRequest)
    const off = ({ boundingBox: box }: FaceResult): number =>
      Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
    return faces.toSorted((a, b) => off(a) - off(b))[0] ?? { reason: 'NO_FACE_FOUND' }
  } catch (error) {
    if (error instanceof ActionError) return { reason: error.code }
    throw error
  }
}

function comparePrediction(
  { file, age, gender, expression }: AttributeLabels,
  { attributes }: FaceResult,
): AttributePrediction {
  const { age: years, maleProbability: male, expression: scores } = attributes ?? {}
  return {
    file,
    ...(age !== undefined && years !== undefined && { age: { labelled: age, predicted: years } }),
    ...(gender !== undefined &&
      male !== undefined && {
        gender: {
          labelled: gender,
          predicted: male >= 0.5 ? ('male' as const) : ('female' as const),
        },
      }),
    ...(expression !== undefined &&
      scores && {
        expression: {
          labelled: expression,
          predicted: expressions.reduce((best, one) => (scores[one] > scores[best] ? one : best)),
        },
      }),
  }
}
