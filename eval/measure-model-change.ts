import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { calibrationOf, createCalibrations } from '../src/gallery/calibration/calibrations.ts'
import { openGallery, type Gallery } from '../src/gallery/gallery.ts'
import type { ReEmbedVisionClient } from '../src/gallery/re-embed/re-embed.ts'
import { openExactSearch, type ExactSearch } from '../src/gallery/search/memory/exact-search.ts'
import { openMemorySearch } from '../src/gallery/search/memory/memory-search.ts'
import { readTemplateModel } from '../src/models/template/template-model.ts'
import type { Store } from '../src/store/database.ts'
import { openStore } from '../src/store/open-store.ts'
import { createAccount, createProject, updateProject } from '../src/store/tenancy/projects.ts'
import type { Template } from '../src/vision/embed/template.ts'

/**
 * Measures the cost of a model change: `node eval/measure-model-change.ts [faces]`
 *
 * Opens a gallery of random templates of one model with another model and searches it with both. Then
 * re-embeds it from stored crops with a fake vision client that needs no time. Prints the startup
 * time, memory, search latency and cost of re-embedding.
 */
const faceCount = Number(process.argv[2] ?? 100_000)
const probeCount = 200
const dimensions = 256
const batchFaces = 500

const log = { info: () => {}, warn: console.error, error: console.error }
const folder = await mkdtemp(path.join(tmpdir(), 'facegate-model-change-'))
const store = await openStore(folder)
const owner = await createBenchAccount(store)
const { galleryId } = owner

await using first = await open(['old@1'])
await fill(first.gallery)
await printReport('one model', first, ['old@1'])
await first.search.close()

await using second = await open(['new@1', 'old@1'])
await printReport('changed, nothing re-embedded', second, ['new@1', 'old@1'])
const firstHalf = new AbortController()
const startMs = performance.now()
const firstResult = await second.gallery.maintenance.reEmbed(
  createFakeVision(firstHalf, faceCount / 2),
  firstHalf.signal,
)
await printReport('half re-embedded', second, ['new@1', 'old@1'])
const restMs = performance.now()
const restResult = await second.gallery.maintenance.reEmbed(
  createFakeVision(),
  new AbortController().signal,
)
const perFaceMs = (performance.now() - restMs) / restResult.succeeded
console.log(
  `re-embedded: ${firstResult.succeeded} + ${restResult.succeeded}, ${perFaceMs.toFixed(2)} ms per face without image analysis`,
)
await printReport('all re-embedded', second, ['new@1'])
await second.search.close()

await using third = await open(['new@1', 'old@1'])
await printReport('restarted', third, ['new@1'])
await third.search.close()
await store.close()
await rm(folder, { recursive: true })
console.log(`total ${((performance.now() - startMs) / 1000).toFixed(0)} s after the change`)

type MeasuredGallery = AsyncDisposable & {
  readonly gallery: Gallery
  readonly search: ExactSearch
  readonly startMs: number
}

async function open(modelIds: readonly string[]): Promise<MeasuredGallery> {
  const shipped = calibrationOf((await readTemplateModel()).modelId)
  if (!shipped) throw new Error('the built-in calibration table is missing')
  const [active = shipped, ...former] = modelIds.map((modelId) => ({ ...shipped, modelId }))
  const search = openExactSearch({ log })
  const openStartMs = performance.now()
  const gallery = await openGallery({
    store,
    openSearch: openMemorySearch(search),
    calibrations: createCalibrations(active, former),
    masterKeyFile: path.join(folder, 'master.key'),
    retentionDays: 1000,
    feedbackMs: 1,
    groupDeletion: { subjectsMax: 1000, durationMsMax: 10_000 },
    templatesPerSubject: 20,
    templatesPerGallery: 10_000_000,
    clock: Date.now,
    log,
  })
  const opened = { gallery, search, startMs: performance.now() - openStartMs }
  return { ...opened, [Symbol.asyncDispose]: () => search.close() }
}

async function createBenchAccount({ db }: Store) {
  const now = new Date()
  const accountId = await createAccount(db, 'bench', now)
  const galleryMode = 'isolated'
  const { projectId } = await createProject(db, { accountId, name: 'bench', galleryMode }, now)
  await updateProject(db, projectId, { switches: { storeCrops: true } })
  return { accountId, projectId, galleryId: projectId }
}

async function fill(gallery: Gallery): Promise<void> {
  const { projectId } = owner
  for (let from = 0; from < faceCount; from += batchFaces)
    await store.write(async (tx) => {
      for (let index = from; index < Math.min(faceCount, from + batchFaces); index++) {
        const subject = await gallery.subjects.create(tx, owner, {})
        const crop = { jpeg: Buffer.from(String(index)), projectId }
        await gallery.subjects.addFace(tx, subject, {
          template: templateOf(index, 'old@1'),
          qualityScore: 90,
          crop,
        })
      }
    })
}

/** Creates a vision client that needs no time. It aborts `ending` after `analysesMax` analyses. */
function createFakeVision(ending?: AbortController, analysesMax = Infinity): ReEmbedVisionClient {
  let analyses = 0
  return {
    isIdle: () => true,
    analyzeImage: async ({ bytes }, { previousTemplates = [] }) => {
      analyses += 1
      if (analyses >= analysesMax) ending?.abort()
      const index = Number(Buffer.from(bytes, 'base64').toString())
      const face = {
        boundingBox: { left: 0, top: 0, width: 100, height: 100 },
        template: templateOf(index, 'new@1'),
        previousTemplates: previousTemplates.map((modelId) => templateOf(index, modelId)),
      }
      return { width: 100, height: 100, faces: [face] }
    },
  }
}

async function printReport(
  title: string,
  opened: MeasuredGallery,
  modelIds: readonly string[],
): Promise<void> {
  const { gallery, search } = opened
  const latenciesMs: number[] = []
  for (let index = 0; index < probeCount; index++) {
    const probe = modelIds.map((modelId) => templateOf(index, modelId))
    const searchStartMs = performance.now()
    await gallery.matching.search(galleryId, probe, { limit: 5 })
    if (index > 0) latenciesMs.push(performance.now() - searchStartMs)
  }
  const p50Ms = latenciesMs.toSorted((a, b) => a - b)[latenciesMs.length >> 1] ?? 0
  const { rows, bytes } = search.stats()
  const models = modelIds.length === 1 ? 'one model' : `${modelIds.length} models`
  console.log(
    `${title}: start ${(opened.startMs / 1000).toFixed(1)} s, ${rows} rows, ` +
      `${(bytes / 1e6).toFixed(0)} MB, search with ${models} p50 ${p50Ms.toFixed(2)} ms`,
  )
}

/** Returns a random direction per face and model; the same arguments return the same template. */
function templateOf(index: number, modelId: string): Template {
  let state = Math.imul(index + 1, 2_654_435_761) ^ modelId.length ^ (modelId.codePointAt(0) ?? 0)
  const vector = Float32Array.from({ length: dimensions }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31 / Math.sqrt(dimensions / 3)
  })
  return { modelId, vector, density: -0.5 }
}
