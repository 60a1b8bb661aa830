import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { addFace, createSubject } from '../src/gallery/enrollment.ts'
import { type SubjectKeys, createSubjectKeys, openKeyring } from '../src/gallery/keys/keyring.ts'
import { createMasterKeyFile } from '../src/gallery/keys/master-key-file.ts'
import { type Store, type Tx, sql } from '../src/store/database.ts'
import { openStore } from '../src/store/open-store.ts'
import {
  createInitialProject,
  type InitialProject,
} from '../src/store/tenancy/create-initial-project.ts'
import { lockGallery } from '../src/store/gallery/galleries.ts'
import { allAccountsStore } from '../test/support/database/all-accounts-store.ts'
import {
  postgresSkipReason,
  startPostgresCluster,
} from '../test/support/database/postgres-server.ts'
import { markdownTable } from './support/table.ts'

const dimensions = 256
const batchSubjects = 200
const limits = { templatesPerSubject: 20, templatesPerGallery: 1e9 }

/**
 * `npm run bench disk [--subjects 20000]`: database bytes per subject with one face, one template of
 * 256 values, an external id of 12 characters and no attributes. The request log and the write-ahead
 * log are not counted.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { subjects: { type: 'string', default: '20000' } },
  })
  const subjects = Number(values.subjects)
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-disk-'))
  const rows: string[][] = []
  try {
    await using sqlite = disposable(await openStore(folder))
    const file = path.join(folder, 'facegate.db')
    rows.push(await measure('SQLite', sqlite.store, subjects, async () => (await stat(file)).size))
    if (postgresSkipReason === undefined) rows.push(await measurePostgres(subjects))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  console.log(
    markdownTable(['', 'subjects', 'bytes per subject', 'GB per million', 'subjects/s'], rows),
  )
}

async function measurePostgres(subjects: number): Promise<string[]> {
  await using cluster = await startPostgresCluster()
  await using database = await cluster.createDatabase()
  await using postgres = disposable(await openStore({ dataDir: '', databaseUrl: database.url }))
  const store = allAccountsStore(postgres.store)
  return await measure('PostgreSQL', store, subjects, async () => {
    const size = sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
    return (await size.execute(store.db)).rows[0]?.bytes ?? 0
  })
}

function disposable(store: Store): AsyncDisposable & { readonly store: Store } {
  return { store, [Symbol.asyncDispose]: () => store.close() }
}

async function measure(
  name: string,
  store: Store,
  subjects: number,
  bytesNow: () => Promise<number>,
): Promise<string[]> {
  const keyFolder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-key-'))
  const file = path.join(keyFolder, 'master.key')
  createMasterKeyFile(file)
  const keys = createSubjectKeys(openKeyring(file), Date.now)
  const project = await store.runExclusive(({ db }) => createInitialProject(db, new Date()))
  if (!project) throw new Error('the database is not empty')
  await store.checkpoint()
  const bytesBefore = await bytesNow()
  const startMs = performance.now()
  for (let from = 0; from < subjects; from += batchSubjects)
    await store.write((tx) => enrollBatch(tx, keys, project, from))
  const seconds = (performance.now() - startMs) / 1000
  await store.checkpoint()
  const bytesPerSubject = ((await bytesNow()) - bytesBefore) / subjects
  await rm(keyFolder, { recursive: true })
  const figures = [subjects, bytesPerSubject, bytesPerSubject / 1000, subjects / seconds]
  return [name, ...figures.map((figure, index) => figure.toFixed(index === 2 ? 2 : 0))]
}

async function enrollBatch(tx: Tx, keys: SubjectKeys, project: InitialProject, from: number) {
  const { projectId, accountId } = project
  const owner = { galleryId: projectId, accountId, projectId }
  const nowUtc = new Date().toISOString()
  await lockGallery(tx, projectId, 'exclusive')
  for (let index = from; index < from + batchSubjects; index++) {
    const externalId = `person-${String(index).padStart(5, '0')}`
    const subject = await createSubject(tx, keys, owner, { externalId, nowUtc })
    const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5)
    const template = { modelId: 'bench@1', vector, density: 0 }
    const options = { ...limits, keys, nowUtc, storeVectors: async () => {} }
    await addFace(tx, subject, { template, qualityScore: 80 }, options)
  }
}
