import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { encodeModel } from '../../../src/models/convert/onnx/encode.ts'
import { buildGraph } from '../../../src/models/convert/onnx/graph.ts'
import type { PackManifestInput } from '../../../src/models/pack-manifest.ts'

export const smallSidePx = 16

/**
 * A network that takes a picture of 16×16 and answers with so many values, each a mean of it times a
 * number of its own. `fault` fills it with what is not a number.
 */
export function smallNetwork(values: number, fault?: 'NaN'): Uint8Array {
  const graph = buildGraph('small')
  const size = 3 * smallSidePx * smallSidePx
  graph.input('input', [3, smallSidePx, smallSidePx])
  const weights = Float32Array.from({ length: values * size }, (_, at) =>
    fault ? Number.NaN : (Math.floor(at / size) + 1) / size / 255,
  )
  const flat = graph.add('Flatten', ['input'])
  const answer = graph.add('Gemm', [flat, graph.floats(weights, [values, size])], { transB: 1 })
  graph.output('output', answer, [values])
  return encodeModel(graph.graph)
}

type ModelManifestInput = PackManifestInput['models'][number]

/** The manifest of a liveness network of two classes that `smallNetwork(2)` fits. */
export function smallLiveness(
  id: string,
  more: Partial<ModelManifestInput> = {},
): ModelManifestInput {
  return {
    id,
    version: '1',
    role: 'liveness',
    file: `${id}.onnx`,
    licence: { name: 'MIT', commercialUse: 'allowed' },
    provenance: { origin: 'a test', trainingData: 'none' },
    input: { width: smallSidePx, height: smallSidePx, colourOrder: 'RGB', scale: 1 / 255 },
    decoding: { kind: 'antispoof', crop: 'square', cropFactor: 1, classes: 2, liveClass: 0 },
    ...more,
  }
}

/** The manifest of an embedder of 16 dimensions that `smallNetwork(16)` fits. */
export function smallEmbedder(
  id: string,
  more: Partial<ModelManifestInput> = {},
): ModelManifestInput {
  return smallLiveness(id, {
    role: 'recognizer',
    decoding: { kind: 'arcface', dimensions: 16 },
    ...more,
  })
}

export function manifestOf(name: string, models: readonly ModelManifestInput[]): string {
  const manifest: PackManifestInput = {
    schema: 1,
    name,
    description: 'of a test',
    models: [...models],
  }
  return JSON.stringify(manifest)
}

/** A folder with a `pack.json` and other files. */
export async function writePack(
  folder: string,
  manifest: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'pack.json'), manifest)
  for (const [name, bytes] of Object.entries(files)) await writeFile(path.join(folder, name), bytes)
  return folder
}
