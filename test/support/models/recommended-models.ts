import { existsSync } from 'node:fs'
import path from 'node:path'
import recommended from '../../../src/models/catalogue/recommended.json' with { type: 'json' }
import { packManifest } from '../../../src/models/pack-manifest.ts'
import { builtinSet, type InstalledModel, type ModelSet } from '../../../src/models/model-set.ts'
import { evalDataFolder } from '../paths.ts'

/** Two sample pictures of a vendor: a live person, and a person on a screen. */
export const vendorSamples = {
  live: path.join(evalDataFolder, 'liveness/other/doubango_genuine.jpg'),
  spoof: path.join(evalDataFolder, 'liveness/other/doubango_spoof.jpg'),
}

export const skipWithoutEvalData = {
  skip: !existsSync(vendorSamples.live) && 'eval-data is missing',
}

/** Returns the detector and the two liveness networks of the recommended pack. */
export function recommendedModels(): { readonly detector: InstalledModel } & Pick<
  ModelSet,
  'liveness'
> {
  const models = packManifest
    .parse(recommended)
    .models.map((model) => ({ folder: path.join(evalDataFolder, 'models'), model }))
  const detector = models.find(({ model }) => model.role === 'detector')
  const [first, ...others] = models.filter(({ model }) => model.role === 'liveness')
  if (!detector || !first) throw new Error('the recommended pack lacks a role')
  return { detector, liveness: [first, ...others] }
}

/** The built-in models with the liveness networks of the recommended pack. */
export function withRecommendedLiveness(): ModelSet {
  return { ...builtinSet, liveness: recommendedModels().liveness }
}
