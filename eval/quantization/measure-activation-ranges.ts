import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findImages } from './find-images.ts'
import { openAnalysisStages } from './open-analysis-stages.ts'
import { quantizableValues } from './quantizable-values.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import type { BuiltinModel, BuiltinModelId } from '../../src/models/builtin/builtin-model.ts'
import { convertToGraph } from '../../src/models/convert/convert-model.ts'
import { type Graph, encodeModel } from '../../src/models/convert/onnx/graph.ts'
import { foldAffine } from '../../src/models/convert/onnx/fold-affine.ts'
import { readSource } from '../../src/models/convert/read-source.ts'

/**
 * Measures the lowest and highest value of each activation that the int8 version of a network rounds,
 * and prints them in the format of the manifest:
 * `node eval/quantization/measure-activation-ranges.ts <id> --every n <folder…>`
 *
 * It analyzes every n-th picture of the folders with templates of all faces.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
})
const [id, ...folders] = positionals
const model: BuiltinModel | undefined = builtinPack.models[id as BuiltinModelId]
if (!model || folders.length === 0)
  throw new Error('usage: node eval/quantization/measure-activation-ranges.ts <id> <folder…>')

const ranges = new Map<string, readonly [number, number]>()
const folder = await mkdtemp(path.join(tmpdir(), 'facegate-ranges-'))
try {
  const graph = foldAffine(convertToGraph(model, await readSource(model)))
  const measured = quantizableValues(graph)
  const file = path.join(folder, model.artifact.file)
  await writeFile(file, encodeModel(withOutputs(graph, measured)))
  const stages = await openAnalysisStages({
    id: model.id,
    folder,
    onOutputs: (outputs) => {
      for (const name of measured) widen(name, outputs[`${name}_output`])
    },
  })
  const files = await findImages(folders, Number(values.every))
  for (const [index, image] of files.entries()) {
    await stages.analyze(image)
    if (index % 20 === 19) console.error(`${index + 1} of ${files.length} pictures`)
  }
  await stages.close()
  for (const [name, [min, max]] of ranges)
    console.log(`      "${name}": [${Number(min.toPrecision(4))}, ${Number(max.toPrecision(4))}],`)
} finally {
  await rm(folder, { recursive: true })
}

/** Adds the values as outputs, each with an own name: a name is unique in a graph. */
function withOutputs(graph: Graph, names: readonly string[]): Graph {
  const shape = ['channels', 'rows', 'columns']
  return {
    ...graph,
    nodes: [
      ...graph.nodes,
      ...names.map((name) => ({
        operator: 'Identity',
        inputs: [name],
        output: `${name}_output`,
        attributes: {},
      })),
    ],
    outputs: [...graph.outputs, ...names.map((name) => ({ name: `${name}_output`, shape }))],
  }
}

function widen(name: string, activation: Float32Array | undefined): void {
  if (!activation) throw new Error(`there is no output of ${name}`)
  let [min, max] = ranges.get(name) ?? [0, 0]
  for (const value of activation) {
    if (value < min) min = value
    if (value > max) max = value
  }
  ranges.set(name, [min, max])
}
