import { goldenInput } from '../../models/builtin/golden.ts'
import type { PackModel } from '../../models/pack-manifest.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { isRecognizerDecoding } from '../../models/decoding.ts'
import { openInstalledModel, type ModelOutputs } from '../session.ts'

/**
 * Loads an installed network and runs it once on a fixed picture: whether its answer can be decoded
 * as the manifest says. Not whether it is any good: that takes labelled pictures.
 *
 * @returns what is wrong in one sentence; undefined when nothing is.
 */
export async function smokeTest(model: InstalledModel): Promise<string | undefined> {
  try {
    const session = await openInstalledModel(model)
    try {
      const outputs = await session.run(goldenInput(model.model))
      return outputMismatch(model.model, outputs, session.outputNames)
    } finally {
      await session.close()
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function outputMismatch(
  model: PackModel,
  outputs: ModelOutputs,
  names: readonly string[],
): string | undefined {
  for (const { name, length } of expectedOutputs(model, names)) {
    const values = outputs[name]
    if (!values) return `it has no output "${name}", but ${names.join(', ')}`
    if (values.length !== length)
      return `its output "${name}" has ${values.length} values instead of ${length}`
    if (!values.every(Number.isFinite)) return `its output "${name}" is not of finite numbers`
  }
  return undefined
}

type ExpectedOutput = { readonly name: string; readonly length: number }

/** The outputs that the decoding of a model reads, and how many values each has for one picture. */
function expectedOutputs(
  { input, decoding }: PackModel,
  names: readonly string[],
): readonly ExpectedOutput[] {
  const nth = (at: number): string => names[at] ?? `number ${at + 1}`
  if (isRecognizerDecoding(decoding)) return [{ name: nth(0), length: decoding.dimensions }]
  if (decoding.kind === 'antispoof') return [{ name: nth(0), length: decoding.classes }]
  const cells = (stride: number): number =>
    Math.ceil(input.width / stride) * Math.ceil(input.height / stride)
  if (decoding.kind === 'yunet')
    return [8, 16, 32].flatMap((stride) => [
      { name: `cls_${stride}`, length: cells(stride) },
      { name: `obj_${stride}`, length: cells(stride) },
      { name: `bbox_${stride}`, length: cells(stride) * 4 },
      { name: `kps_${stride}`, length: cells(stride) * 10 },
    ])
  if (decoding.kind === 'scrfd')
    return [1, 4, 10].flatMap((values, kind) =>
      [8, 16, 32].map((stride, at) => ({
        name: nth(kind * 3 + at),
        length: cells(stride) * decoding.anchorsPerCell * values,
      })),
    )
  const priors = decoding.strides.reduce(
    (sum, stride, at) => sum + cells(stride) * (decoding.priorSides[at]?.length ?? 0),
    0,
  )
  return [
    { name: decoding.outputs.boxes, length: priors * 4 },
    { name: decoding.outputs.scores, length: priors * 2 },
    { name: decoding.outputs.points, length: priors * 10 },
  ]
}
