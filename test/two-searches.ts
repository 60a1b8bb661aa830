import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openGallery, type Gallery } from '../src/gallery/gallery.ts'
import { openDatabaseSearch } from '../src/gallery/search/database/open.ts'
import { openExactSearch } from '../src/gallery/search/exact.ts'
import type { OpenGallerySearch } from '../src/gallery/search/gallery-search.ts'
import { openMemorySearch } from '../src/gallery/search/memory.ts'
import type { Log } from '../src/lib/log.ts'
import { openStore, type Store } from '../src/store/database.ts'
import { openVectorUpkeep, type VectorUpkeep } from '../src/store/postgres/vector-upkeep.ts'
import { createAccount, createProject } from '../src/store/projects.ts'
import type { SubjectRow } from '../src/store/schema.ts'
import type { Template } from '../src/vision/view.ts'
import { migratedDatabase } from './engine.ts'
import { peopleCalibrations } from './people.ts'

export const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** One database that two galleries are opened over: one searches in memory, one in the database. */
export type Both = AsyncDisposable & {
  readonly store: Store
  readonly url: string
  readonly masterKeyFile: string
  readonly upkeep: VectorUpkeep
  readonly owner: Parameters<Gallery['create']>[1]
  readonly inMemory: Gallery
  readonly inDatabase: Gallery
  /** Another server on the same database. */
  readonly open: (options?: Options) => Promise<Gallery>
}

type Options = {
  readonly exactMax?: number
  readonly isRotated?: boolean
  readonly models?: Parameters<typeof peopleCalibrations>[0]
  readonly log?: Pick<Log, 'info' | 'warn' | 'error'>
}

export async function openBoth(options: Options = {}): Promise<Both> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-search-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const { url } = opened.use(await migratedDatabase())
  const store = await openStore({ dataDir: folder, databaseUrl: url }, { isServer: true })
  opened.defer(() => store.close())
  const upkeep = opened.use(await openVectorUpkeep(url, { log: quiet }))
  const masterKeyFile = path.join(folder, 'master.key')
  const openWith = (openSearch: OpenGallerySearch, { models, log = quiet }: Options) =>
    openGallery({
      store,
      openSearch,
      calibrations: peopleCalibrations(models ?? { active: 'people@1' }),
      masterKeyFile,
      retentionDays: 1000,
      templatesPerSubject: 20,
      templatesPerGallery: 1_000_000,
      clock: Date.now,
      log,
    })
  const open = (more: Options = {}) => {
    const { exactMax = 1_000_000, isRotated = true } = { ...options, ...more }
    return openWith(openDatabaseSearch({ exactMax, isRotated, upkeep }), { ...options, ...more })
  }
  const exact = opened.use(openExactSearch({ threads: 1, log: quiet }))
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
    upkeep,
    owner,
    inMemory,
    inDatabase,
    open,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

/** Somebody to be enrolled, or looked for. */
export type Look = {
  readonly person: number
  /** Which of their pictures; 0 is the plain one, and two of the same number are the same. */
  readonly take?: number
  /** How far their pictures are from the plain one. */
  readonly wobble?: number
  readonly modelId?: string
}

const dimensions = 64

/** A template of a person: pictures of one lie about a direction of their own. */
export function templateOf(look: Look): Template {
  const { person, take = 0, modelId = 'people@1' } = look
  const plain = numbers(person * 7919 + modelId.length)
  const other = numbers(person * 104_729 + take * 31 + 1)
  const wobble = take === 0 ? 0 : (look.wobble ?? 0.4)
  const vector = Float32Array.from(
    { length: dimensions },
    () => (plain() + wobble * other()) * Math.sqrt(3 / dimensions),
  )
  return { modelId, vector, density: -1.2 + plain() * 0.2 }
}

/** Pseudo-random numbers within -1..1, the same ones every time. */
function numbers(seed: number): () => number {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
  for (let warm = 0; warm < 4; warm++) next()
  return next
}

/** Enrols people, each with as many faces as looks, all in one transaction. */
export function enrol(
  { store, owner }: Both,
  gallery: Gallery,
  people: readonly { readonly looks: readonly Look[]; readonly groups?: readonly string[] }[],
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
