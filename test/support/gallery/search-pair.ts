import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
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
import type { SubjectRow } from '../../../src/store/schema.ts'
import type { Template } from '../../../src/vision/image-analysis.ts'
import { allAccountsStore } from '../database/all-accounts-store.ts'
import { createMigratedDatabase } from '../database/engine.ts'
import { fakeCalibrations } from './fake-vision.ts'

export const silentLog = { info: () => {}, warn: () => {}, error: () => {} }

/** One database that two galleries are opened over: one searches in memory, one in the database. */
export type SearchPair = AsyncDisposable & {
  readonly store: Store
  readonly url: string
  readonly masterKeyFile: string
  readonly maintenance: VectorMaintenance
  readonly owner: Parameters<Gallery['create']>[1]
  readonly inMemory: Gallery
  readonly inDatabase: Gallery
  /** Another server on the same database. */
  readonly openServer: (options?: SearchPairOptions) => Promise<Gallery>
}

type SearchPairOptions = {
  readonly exactMax?: number
  readonly isRotated?: boolean
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
  const upkeep = opened.use(await openVectorMaintenance(url, { log: silentLog }))
  const masterKeyFile = path.join(folder, 'master.key')
  const openWith = (
    openSearch: OpenGallerySearch,
    { models, log = silentLog }: SearchPairOptions,
  ) =>
    openGallery({
      store,
      openSearch,
      calibrations: fakeCalibrations(models ?? { active: 'people@1' }),
      masterKeyFile,
      retentionDays: 1000,
      templatesPerSubject: 20,
      templatesPerGallery: 1_000_000,
      clock: Date.now,
      log,
    })
  const open = (more: SearchPairOptions = {}) => {
    const { exactMax = 1_000_000, isRotated = true } = { ...options, ...more }
    return openWith(openDatabaseSearch({ exactMax, isRotated, maintenance: upkeep }), {
      ...options,
      ...more,
    })
  }
  const exact = opened.use(openExactSearch({ threads: 1, log: silentLog }))
  const inDatabase = await open()
  const inMemory = await openWith(openMemorySearch(exact), options)
  const accountId = await createAccount(store.db, 'search', new Date())
  const project = { accountId, name: 'search', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(store.db, project, new Date())
  const owner = { galleryId: projectId, accountId, projectId }
  const held = opened.move()
  return {
    store,
    url,
    masterKeyFile,
    maintenance: upkeep,
    owner,
    inMemory,
    inDatabase,
    openServer: open,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

/** Somebody to be enrolled, or looked for. */
export type TemplateSample = {
  readonly person: number
  /** Which of their pictures; 0 is the plain one, and two of the same number are the same. */
  readonly take?: number
  /** How far their pictures are from the plain one. */
  readonly deviation?: number
  readonly modelId?: string
}

const dimensions = 64

/** A template of a person: pictures of one lie about a direction of their own. */
export function templateOf(look: TemplateSample): Template {
  const { person, take = 0, modelId = 'people@1' } = look
  const plain = pseudoRandomNumbers(person * 7919 + modelId.length)
  const other = pseudoRandomNumbers(person * 104_729 + take * 31 + 1)
  const deviation = take === 0 ? 0 : (look.deviation ?? 0.4)
  const vector = Float32Array.from(
    { length: dimensions },
    () => (plain() + deviation * other()) * Math.sqrt(3 / dimensions),
  )
  return { modelId, vector, density: -1.2 + plain() * 0.2 }
}

/** Pseudo-random numbers within -1..1, the same ones every time. */
function pseudoRandomNumbers(seed: number): () => number {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
  for (let warm = 0; warm < 4; warm++) next()
  return next
}

/** Enrols people, each with as many faces as looks, all in one transaction. */
export function enrollPeople(
  { store, owner }: SearchPair,
  gallery: Gallery,
  people: readonly {
    readonly looks: readonly TemplateSample[]
    readonly groups?: readonly string[]
  }[],
): Promise<SubjectRow[]> {
  return store.write(async (tx) => {
    const subjects: SubjectRow[] = []
    for (const { looks, groups } of people) {
      const subject = await gallery.create(tx, owner, {})
      for (const look of looks)
        await gallery.addFace(tx, subject, { template: templateOf(look), qualityScore: 90 })
      if (groups) await gallery.update(tx, subject, { addGroups: groups })
      subjects.push(subject)
    }
    return subjects
  })
}
