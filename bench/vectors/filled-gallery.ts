import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { createCalibrations, calibrationOf } from '../../src/gallery/calibration/calibrations.ts'
import { type SubjectKeys, createSubjectKeys, openKeyring } from '../../src/gallery/keys/keyring.ts'
import { createMasterKeyFile } from '../../src/gallery/keys/master-key-file.ts'
import {
  createDecryptStoredTemplate,
  encryptTemplate,
} from '../../src/gallery/keys/template-encryption.ts'
import type { SearchDeps } from '../../src/gallery/search/gallery-search.ts'
import { newId } from '../../src/lib/ids.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { openStore } from '../../src/store/open-store.ts'
import { allAccountsStore } from '../../test/support/database/all-accounts-store.ts'
import { recordGalleryChange, createGallery } from '../../src/store/gallery/galleries.ts'
import { createAccount, createProject } from '../../src/store/tenancy/projects.ts'
import type { Tx } from '../../src/store/database.ts'
import { templateAt, type TemplateMatrix } from '../search/random-templates.ts'

export const { modelId } = await readTemplateModel()

/** Groups by their share of the subjects. */
export const groupNames = ['1 in 10', '1 in 100'] as const

/** A database with one gallery of faces, one face per subject. */
export type FilledGallery = AsyncDisposable & {
  readonly url: string
  readonly size: number
  readonly owner: BenchGalleryOwner
  readonly parts: SearchDeps
  /** Rows in the table and in the search index. */
  readonly bytesPerVector: () => Promise<readonly [table: number, index: number]>
}

type BenchGalleryOwner = {
  readonly accountId: string
  readonly projectId: string
  readonly galleryId: string
}

const batchSubjects = 250
const silentLog = { info: () => {}, warn: () => {}, error: () => {} }

export async function openFilledGallery(
  url: string,
  faces: TemplateMatrix,
  report: (text: string) => void,
): Promise<FilledGallery> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const opening = openStore({ dataDir: folder, databaseUrl: url }, { isServer: true })
  const store = allAccountsStore(await opening)
  opened.defer(() => store.close())
  const keyFile = path.join(folder, 'master.key')
  createMasterKeyFile(keyFile)
  const keys = createSubjectKeys(openKeyring(keyFile), Date.now)
  const accountId = await createAccount(store.db, 'bench', new Date())
  const project = { accountId, name: 'bench', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(store.db, project, new Date())
  const owner = { accountId, projectId, galleryId: projectId }
  const size = faces.densities.length
  for (let from = 0; from < size; from += batchSubjects) {
    report(`storing ${from} of ${size}`)
    const to = Math.min(size, from + batchSubjects)
    await store.write((tx) => storeBatch(tx, { keys, owner, faces }, from, to))
  }
  const shipped = calibrationOf(modelId)
  if (!shipped) throw new Error('the built-in calibration table is missing')
  const decryptStored = createDecryptStoredTemplate(keys, silentLog)
  const parts = {
    store,
    decryptStored,
    calibrations: createCalibrations(shipped),
    log: silentLog,
  }
  const resources = opened.move()
  return {
    url,
    size,
    owner,
    parts,
    bytesPerVector: () => bytesPerVector(url, size),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

type FillInput = {
  readonly keys: SubjectKeys
  readonly owner: BenchGalleryOwner
  readonly faces: TemplateMatrix
}

/** Inserts like an enrolment, but many rows per statement. */
async function storeBatch(tx: Tx, input: FillInput, from: number, to: number): Promise<void> {
  const { keys, owner, faces } = input
  const { galleryId, accountId } = owner
  const nowUtc = new Date().toISOString()
  await createGallery(tx, { galleryId, accountId })
  const rows = []
  for (let index = from; index < to; index++) {
    const [subjectId, faceId] = [newId(), newId()]
    const { key, ...wrapped } = await keys.create(tx, { subjectId, galleryId })
    const location = { accountId, galleryId, subjectId, faceId, modelId }
    const encryptedTemplate = encryptTemplate(key, location, {
      ...templateAt(faces, index),
      modelId,
    })
    const names = groupNames.filter((name) => index % Number(name.slice('1 in '.length)) === 0)
    rows.push({ faceId, subjectId, wrapped, encryptedTemplate, names })
  }
  const sequence = await recordGalleryChange(tx, {
    galleryId,
    subjects: rows.length,
    faces: rows.length,
  })
  const times = { createdAtUtc: nowUtc, updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc }
  const defaults = { externalId: null, displayName: null, attributes: '{}', expiresAtUtc: null }
  const { projectId } = owner
  const subjects = rows.map(({ subjectId, wrapped }) => ({
    subjectId,
    galleryId,
    projectId,
    ...defaults,
    withoutFaces: 0 as const,
    ...wrapped,
    ...times,
  }))
  await tx.run(tx.build.insertInto('subjects').values(subjects))
  const facts = { galleryId, sequence, qualityScore: 90, createdAtUtc: nowUtc }
  const faceRows = rows.map(({ faceId, subjectId }) => ({ ...facts, faceId, subjectId }))
  await tx.run(tx.build.insertInto('faces').values(faceRows))
  const templates = rows.map(({ faceId, encryptedTemplate }) => ({
    galleryId,
    faceId,
    modelId,
    ciphertext: encryptedTemplate,
  }))
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
