import { mkdtemp, rm } from 'node:fs/promises'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createDecryptStoredTemplate } from '../../src/gallery/keys/decrypt-stored-template.ts'
import { createMasterKeyFile, openKeyring } from '../../src/gallery/keys/keyring.ts'
import { createSubjectKeys } from '../../src/gallery/keys/subject-keys.ts'
import { openExactSearch } from '../../src/gallery/search/memory/exact-search.ts'
import { openMemorySearch } from '../../src/gallery/search/memory/memory-search.ts'
import { createLog } from '../../src/lib/log.ts'
import { sql } from '../../src/store/kysely.ts'
import type { Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createInitialProject } from '../../src/store/tenancy/create-initial-project.ts'
import { storeFaces } from '../../test/support/bulk/store-faces.ts'
import { fakeCalibrations } from '../../test/support/gallery/fake-vision.ts'
import { showProgress } from '../support/table.ts'
import { createTemplateSource, dimensions } from './random-templates.ts'

const modelId = 'bench@1'
/** Large transactions write each page of an index less often: ids of faces are random. */
const storedFacesPerTransaction = 200_000
const storingCacheKib = 6 * 2 ** 20

/**
 * Stores encrypted templates in an SQLite database, and measures how long a start takes to load them.
 * With an earlier folder it uses the database in it, so that a large one is stored once.
 *
 * @returns the cells of a table: templates, storing s, loading s, processor s, µs of processor time
 *   per template, loop delay ms.
 */
export async function measureLoad(count: number, folder: string | undefined): Promise<string[]> {
  const dataDir = folder ?? (await mkdtemp(path.join(tmpdir(), 'facegate-bench-load-')))
  const masterKeyFile = path.join(dataDir, 'master.key')
  const store = await openStore(dataDir)
  try {
    const startMs = performance.now()
    await storeTemplates(store, { masterKeyFile, count })
    const storingMs = performance.now() - startMs
    const { rows, seconds, processorSeconds, delayMs } = await load(store, {
      dataDir,
      masterKeyFile,
    })
    return [
      String(rows),
      (storingMs / 1000).toFixed(1),
      seconds.toFixed(1),
      processorSeconds.toFixed(1),
      ((processorSeconds * 1e6) / rows).toFixed(1),
      delayMs.toFixed(1),
    ]
  } finally {
    await store.close()
    if (folder === undefined) await rm(dataDir, { recursive: true, force: true })
  }
}

type LoadFiles = { readonly dataDir: string; readonly masterKeyFile: string }

async function storeTemplates(
  store: Store,
  { masterKeyFile, count }: { readonly masterKeyFile: string; readonly count: number },
): Promise<void> {
  const project = await store.runExclusive(async ({ db }) => {
    await sql`pragma cache_size = ${sql.raw(String(-storingCacheKib))}`.execute(db)
    return createInitialProject(db, new Date())
  })
  // A folder of an earlier run contains its templates already.
  if (!project) return
  createMasterKeyFile(masterKeyFile)
  const { projectId, accountId } = project
  const owner = { galleryId: projectId, accountId, projectId }
  const nextTemplate = createTemplateSource()
  await storeFaces(
    { store, masterKeyFile, owner },
    {
      count,
      facesPerTransaction: storedFacesPerTransaction,
      templateAt: () => ({ modelId, ...nextTemplate() }),
      onProgress: (stored) => showProgress(`storing ${stored} of ${count} templates`),
    },
  )
  await store.checkpoint()
}

async function load(store: Store, { dataDir, masterKeyFile }: LoadFiles) {
  const log = createLog('error')
  const progress = { ...log, info: (fields: object) => showProgress(JSON.stringify(fields)) }
  await using exact = openExactSearch({ log })
  const keys = createSubjectKeys(openKeyring(masterKeyFile), Date.now)
  const decryptStored = createDecryptStoredTemplate(keys, log)
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  const usage = process.cpuUsage()
  const startMs = performance.now()
  monitor.enable()
  const location = { dataDir, databaseUrl: '' }
  await openMemorySearch(exact, { location, masterKeyFile })({
    store,
    decryptStored,
    calibrations: fakeCalibrations({ active: modelId }),
    log: progress,
  })
  monitor.disable()
  const { user, system } = process.cpuUsage(usage)
  const { rows, bytes } = exact.stats()
  showProgress(`${rows} templates of ${dimensions} values, ${Math.round(bytes / rows)} bytes each`)
  return {
    rows,
    seconds: (performance.now() - startMs) / 1000,
    processorSeconds: (user + system) / 1e6,
    delayMs: monitor.max / 1e6,
  }
}
