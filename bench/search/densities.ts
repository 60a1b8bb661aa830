import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { calibrationOf, createCalibrations } from '../../src/gallery/calibration/calibrations.ts'
import type { DensityUpdate } from '../../src/gallery/densities/density-update.ts'
import { openGallery, type Gallery } from '../../src/gallery/gallery.ts'
import { openExactSearch } from '../../src/gallery/search/memory/exact-search.ts'
import { openMemorySearch } from '../../src/gallery/search/memory/memory-search.ts'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import type { Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createAccount, createProject } from '../../src/store/tenancy/projects.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { measureStall } from '../support/measure-stall.ts'
import { markdownTable, showProgress } from '../support/table.ts'

const subjectsPerWrite = 250
const silentLog = { info: () => {}, warn: console.warn, error: console.error }

/**
 * `npm run bench densities [--templates 100000]`: the update of templates of version 1 of the built-in
 * template model to the current version, in an embedded database with search in memory. Each subject
 * has one template, a random vector. It prints the duration, the CPU time of all threads and of the
 * event loop, and the longest time for which the event loop was blocked.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { templates: { type: 'string', default: '100000' } },
  })
  const count = Number(values.templates)
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-densities-'))
  const store = await openStore(folder)
  try {
    const row = await runAsAllAccounts(() => measureUpdate(store, folder, count))
    const stalls = ['longest stall, ms', 'longest stall, ms of CPU']
    const head = ['templates', 's', 'templates/s', 's of CPU', 's of CPU, event loop', ...stalls]
    console.log(markdownTable(head, [row]))
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureUpdate(store: Store, folder: string, count: number): Promise<string[]> {
  const update = await readFirstUpdate()
  await using search = openExactSearch({ log: silentLog })
  const [active, earlier] = [update.toModelId, update.fromModelId].map((modelId) => {
    const calibration = calibrationOf(modelId)
    if (!calibration) throw new Error(`there is no calibration of ${modelId}`)
    return calibration
  })
  if (!active || !earlier) throw new Error('both versions need a calibration')
  const gallery = await openGallery({
    store,
    openSearch: openMemorySearch(search),
    calibrations: createCalibrations(active, [earlier]),
    densityUpdates: [update],
    masterKeyFile: path.join(folder, 'master.key'),
    retentionDays: 1000,
    groupDeletionMax: 1000,
    templatesPerSubject: 20,
    templatesPerGallery: 10_000_000,
    clock: Date.now,
    log: silentLog,
  })
  const galleryId = await fill(store, gallery, { count, modelId: update.fromModelId })
  showProgress('loading the index')
  await gallery.search(galleryId, [templateOf(0, update.fromModelId)], { limit: 1 })
  showProgress('updating')
  const stall = measureStall()
  const [startMs, cpu, loopCpu] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()]
  await gallery.updateDensities(new AbortController().signal)
  const seconds = (performance.now() - startMs) / 1000
  const { wallMs, cpuMs } = stall.stop()
  const { pending, updated, failed } = gallery.densityProgress()
  if (pending > 0 || failed > 0 || updated !== count) throw new Error('the update is incomplete')
  return [
    String(count),
    seconds.toFixed(1),
    (count / seconds).toFixed(0),
    secondsOf(process.cpuUsage(cpu)),
    secondsOf(process.threadCpuUsage(loopCpu)),
    wallMs.toFixed(0),
    cpuMs.toFixed(0),
  ]
}

function secondsOf({ user, system }: NodeJS.CpuUsage): string {
  return ((user + system) / 1e6).toFixed(1)
}

async function readFirstUpdate(): Promise<DensityUpdate> {
  const { modelId: toModelId, cohort, neighbours, earlier } = await readTemplateModel()
  const [first] = earlier
  if (!first) throw new Error('the template model has no earlier version')
  return { fromModelId: first.modelId, toModelId, cohort, neighbours }
}

async function fill(
  store: Store,
  gallery: Gallery,
  { count, modelId }: { readonly count: number; readonly modelId: string },
): Promise<string> {
  const now = new Date()
  const accountId = await createAccount(store.db, 'bench', now)
  const project = { accountId, name: 'bench', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(store.db, project, now)
  const owner = { accountId, projectId, galleryId: projectId }
  for (let from = 0; from < count; from += subjectsPerWrite) {
    if (from % 10_000 === 0) showProgress(`enrolling ${from} of ${count}`)
    await store.write(async (tx) => {
      for (let index = from; index < Math.min(count, from + subjectsPerWrite); index++) {
        const subject = await gallery.create(tx, owner, {})
        const template = templateOf(index, modelId)
        await gallery.addFace(tx, subject, { template, qualityScore: 90 })
      }
    })
  }
  return projectId
}

/** Returns a vector of random values of about the size of a face. */
function templateOf(index: number, modelId: string): Template {
  let state = Math.imul(index + 1, 2_654_435_761)
  const vector = Float32Array.from({ length: 256 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31 / 9
  })
  return { modelId, vector, density: -1 }
}
