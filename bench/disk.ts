import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { addFace, createSubject } from '../src/gallery/add.ts'
import { createKeyFile, openKeyring } from '../src/gallery/keyring.ts'
import { createSubjectKeys, type SubjectKeys } from '../src/gallery/subject-keys.ts'
import { openStore, type Store } from '../src/store/database.ts'
import { firstStart, type FirstStart } from '../src/store/first-start.ts'
import { holdGallery } from '../src/store/galleries.ts'
import type { Tx } from '../src/store/tx.ts'
import { postgresMissing, startCluster } from '../test/postgres.ts'
import { table } from './table.ts'

const dimensions = 256
const subjectsAtATime = 200
const limits = { templatesPerSubject: 20, templatesPerGallery: 1e9 }

/**
 * `npm run bench disk [--subjects 20000]`: bytes that a database takes for each subject of one face
 * and one template of 256 values, an external id of 12 characters, no attributes; without its log of
 * calls and its write-ahead log.
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
    await using sqlite = opened(await openStore(folder))
    const file = path.join(folder, 'facegate.db')
    rows.push(await measure('SQLite', sqlite.store, subjects, async () => (await stat(file)).size))
    if (postgresMissing === undefined) rows.push(await measurePostgres(subjects))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  console.log(table(['', 'subjects', 'bytes each', 'a million, GB', 'subjects a second'], rows))
}

async function measurePostgres(subjects: number): Promise<string[]> {
  await using cluster = await startCluster()
  await using database = await cluster.freshDatabase()
  await using postgres = opened(await openStore({ dataDir: '', databaseUrl: database.url }))
  const { store } = postgres
  return await measure('PostgreSQL', store, subjects, async () => {
    const size = sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
    return (await size.execute(store.db)).rows[0]?.bytes ?? 0
  })
}

function opened(store: Store): AsyncDisposable & { readonly store: Store } {
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
  createKeyFile(file)
  const keys = createSubjectKeys(openKeyring(file), Date.now)
  const first = await store.change(({ db }) => firstStart(db, new Date()))
  if (!first) throw new Error('the database is not empty')
  await store.checkpoint()
  const before = await bytesNow()
  const beganMs = performance.now()
  for (let at = 0; at < subjects; at += subjectsAtATime)
    await store.write((tx) => enrollSome(tx, keys, first, at))
  const seconds = (performance.now() - beganMs) / 1000
  await store.checkpoint()
  const each = ((await bytesNow()) - before) / subjects
  await rm(keyFolder, { recursive: true })
  const figures = [subjects, each, each / 1000, subjects / seconds]
  return [name, ...figures.map((figure, at) => figure.toFixed(at === 2 ? 2 : 0))]
}

async function enrollSome(tx: Tx, keys: SubjectKeys, first: FirstStart, from: number) {
  const { projectId, accountId } = first
  const owner = { galleryId: projectId, accountId, projectId }
  const nowUtc = new Date().toISOString()
  await holdGallery(tx, projectId, 'alone')
  for (let at = from; at < from + subjectsAtATime; at++) {
    const externalId = `person-${String(at).padStart(5, '0')}`
    const subject = await createSubject(tx, keys, owner, { externalId, nowUtc })
    const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5)
    const template = { modelId: 'bench@1', vector, density: 0 }
    const adding = { ...limits, keys, nowUtc, remember: async () => {} }
    await addFace(tx, subject, { template, qualityScore: 80 }, adding)
  }
}
