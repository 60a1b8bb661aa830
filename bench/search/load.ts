import { mkdtemp, rm } from 'node:fs/promises'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createDecryptStoredTemplate } from '../../src/gallery/keys/template-encryption.ts'
import { createSubjectKeys, openKeyring } from '../../src/gallery/keys/keyring.ts'
import { createMasterKeyFile } from '../../src/gallery/keys/master-key-file.ts'
import { openExactSearch } from '../../src/gallery/search/memory/exact-search.ts'
import { openMemorySearch } from '../../src/gallery/search/memory/memory-search.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createInitialProject } from '../../src/store/tenancy/create-initial-project.ts'
import { storeFaces } from '../../test/support/bulk/store-faces.ts'
import { fakeCalibrations } from '../../test/support/gallery/fake-vision.ts'
import { showProgress } from '../support/table.ts'
import { createTemplateSource, dimensions } from './random-templates.ts'
import { storePages } from './store-pages.ts'

const modelId = 'bench@1'

export type LoadOptions = {
  readonly count: number
  /** The folder of the database; undefined: a temporary one. */
  readonly folder: string | undefined
  /** Whether faces and pages are stored without templates: ten million in minutes, not hours. */
  readonly pagesOnly: boolean
  /** The faces of each subject, with pages only. */
  readonly perSubject: number
}

/**
 * Stores encrypted templates in an SQLite database, and measures how long a start takes to load them.
 * With an earlier folder it uses the database in it, so that a large one is stored once.
 *
 * @returns the cells of a table: rows of the index, storing s, loading s, processor s, µs of processor
 *   time per row, loop delay ms.
 */
export async function measureLoad({
  count,
  folder,
  pagesOnly,
  perSubject,
}: LoadOptions): Promise<string[]> {
  const dataDir = folder ?? (await mkdtemp(path.join(tmpdir(), 'facegate-bench-load-')))
  const masterKeyFile = path.join(dataDir, 'master.key')
  const store = await openStore(dataDir)
  try {
    const startMs = performance.now()
    await storeTemplates(store, { masterKeyFile, count, pagesOnly, perSubject })
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
  {
    masterKeyFile,
    count,
    pagesOnly,
    perSubject,
  }: Omit<LoadOptions, 'folder'> & Pick<LoadFiles, 'masterKeyFile'>,
): Promise<void> {
  const project = await store.runExclusive(({ db }) => createInitialProject(db, new Date()))
  // A folder of an earlier run contains its templates already.
  if (!project) return
  createMasterKeyFile(masterKeyFile)
  const { projectId, accountId } = project
  const owner = { galleryId: projectId, accountId, projectId }
  const createVector = createTemplateSource()
  const nextTemplate = () => ({ modelId, ...createVector() })
  const onProgress = (stored: number): void =>
    showProgress(`storing ${stored} of ${count} templates`)
  const target = { store, masterKeyFile, owner }
  // With pages only, the first face creates the keys of the gallery and a subject.
  const faces = { count: pagesOnly ? 1 : count, templateAt: nextTemplate, onProgress }
  const [faceId = ''] = await storeFaces(target, faces)
  if (pagesOnly) {
    const models = fakeCalibrations({ active: modelId })
    const pages = { count: count - 1, perSubject, nextTemplate, models, onProgress }
    await storePages({ ...target, firstFaceId: faceId }, pages)
  }
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
