import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findImages } from './find-images.ts'
import { openAnalysisStages } from './open-analysis-stages.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import type { BuiltinModel, BuiltinModelId } from '../../src/models/builtin/builtin-model.ts'
import { convertToGraph } from '../../src/models/convert/convert-model.ts'
import { type Graph, type GraphNode, encodeModel } from '../../src/models/convert/onnx/graph.ts'
import { foldAffine } from '../../src/models/convert/onnx/fold-affine.ts'
import { inputChannels, integerConvolutions } from '../../src/models/convert/onnx/quantize.ts'
import { readSource } from '../../src/models/convert/read-source.ts'
import { encodeFloat16 } from '../../src/models/template/float16.ts'

/**
 * Measures the mean of each input channel of the convolutions that the int8 version of a network
 * computes with integers, and writes them to a file for the manifest:
 * `node eval/quantization/measure-channel-means.ts <id> <file> --every n <folder…>`
 *
 * It analyzes every n-th picture of the folders with templates of all faces. Run it again after the
 * ranges have other values, then `eval/print-golden-outputs.ts`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
})
const [id, target, ...folders] = positionals
const model: BuiltinModel | undefined = builtinPack.models[id as BuiltinModelId]
if (!model?.int8 || target === undefined || folders.length === 0)
  throw new Error('usage: node eval/quantization/measure-channel-means.ts <id> <file> <folder…>')

const folder = await mkdtemp(path.join(tmpdir(), 'facegate-means-'))
try {
  const graph = foldAffine(convertToGraph(model, await readSource(model)))
  const convolutions = integerConvolutions(graph, model.int8.ranges)
  await writeFile(path.join(folder, model.artifact.file), encodeModel(withMeans(graph)))
  const sums = convolutions.map((node) => new Float64Array(inputChannels(graph, node)))
  let runs = 0
  const stages = await openAnalysisStages({
    id: model.id,
    folder,
    onOutputs: (outputs) => {
      for (const [index, node] of convolutions.entries())
        runs += addTo(sums[index], outputs[meanOf(node)]) / convolutions.length
    },
  })
  for (const image of await findImages(folders, Number(values.every))) await stages.analyze(image)
  await stages.close()
  const means = sums.flatMap((sum) => [...sum].map((value) => value / runs))
  await writeFile(target, encodeFloat16(Float32Array.from(means)))
  console.log(`${means.length} means over ${Math.round(runs)} crops`)
} finally {
  await rm(folder, { recursive: true })
}

/** Adds the mean of each channel of the input of each convolution as an output. */
function withMeans(graph: Graph): Graph {
  const convolutions = graph.nodes.filter(({ operator }) => operator === 'Conv')
  const means = convolutions.map((node) => ({
    operator: 'GlobalAveragePool',
    inputs: node.inputs.slice(0, 1),
    output: meanOf(node),
    attributes: {},
  }))
  const shape = ['channels', 'rows', 'columns']
  const outputs = means.map(({ output }) => ({ name: output, shape }))
  return { ...graph, nodes: [...graph.nodes, ...means], outputs: [...graph.outputs, ...outputs] }
}

function meanOf({ output }: GraphNode): string {
  return `${output}_input_mean`
}

/** Adds the means of each crop of a run. Returns the number of crops. */
function addTo(sums: Float64Array | undefined, means: Float32Array | undefined): number {
  if (!sums || !means) throw new Error('there is no output of a convolution')
  for (const [index, mean] of means.entries()) {
    const channel = index % sums.length
    sums[channel] = (sums[channel] ?? 0) + mean
  }
  return means.length / sums.length
}
