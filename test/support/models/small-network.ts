import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buildGraph, encodeModel } from '../../../src/models/convert/onnx/graph.ts'
import type { PackManifestInput } from '../../../src/models/pack-manifest.ts'

export const smallSidePx = 16

/**
 * Creates a network for 16×16 images with the given number of output values. Output i is i + 1 times
 * the mean of the input. `fault` replaces all weights by NaN.
 */
export function smallNetwork(outputCount: number, fault?: 'NaN'): Uint8Array {
  const graph = buildGraph('small')
  const size = 3 * smallSidePx * smallSidePx
  graph.input('input', [3, smallSidePx, smallSidePx])
  const weights = Float32Array.from({ length: outputCount * size }, (_, index) =>
    fault ? Number.NaN : (Math.floor(index / size) + 1) / size / 255,
  )
  const flat = graph.add('Flatten', ['input'])
  const output = graph.add('Gemm', [flat, graph.floats(weights, [outputCount, size])], {
    transB: 1,
  })
  graph.output('output', output, [outputCount])
  return encodeModel(graph.graph)
}

type ModelManifestInput = PackManifestInput['models'][number]

/** The manifest of a liveness network with two classes, for `smallNetwork(2)`. */
export function smallLiveness(
  id: string,
  overrides: Partial<ModelManifestInput> = {},
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
    ...overrides,
  }
}

/** The manifest of a recognizer with 16 dimensions, for `smallNetwork(16)`. */
export function smallRecognizer(
  id: string,
  overrides: Partial<ModelManifestInput> = {},
): ModelManifestInput {
  return smallLiveness(id, {
    role: 'recognizer',
    decoding: { kind: 'arcface', dimensions: 16 },
    ...overrides,
  })
}

export function manifestOf(name: string, models: readonly ModelManifestInput[]): string {
  const manifest: PackManifestInput = {
    schema: 1,
    name,
    description: 'a test pack',
    models: [...models],
  }
  return JSON.stringify(manifest)
}

/** Writes a folder with a `pack.json` and other files. @returns the folder. */
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
