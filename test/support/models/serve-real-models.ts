import { mkdir, readdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { readConfig } from '../../../src/config.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createRecentProblems } from '../../../src/lib/observability/recent-problems.ts'
import { createFacegate } from '../../../src/start/create-facegate.ts'
import type { Store } from '../../../src/store/database.ts'
import { openTestStore, serviceDatabaseSettings } from '../database/engine.ts'
import { createTestClient, serviceSettings } from '../facegate/test-facegate.ts'
import { modelsFolder } from '../vision/test-pipeline.ts'
import { createGalleryClient, type GalleryClient } from '../gallery/test-gallery.ts'

type Served = { readonly client: GalleryClient; readonly store: Store; readonly key: string }

/**
 * Starts the complete service with the models of a data folder, runs a function and closes the service.
 *
 * @param key the key of an earlier start; empty for the first one, which creates a key.
 */
export async function serveRealModels(
  dataDir: string,
  key: string,
  run: (served: Served) => Promise<void>,
): Promise<void> {
  const environment = {
    ...serviceSettings,
    ...(await serviceDatabaseSettings(dataDir)),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
  }
  const config = readConfig({ ...environment, PORT: '0' })
  const log = createLog(config.LOG_LEVEL)
  const recentProblems = createRecentProblems()
  const options = { version: 'test', clock: systemClock, log, recentProblems, onProgress: () => {} }
  const facegate = await createFacegate(config, options)
  const store = await openTestStore(dataDir)
  try {
    const url = await facegate.server.listen(config.HOST, config.PORT)
    const usedKey = (await facegate.createFirstKey()) ?? key
    await run({ client: createGalleryClient(createTestClient(url, usedKey)), store, key: usedKey })
  } finally {
    await store.close()
    await facegate.close()
  }
}

/** Links the built-in models of all tests, so that a test can install packs beside them. */
export async function linkModels(dataDir: string): Promise<void> {
  const folder = path.join(dataDir, 'models')
  await mkdir(folder, { recursive: true })
  await mkdir(modelsFolder, { recursive: true })
  for (const file of await readdir(modelsFolder))
    if (file.endsWith('.onnx') || file === 'optimized')
      await symlink(path.join(modelsFolder, file), path.join(folder, file))
}
