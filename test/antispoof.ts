import { existsSync } from 'node:fs'
import path from 'node:path'
import { builtinSet, packManifest, type ModelSet } from '../src/models/pack.ts'

const folder = path.join(import.meta.dirname, '../../shared/eval-data')

/** Two pictures of a vendor's: a person, and a screen that shows one. */
export const vendorSamples = {
  live: path.join(folder, 'liveness/other/doubango_genuine.jpg'),
  spoof: path.join(folder, 'liveness/other/doubango_spoof.jpg'),
}

export const withEvalData = {
  skip: !existsSync(vendorSamples.live) && 'NOT MEASURED: no eval-data',
}

/** minivision's two networks, as a user's manifest says them. */
export function minifasnets(): ModelSet {
  const network = (id: string, file: string, cropFactor: number) => ({
    id,
    version: '1',
    role: 'liveness',
    file,
    licence: { name: 'Apache-2.0', commercialUse: 'allowed' },
    provenance: {
      origin: 'minivision-ai/Silent-Face-Anti-Spoofing',
      trainingData: 'not published',
    },
    input: { width: 80, height: 80, colourOrder: 'BGR' },
    decoding: { kind: 'antispoof', crop: 'stretched', cropFactor, classes: 3, liveClass: 1 },
  })
  const { models } = packManifest.parse({
    schema: 1,
    name: 'minifasnets',
    description: 'for these tests',
    models: [
      network('minifasnet-v2', '2.7_80x80_MiniFASNetV2.onnx', 2.7),
      network('minifasnet-v1se', '4_0_0_80x80_MiniFASNetV1SE.onnx', 4),
    ],
  })
  const [first, ...others] = models.map((model) => ({
    folder: path.join(folder, 'models'),
    model,
  }))
  if (!first) throw new Error('the manifest has no models')
  return { ...builtinSet, liveness: [first, ...others] }
}
