import { inheritedSettings } from '../database/engine.ts'
import { startGallery, type TestGallery } from './test-gallery.ts'
import type { FakeModels } from './fake-vision.ts'

/**
 * A service in a separate process that tests can kill. Its arguments are the data folder, the key
 * and the options: the models, the number of analyses after which its vision client hangs, and whether
 * it kills itself at a commit in the middle of an update of densities.
 */
export type GalleryProcessOptions = {
  readonly models?: FakeModels
  readonly analysesMax?: number
  /** Calls hang before this step. The process then writes a line to its output. */
  readonly hangBefore?: 'settle' | 'respond'
  readonly killDuringUpdate?: boolean
}

const [dataDir = '', key = '', optionsText = '{}'] = process.argv.slice(2)
const {
  analysesMax = Infinity,
  hangBefore,
  killDuringUpdate = false,
  ...models
} = JSON.parse(optionsText) as GalleryProcessOptions
let started: TestGallery | undefined
let analysisCount = 0
const gallery = await startGallery({
  ...models,
  onCommit: () => {
    const isUpdating = (started?.openedGallery.gallery.densityProgress().updated ?? 0) > 0
    if (killDuringUpdate && isUpdating) process.kill(process.pid, 'SIGKILL')
  },
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
started = gallery
process.stdout.write(`${JSON.stringify({ url: gallery.url, key: gallery.key })}\n`)
