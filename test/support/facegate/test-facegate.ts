import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Log } from '../../../src/lib/log.ts'
import type { Facegate } from '../../../src/start/create-facegate.ts'
import { addEmptyDatabase } from '../database/data-folder.ts'
import { databaseSettings, dropDatabase } from '../database/engine.ts'
import { testModelsFolder } from '../paths.ts'
import { shareService } from '../shared-service.ts'
import { createTestClient, unlimitedRates, type TestClient, type TestImage } from './test-client.ts'

export {
  createTestClient,
  imageItem,
  unlimitedRates,
  type TestClient,
  type TestImage,
  type TestResponse,
} from './test-client.ts'

/** The whole service in the test process. */
export type TestFacegate = AsyncDisposable &
  TestClient & { readonly facegate: Facegate; readonly dataDir: string }

/**
 * The settings of services with the real networks. The start of each worker takes a second. The
 * limits of time are much longer than the slowest machine needs.
 */
export const serviceSettings = {
  ...unlimitedRates,
  VISION_WORKERS: '1',
  VISION_TIMEOUT_MS: '60000',
  VISION_QUEUE_WAIT_MS_MAX: '120000',
  CALL_TIMEOUT_MS: '300000',
}

export async function startFacegate(
  environment: Readonly<Record<string, string>> = {},
  log?: Log,
): Promise<TestFacegate> {
  // Loaded here: most files only start services in other processes.
  const { readConfig } = await import('../../../src/config.ts')
  const { systemClock } = await import('../../../src/lib/clock.ts')
  const { createLog } = await import('../../../src/lib/log.ts')
  const { createRecentProblems } = await import('../../../src/lib/observability/recent-problems.ts')
  const { createFacegate } = await import('../../../src/start/create-facegate.ts')
  const dataDir = await createDataDir()
  await addEmptyDatabase(dataDir, environment)
  const config = readConfig({
    ...serviceSettings,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'silent',
    ...(await databaseSettings(dataDir, environment)),
    ...environment,
  })
  const facegate = await createFacegate(config, {
    version: 'test',
    clock: systemClock,
    log: log ?? createLog(environment['LOG_LEVEL'] ?? 'silent'),
    recentProblems: createRecentProblems(),
    onProgress: () => {},
  })
  const url = await facegate.server.listen(config.HOST, config.PORT)
  const key = await facegate.createFirstKey()
  assert.ok(key)
  return {
    ...createTestClient(url, key),
    facegate,
    dataDir,
    [Symbol.asyncDispose]: async () => {
      await facegate.close()
      await dropDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The service with the default settings, for the tests that need no other ones. */
export const sharedFacegate = shareService(() => startFacegate())

/** Creates a new data folder that uses the models converted by an earlier test run. */
export async function createDataDir(): Promise<string> {
  await mkdir(testModelsFolder, { recursive: true })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-test-'))
  await symlink(testModelsFolder, path.join(dataDir, 'models'))
  return dataDir
}

/** Returns a photograph from the face-api package: 1920 px wide, three to five people. */
export async function samplePhotograph(n: 1 | 2 | 3 | 4 | 5 | 6): Promise<TestImage> {
  const faceApi = createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json')
  const file = path.join(path.dirname(faceApi), 'demo', `sample${n}.jpg`)
  return { bytes: await readFile(file), contentType: 'image/jpeg' }
}
