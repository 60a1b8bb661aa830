import { inheritedSettings } from '../database/engine.ts'
import { startGallery } from './test-gallery.ts'
import type { FakeModels } from './fake-vision.ts'

/**
 * A service in a process of its own that can be killed: its folder and key come by arguments, and
 * what its eyes are like: by which models they see, and how many looks it takes to stop them.
 */
export type GalleryProcessOptions = { readonly models?: FakeModels; readonly analysesMax?: number }

const [dataDir = '', key = '', eyes = '{}'] = process.argv.slice(2)
const { analysesMax: looksMax = Infinity, ...models } = JSON.parse(eyes) as GalleryProcessOptions
let analysisCount = 0
const gallery = await startGallery({
  ...models,
  dataDir,
  environment: inheritedSettings(),
  key: key === '' ? undefined : key,
  onAnalyze: async () => {
    analysisCount += 1
    if (analysisCount > looksMax) await new Promise(() => {})
  },
})
process.stdout.write(`${JSON.stringify({ url: gallery.url, key: gallery.key })}\n`)
