import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { createCalibrations, calibrationOf } from '../../src/gallery/calibrations.ts'
import { createKeyFile, openKeyring } from '../../src/gallery/keyring.ts'
import { createOpener } from '../../src/gallery/opener.ts'
import type { SearchParts } from '../../src/gallery/search/gallery-search.ts'
import { createSubjectKeys } from '../../src/gallery/subject-keys.ts'
import { sealTemplate } from '../../src/gallery/template-seal.ts'
import { newId } from '../../src/lib/ids.ts'
import { openStore } from '../../src/store/database.ts'
import { countChange, createGallery } from '../../src/store/galleries.ts'
import { createAccount, createProject } from '../../src/store/projects.ts'
import type { Tx } from '../../src/store/tx.ts'
import { faceAt, type Faces } from '../search/faces.ts'

export const modelId = 'dlib-faceres-256@1'

/** Groups by how many of the subjects are in them. */
export const groupNames = ['1 in 10', '1 in 100'] as const

/** A database with one gallery of faces, each of a subject of its own. */
export type Filled = AsyncDisposable & {
  readonly url: string
  readonly size: number
  readonly owner: Owner
  readonly parts: SearchParts
  /** In the table, and in the index of the search. */
  readonly bytesPerVector: () => Promise<readonly [table: number, index: number]>
}

type Owner = {
  readonly accountId: string
  readonly projectId: string
  readonly galleryId: string
}

const subjectsAtATime = 250
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

export async function openFilled(
  url: string,
  faces: Faces,
  report: (text: string) => void,
): Promise<Filled> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const store = await openStore({ dataDir: folder, databaseUrl: url }, { isServer: true })
  opened.defer(() => store.close())
  const keyFile = path.join(folder, 'master.key')
  createKeyFile(keyFile)
  const keys = createSubjectKeys(openKeyring(keyFile), Date.now)
  const accountId = await createAccount(store.db, 'bench', new Date())
  const project = { accountId, name: 'bench', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(store.db, project, new Date())
  const owner = { accountId, projectId, galleryId: projectId }
  const size = faces.densities.length
  for (let from = 0; from < size; from += subjectsAtATime) {
    report(`storing ${from} of ${size}`)
    const to = Math.min(size, from + subjectsAtATime)
    await store.write((tx) => storeSome(tx, { keys, owner, faces }, from, to))
  }
  const shipped = calibrationOf(modelId)
  if (!shipped) throw new Error('the built-in table is gone')
  const openStored = createOpener(keys, quiet)
  const parts = { store, keys, openStored, calibrations: createCalibrations(shipped), log: quiet }
  const held = opened.move()
  return {
    url,
    size,
    owner,
    parts,
    bytesPerVector: () => bytesPerVector(url, size),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

type Storing = {
  readonly keys: SearchParts['keys']
  readonly owner: Owner
  readonly faces: Faces
}

/** As enrolments do it, but many rows at once. */
async function storeSome(tx: Tx, storing: Storing, from: number, to: number): Promise<void> {
  const { keys, owner, faces } = storing
  const { galleryId, accountId: tenantId } = owner
  const nowUtc = new Date().toISOString()
  await createGallery(tx, { galleryId, accountId: tenantId })
  const rows = []
  for (let at = from; at < to; at++) {
    const [subjectId, faceId] = [newId(), newId()]
    const { key, ...wrapped } = await keys.create(tx, { subjectId, galleryId })
    const place = { tenantId, galleryId, subjectId, faceId, modelId }
    const sealed = sealTemplate(key, place, {
      ...faceAt(faces, at),
      modelId,
    })
    const names = groupNames.filter((name) => at % Number(name.slice('1 in '.length)) === 0)
    rows.push({ faceId, subjectId, wrapped, sealed, names })
  }
  const sequence = await countChange(tx, {
    galleryId,
    subjects: rows.length,
    faces: rows.length,
  })
  const times = { createdAtUtc: nowUtc, updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc }
  const named = { externalId: null, displayName: null, attributes: '{}', expiresAtUtc: null }
  const { projectId } = owner
  const subjects = rows.map(({ subjectId, wrapped }) => ({
    subjectId,
    galleryId,
    projectId,
    ...named,
    ...wrapped,
    ...times,
  }))
  await tx.run(tx.build.insertInto('subjects').values(subjects))
  const facts = { galleryId, sequence, qualityScore: 90, createdAtUtc: nowUtc }
  const faceRows = rows.map(({ faceId, subjectId }) => ({ ...facts, faceId, subjectId }))
  await tx.run(tx.build.insertInto('faces').values(faceRows))
  const templates = rows.map(({ faceId, sealed }) => ({ galleryId, faceId, modelId, sealed }))
  await tx.run(tx.build.insertInto('templates').values(templates))
  const members = rows.flatMap(({ subjectId, names }) =>
    names.map((name) => ({ galleryId, name, subjectId })),
  )
  if (members.length > 0) await tx.run(tx.build.insertInto('subjectGroups').values(members))
}

async function bytesPerVector(url: string, size: number): Promise<readonly [number, number]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ table: number; index: number }>(`select
    sum(pg_relation_size(oid)) filter (where relkind = 'r')::float8 as table,
    sum(pg_relation_size(oid)) filter (where relname like '%_near_%')::float8 as index
    from pg_class where relname like 'vectors_%' and relkind in ('r', 'i')`)
  await client.end()
  return [(rows[0]?.table ?? 0) / size, (rows[0]?.index ?? 0) / size]
}
