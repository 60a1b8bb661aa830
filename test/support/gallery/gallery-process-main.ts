import { inheritedSettings } from '../database/engine.ts'
import { startGallery } from './test-gallery.ts'
import type { FakeModels } from './fake-vision.ts'

/**
 * A service in a separate process that tests can kill. Its arguments are the data folder, the key
 * and the options: the models and the number of analyses after which its vision client hangs.
 */
export type GalleryProcessOptions = {
  readonly models?: FakeModels
  readonly analysesMax?: number
  /** Calls hang before this step. The process then writes a line to its output. */
  readonly hangBefore?: 'settle' | 'respond'
}

const [dataDir = '', key = '', optionsText = '{}'] = process.argv.slice(2)
const {
  analysesMax = Infinity,
  hangBefore,
  ...models
} = JSON.parse(optionsText) as GalleryProcessOptions
let analysisCount = 0
const gallery = await startGallery({
  ...models,
  dataDir,
  environment: inheritedSettings(),
  key: key === '' ? undefined : key,
  beforeStep: async (step) => {
    if (step !== hangBefore) return
    process.stdout.write('hanging\n')
    await new Promise(() => {})
  },
  onAnalyze: async () => {
    analysisCount += 1
    if (analysisCount > analysesMax) await new Promise(() => {})
  },
})
process.stdout.write(`${JSON.stringify({ url: gallery.url, key: gallery.key })}\n`)
