import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { calibrationOf, createCalibrations } from '../src/gallery/calibration/calibrations.ts'
import { openGallery, type Gallery } from '../src/gallery/gallery.ts'
import type { ReEmbedVisionClient } from '../src/gallery/re-embed/re-embed.ts'
import { openExactSearch, type ExactSearch } from '../src/gallery/search/memory/exact-search.ts'
import { openMemorySearch } from '../src/gallery/search/memory/memory-search.ts'
import type { Store } from '../src/store/database.ts'
import { openStore } from '../src/store/open-store.ts'
import { createAccount, createProject, updateProject } from '../src/store/tenancy/projects.ts'
import type { Template } from '../src/vision/image-analysis.ts'

/**
 * What a change of the model costs: node eval/measure-model-change.ts [faces]
 *
 * A gallery of random templates under one model is opened under another one, searched by both, and
 * its templates are made anew of stored crops by eyes that take no time. Prints start, memory, search
 * and the work's own cost.
 */
const faceCount = Number(process.argv[2] ?? 100_000)
const probeCount = 200
const dimensions = 256
const batchFaces = 500

const log = { info: () => {}, warn: console.error, error: console.error }
const folder = await mkdtemp(path.join(tmpdir(), 'facegate-model-change-'))
const store = await openStore(folder)
const tenant = await createTenant(store)
const { galleryId } = tenant

await using first = await open(['old@1'])
await fill(first.gallery)
await printReport('one model', first, ['old@1'])
await first.search.close()

await using second = await open(['new@1', 'old@1'])
await printReport('changed, nothing made anew', second, ['new@1', 'old@1'])
const firstHalf = new AbortController()
const startMs = performance.now()
const firstResult = await second.gallery.reEmbed(
  createFakeVision(firstHalf, faceCount / 2),
  firstHalf.signal,
)
await printReport('half of it made anew', second, ['new@1', 'old@1'])
const restMs = performance.now()
const restResult = await second.gallery.reEmbed(createFakeVision(), new AbortController().signal)
const perFaceMs = (performance.now() - restMs) / restResult.succeeded
console.log(
  `made anew: ${firstResult.succeeded} + ${restResult.succeeded}, ${perFaceMs.toFixed(2)} ms a face without looking`,
)
await printReport('all of it made anew', second, ['new@1'])
await second.search.close()

await using third = await open(['new@1', 'old@1'])
await printReport('started again', third, ['new@1'])
await third.search.close()
await store.close()
await rm(folder, { recursive: true })
console.log(`in all ${((performance.now() - startMs) / 1000).toFixed(0)} s after the change`)

type MeasuredGallery = AsyncDisposable & {
  readonly gallery: Gallery
  readonly search: ExactSearch
  readonly startMs: number
}

async function open(modelIds: readonly string[]): Promise<MeasuredGallery> {
  const shipped = calibrationOf('dlib-faceres-256@1')
  if (!shipped) throw new Error('the built-in table is gone')
  const [active = shipped, ...former] = modelIds.map((modelId) => ({ ...shipped, modelId }))
  const search = openExactSearch({ log })
  const beganMs = performance.now()
  const gallery = await openGallery({
    store,
    openSearch: openMemorySearch(search),
    calibrations: createCalibrations(active, former),
    masterKeyFile: path.join(folder, 'master.key'),
    retentionDays: 1000,
    templatesPerSubject: 20,
    templatesPerGallery: 10_000_000,
    clock: Date.now,
    log,
  })
  const opened = { gallery, search, startMs: performance.now() - beganMs }
  return { ...opened, [Symbol.asyncDispose]: () => search.close() }
}

async function createTenant({ db }: Store) {
  const now = new Date()
  const accountId = await createAccount(db, 'bench', now)
  const galleryMode = 'isolated'
  const { projectId } = await createProject(db, { accountId, name: 'bench', galleryMode }, now)
  await updateProject(db, projectId, { switches: { storeCrops: true } })
  return { accountId, projectId, galleryId: projectId }
}

async function fill(gallery: Gallery): Promise<void> {
  const { projectId } = tenant
  for (let from = 0; from < faceCount; from += batchFaces)
    await store.write(async (tx) => {
      for (let at = from; at < Math.min(faceCount, from + batchFaces); at++) {
        const subject = await gallery.create(tx, tenant, {})
        const crop = { jpeg: Buffer.from(String(at)), projectId }
        await gallery.addFace(tx, subject, {
          template: templateOf(at, 'old@1'),
          qualityScore: 90,
          crop,
        })
      }
    })
}

/** Eyes that take no time and, if asked to, fire the signal after so many looks. */
function createFakeVision(ending?: AbortController, looksMax = Infinity): ReEmbedVisionClient {
  let looks = 0
  return {
    isIdle: () => true,
    analyzeImage: async ({ bytes }, { previousTemplates = [] }) => {
      looks += 1
      if (looks >= looksMax) ending?.abort()
      const at = Number(Buffer.from(bytes, 'base64').toString())
      const face = {
        boundingBox: { left: 0, top: 0, width: 100, height: 100 },
        template: templateOf(at, 'new@1'),
        previousTemplates: previousTemplates.map((modelId) => templateOf(at, modelId)),
      }
      return { width: 100, height: 100, faces: [face] }
    },
  }
}

async function printReport(
  what: string,
  opened: MeasuredGallery,
  modelIds: readonly string[],
): Promise<void> {
  const { gallery, search } = opened
  const spentMs: number[] = []
  for (let at = 0; at < probeCount; at++) {
    const probe = modelIds.map((modelId) => templateOf(at, modelId))
    const beganMs = performance.now()
    await gallery.search(galleryId, probe, { limit: 5 })
    if (at > 0) spentMs.push(performance.now() - beganMs)
  }
  const p50Ms = spentMs.toSorted((a, b) => a - b)[spentMs.length >> 1] ?? 0
  const { rows, bytes } = search.stats()
  const models = modelIds.length === 1 ? 'one model' : `${modelIds.length} models`
  console.log(
    `${what}: start ${(opened.startMs / 1000).toFixed(1)} s, ${rows} rows, ` +
      `${(bytes / 1e6).toFixed(0)} MB, search by ${models} p50 ${p50Ms.toFixed(2)} ms`,
  )
}

/** A direction of its own for every face and model, the same one every time. */
function templateOf(at: number, modelId: string): Template {
  let state = Math.imul(at + 1, 2_654_435_761) ^ modelId.length ^ (modelId.codePointAt(0) ?? 0)
  const vector = Float32Array.from({ length: dimensions }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31 / Math.sqrt(dimensions / 3)
  })
  return { modelId, vector, density: -0.5 }
}
