import { createLog } from '../../../src/lib/log.ts'
import { inheritedSettings } from '../database/engine.ts'
import { startGallery } from './test-gallery.ts'
import type { FakeModels } from './fake-vision.ts'

/**
 * A service in a separate process that tests can kill. Its arguments are the data folder, the key
 * and the options: the models, the number of analyses after which its vision client hangs, and the
 * number of commits during an update of densities after which it kills itself.
 */
export type GalleryProcessOptions = {
  readonly models?: FakeModels
  readonly analysesMax?: number
  readonly updateCommitsMax?: number
}

const [dataDir = '', key = '', optionsText = '{}'] = process.argv.slice(2)
const {
  analysesMax = Infinity,
  updateCommitsMax = Infinity,
  ...models
} = JSON.parse(optionsText) as GalleryProcessOptions
let updateCommits = -Infinity
const log = createLog('info', {
  write: (line) => {
    if (line.includes('updating the densities')) updateCommits = 0
  },
})
let analysisCount = 0
const gallery = await startGallery({
  ...models,
  ...(updateCommitsMax < Infinity && { log }),
  onCommit: (step) => {
    if (step === 'committed') updateCommits += 1
    if (updateCommits >= updateCommitsMax) process.kill(process.pid, 'SIGKILL')
  },
  dataDir,
  environment: inheritedSettings(),
  key: key === '' ? undefined : key,
  onAnalyze: async () => {
    analysisCount += 1
    if (analysisCount > analysesMax) await new Promise(() => {})
  },
})
process.stdout.write(`${JSON.stringify({ url: gallery.url, key: gallery.key })}\n`)
