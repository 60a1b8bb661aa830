import { readConfig } from '../config.ts'
import { systemClock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { modelsFolderOf } from '../models-in-use.ts'
import type { ModelSet } from '../models/pack.ts'
import { preparePack } from '../models/prepare.ts'
import { visionOptions } from '../services.ts'
import { openPool } from '../vision/workers/pool.ts'
import type { Look, Picture, View } from '../vision/view.ts'
import { chosenSet } from './models-option.ts'

/** What an evaluation looks for: everything, by the defaults of the service. */
const lookForAll: Look = { minFaceConfidence: 0.6, minFaceSizePx: 1, maxFaces: 100, crops: false }

export type CliVision = AsyncDisposable & {
  readonly set: ModelSet
  /** Looks for everything where nothing else is said. */
  readonly look: (picture: Picture, look?: Look) => Promise<View>
}

/**
 * Vision workers of the command's own; no server need run, and a running one is not disturbed.
 *
 * @param models what `--models` says: see `chosenSet`.
 */
export async function openVision(models: readonly string[]): Promise<CliVision> {
  // A folder full of pictures may wait for as long as it takes.
  const config = { ...readConfig(process.env), QUEUE_PER_WORKER_MAX: 1e6, QUEUE_WAIT_MS_MAX: 1e9 }
  const log = createLog('warn')
  const modelsFolder = modelsFolderOf(config)
  await preparePack({ folder: modelsFolder, onProgress: () => {}, log })
  const set = await chosenSet(models, modelsFolder)
  const pool = openPool(visionOptions(config, { modelsFolder, set, clock: systemClock, log }))
  await pool.ready()
  return {
    set,
    look: (picture, look = lookForAll) =>
      pool.look(picture, look, { projectId: 'cli', path: 'picture' }),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}
