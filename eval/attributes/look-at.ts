import path from 'node:path'
import { ActionError } from '../../src/lib/errors.ts'
import type { Expression } from '../../src/vision/face-attributes.ts'
import type { Look, Picture, SeenFace, View } from '../../src/vision/view.ts'
import { readPicture } from '../detection.ts'
import { readLabels } from '../labels.ts'
import { expressions, genders } from './report.ts'
import type { AttributesReport, Gender, Told } from './report.ts'

/** What `labels.csv` says of a picture; undefined where it says nothing. */
type Labels = {
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
export async function lookAtAll(
  folder: string,
  look: (picture: Picture, look: Look) => Promise<View>,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly told: Told[]; readonly unusable: AttributesReport['unusable'][number][] }> {
  const rows = await readLabels(folder, ['file'])
  const labels = rows.map((row, index) => parse(row, `${folder}/labels.csv, line ${index + 2}`))
  const told: Told[] = []
  const unusable: { file: string; reason: string }[] = []
  let done = 0
  const waiting = labels.values()
  const takeTurns = async (): Promise<void> => {
    for (const one of waiting) {
      const face = await faceIn(path.join(folder, one.file), look)
      if ('reason' in face) unusable.push({ file: one.file, reason: face.reason })
      else told.push(compare(one, face))
      onProgress(++done, labels.length)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeTurns))
  const byFile = (a: { readonly file: string }, b: { readonly file: string }): number =>
    a.file < b.file ? -1 : 1
  return { told: told.toSorted(byFile), unusable: unusable.toSorted(byFile) }
}

/** Enough to keep every worker busy. */
const atOnce = 16

const lookForAttributes: Look = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 10,
  crops: false,
  attributes: ['age', 'gender', 'expression'],
}

function parse(row: Readonly<Record<string, string>>, where: string): Labels {
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

async function faceIn(
  file: string,
  look: (picture: Picture, look: Look) => Promise<View>,
): Promise<SeenFace | { readonly reason: string }> {
  try {
    const { faces, width, height } = await look(await readPicture(file), lookForAttributes)
    const off = ({ boundingBox: box }: SeenFace): number =>
      Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
    return faces.toSorted((a, b) => off(a) - off(b))[0] ?? { reason: 'NO_FACE_FOUND' }
  } catch (error) {
    if (error instanceof ActionError) return { reason: error.code }
    throw error
  }
}

function compare({ file, age, gender, expression }: Labels, { attributes }: SeenFace): Told {
  const { age: years, male, expression: scores } = attributes ?? {}
  return {
    file,
    ...(age !== undefined && years !== undefined && { age: { labelled: age, told: years } }),
    ...(gender !== undefined &&
      male !== undefined && {
        gender: { labelled: gender, told: male >= 0.5 ? ('male' as const) : ('female' as const) },
      }),
    ...(expression !== undefined &&
      scores && {
        expression: {
          labelled: expression,
          told: expressions.reduce((best, one) => (scores[one] > scores[best] ? one : best)),
        },
      }),
  }
}
