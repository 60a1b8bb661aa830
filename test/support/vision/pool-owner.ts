/** Opens a pool, keeps one worker busy, prints the ids of both processes and waits to be killed. */
import { systemClock } from '../../../src/lib/clock.ts'
import { readConfig } from '../../../src/config.ts'
import { visionOptions } from '../../../src/start/vision-options.ts'
import { createLog } from '../../../src/lib/log.ts'
import { builtinSet } from '../../../src/models/model-set.ts'
import { openVisionPool } from '../../../src/vision/workers/vision-pool.ts'

const pool = openVisionPool({
  ...visionOptions(readConfig({}), {
    modelsFolder: 'any',
    modelSet: builtinSet,
    clock: systemClock,
    log: createLog('silent'),
  }),
  workers: 2,
  limits: { bytesMax: 1, pixelsMax: 1, sideMinPx: 1 },
  entryModule: new URL('./faulty-worker.ts', import.meta.url),
})
const analyze = (bytes: string) =>
  pool.analyzeImage(
    { bytes, contentType: 'image/jpeg' },
    { minFaceConfidence: 0.5, minFaceSizePx: 1, maxFaces: 1, crops: false },
    { accountId: 'account', projectId: 'project', path: 'params.images[0]' },
  )
const analyses = await Promise.all([analyze('sleep 300'), analyze('sleep 300')])
void analyze('sleep 1000')
process.stdout.write(`${JSON.stringify(analyses.map(({ height }) => height))}\n`)
