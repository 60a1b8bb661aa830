import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { openGallery, type Gallery } from '../../../src/gallery/gallery.ts'
import { openDatabaseSearch } from '../../../src/gallery/search/database/database-search.ts'
import { openExactSearch } from '../../../src/gallery/search/memory/exact-search.ts'
import type { OpenGallerySearch } from '../../../src/gallery/search/gallery-search.ts'
import { openMemorySearch } from '../../../src/gallery/search/memory/memory-search.ts'
import type { Log } from '../../../src/lib/log.ts'
import type { Store } from '../../../src/store/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import {
  openVectorMaintenance,
  type VectorMaintenance,
} from '../../../src/store/postgres/vectors/vector-maintenance.ts'
import { createAccount, createProject } from '../../../src/store/tenancy/projects.ts'
import type { SubjectRow } from '../../../src/store/gallery-schema.ts'
import type { Template } from '../../../src/vision/embed/template.ts'
import { allAccountsStore } from '../database/all-accounts-store.ts'
import { createMigratedDatabase } from '../database/engine.ts'
import { fakeCalibrations } from './fake-vision.ts'

export const silentLog = { info: () => {}, warn: () => {}, error: () => {} }

/** Two galleries over one database: one searches in memory, the other in the database. */
export type SearchPair = AsyncDisposable & {
  readonly store: Store
  readonly url: string
  readonly masterKeyFile: string
  readonly maintenance: VectorMaintenance
  readonly owner: Parameters<Gallery['subjects']['create']>[1]
  readonly inMemory: Gallery
  readonly inDatabase: Gallery
  /** Opens another gallery over the same database, as a second server would. */
  readonly openServer: (options?: SearchPairOptions) => Promise<Gallery>
}

type SearchPairOptions = {
  readonly exactMax?: number
  readonly clock?: () => number
  readonly models?: Parameters<typeof fakeCalibrations>[0]
  readonly log?: Pick<Log, 'info' | 'warn' | 'error'>
}

export async function openSearchPair(options: SearchPairOptions = {}): Promise<SearchPair> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-search-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const { url } = opened.use(await createMigratedDatabase())
  const opening = openStore({ dataDir: folder, databaseUrl: url }, { isServer: true })
  const store = allAccountsStore(await opening)
  opened.defer(() => store.close())
  const maintenance = opened.use(await openVectorMaintenance(url, { log: silentLog }))
  const masterKeyFile = path.join(folder, 'master.key')
  const openWith = (
    openSearch: OpenGallerySearch,
    { models, clock = Date.now, log = silentLog }: SearchPairOptions,
  ) =>
    openGallery({
      store,
      openSearch,
      calibrations: fakeCalibrations(models ?? { active: 'people@1' }),
      masterKeyFile,
      retentionDays: 1000,
      feedbackMs: 1,
      groupDeletion: { subjectsMax: 1000, durationMsMax: 10_000 },
      templatesPerSubject: 20,
      templatesPerGallery: 1_000_000,
      clock,
      log,
    })
  const openServer = (overrides: SearchPairOptions = {}) => {
    const { exactMax = 1_000_000, ...rest } = { ...options, ...overrides }
    return openWith(openDatabaseSearch({ exactMax, maintenance }), rest)
  }
  const exact = opened.use(openExactSearch({ threads: 1, log: silentLog }))
  const inDatabase = await openServer()
  const inMemory = await openWith(openMemorySearch(exact), options)
  const accountId = await createAccount(store.db, 'search', new Date())
  const project = { accountId, name: 'search', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(store.db, project, new Date())
  const owner = { galleryId: projectId, accountId, projectId }
  const resources = opened.move()
  return {
    store,
    url,
    masterKeyFile,
    maintenance,
    owner,
    inMemory,
    inDatabase,
    openServer,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Describes a template of a person, to be enrolled or searched. */
export type TemplateSample = {
  readonly person: number
  /** Number of the person's image. 0 is the mean; equal numbers give equal templates. */
  readonly take?: number
  /** Distance of this person's other images from the mean. */
  readonly deviation?: number
  readonly modelId?: string
}

const dimensions = 64

/** Returns a template. The templates of a person lie around the same direction. */
export function templateOf(sample: TemplateSample): Template {
  const { person, take = 0, modelId = 'people@1' } = sample
  const mean = pseudoRandomNumbers(person * 7919 + modelId.length)
  const difference = pseudoRandomNumbers(person * 104_729 + take * 31 + 1)
  const deviation = take === 0 ? 0 : (sample.deviation ?? 0.4)
  const vector = Float32Array.from(
    { length: dimensions },
    () => (mean() + deviation * difference()) * Math.sqrt(3 / dimensions),
  )
  return { modelId, vector, density: -1.2 + mean() * 0.2 }
}

/** Returns a generator of pseudo-random numbers in -1..1; a seed always gives the same numbers. */
function pseudoRandomNumbers(seed: number): () => number {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
  for (let discarded = 0; discarded < 4; discarded++) next()
  return next
}

type PersonToEnroll = {
  readonly samples: readonly TemplateSample[]
  readonly groups?: readonly string[]
}

/** Returns persons with one sample each. */
export function peopleBetween(
  from: number,
  to: number,
  groups?: readonly string[],
): PersonToEnroll[] {
  return Array.from({ length: to - from }, (_, index) => ({
    samples: [{ person: from + index }],
    ...(groups && { groups }),
  }))
}

/** Enrolls people with one face per sample, all in one transaction. */
export function enrollPeople(
  { store, owner }: SearchPair,
  gallery: Gallery,
  people: readonly PersonToEnroll[],
): Promise<SubjectRow[]> {
  return store.write(async (tx) => {
    const subjects: SubjectRow[] = []
    for (const { samples, groups } of people) {
      const subject = await gallery.subjects.create(tx, owner, {})
      for (const sample of samples)
        await gallery.subjects.addFace(tx, subject, {
          template: templateOf(sample),
          qualityScore: 90,
        })
      if (groups) await gallery.subjects.update(tx, subject, { addGroups: groups })
      subjects.push(subject)
    }
    return subjects
  })
}

/** Asserts that each of these people is found first, with the same result as in memory. */
export async function assertFound(
  { owner, inMemory }: SearchPair,
  gallery: Gallery,
  people: readonly number[],
): Promise<void> {
  for (const person of people) {
    const probes = [templateOf({ person, take: 1 })]
    const found = await gallery.matching.search(owner.galleryId, probes, { limit: 3 })
    assert.deepEqual(found, await inMemory.matching.search(owner.galleryId, probes, { limit: 3 }))
    assert.ok((found[0]?.similarity ?? 0) > 0.9, `person ${person} is found`)
  }
}

/** Returns the result of a query that is allowed to read the rows of all accounts. */
export async function queryRows(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set "facegate.account" = '*'`)
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

export async function countRows(url: string, from: string): Promise<number> {
  const [row] = await queryRows(url, `select count(*)::int as count from ${from}`)
  return Number(row?.['count'])
}
