import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { calibrationOf } from '../../src/gallery/calibration/calibrations.ts'
import {
  createGalleryMeasurements,
  type GalleryMeasurement,
} from '../../src/gallery/calibration/measurements.ts'
import type { GalleryHealth } from '../../src/gallery/health/check-gallery.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import type { Project } from '../../src/store/tenancy/projects.ts'
import { fillTemplates } from '../../test/support/gallery/fill-templates.ts'
import { startGallery, type TestGallery } from '../../test/support/gallery/test-gallery.ts'
import { createTemplateSource } from './random-templates.ts'
import { markdownTable, showProgress } from '../support/table.ts'

/** Subjects in one transaction. */
const batch = 1_000

/**
 * `npm run bench galleryCheck [--subjects 10000] [--pictures 2]`: the check of a gallery with this many
 * subjects and pictures of each, in the thread of the service, with the time to read and decrypt the
 * templates. The longest pause is the longest time without a report of progress.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      subjects: { type: 'string', default: '10000' },
      pictures: { type: 'string', default: '2' },
    },
  })
  const [subjects, pictures] = [Number(values.subjects), Number(values.pictures)]
  const { modelId } = await readTemplateModel()
  const shipped = calibrationOf(modelId)
  if (!shipped) throw new Error('the model has no table')
  await using gallery = await startGallery()
  const { project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await fillGallery(gallery, { subjects, pictures, project, modelId })
  showProgress('checking')
  const { dataDir } = gallery
  const checks = createGalleryMeasurements<GalleryHealth>({
    kind: 'health',
    location: { dataDir, databaseUrl: '' },
    masterKeyFile: `${dataDir}/master.key`,
    clock: Date.now,
    log: { error: (...line: unknown[]) => console.error(line) },
  })
  const { accountId, projectId: galleryId } = project
  const [startMs, cpu] = [performance.now(), process.cpuUsage()]
  checks.start({ accountId, galleryId, shipped, samePerson: [] })
  const pauseMs = await longestPause(() => checks.find({ accountId, galleryId }))
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const row = [
    String(subjects),
    String(subjects * pictures),
    seconds.toFixed(1),
    ((user + system) / 1e6).toFixed(1),
    (pauseMs / 1000).toFixed(1),
  ]
  const head = ['subjects', 'templates', 's', 's of processor time', 'longest pause of progress, s']
  console.log(markdownTable(head, [row]))
}

type GalleryFilling = {
  readonly subjects: number
  readonly pictures: number
  readonly project: Project
  readonly modelId: string
}

async function fillGallery(
  gallery: TestGallery,
  { subjects, pictures, project, modelId }: GalleryFilling,
): Promise<void> {
  const next = createTemplateSource()
  for (let from = 0; from < subjects; from += batch) {
    showProgress(`enrolling ${from} of ${subjects} subjects`)
    const people = Array.from({ length: Math.min(batch, subjects - from) }, (_, index) => {
      const first = next()
      const templates = Array.from({ length: pictures }, () => {
        const other = next().vector
        const vector = first.vector.map((value, axis) => value + 0.3 * (other[axis] ?? 0))
        return { modelId, vector, density: first.density }
      })
      return { externalId: String(from + index), templates }
    })
    await fillTemplates(gallery, project, people)
  }
}

/** Waits for the end of the check. @returns the longest time without a report of progress. */
async function longestPause(
  find: () => GalleryMeasurement<GalleryHealth> | undefined,
): Promise<number> {
  let [reportedMs, pauseMs, last] = [performance.now(), 0, '']
  for (;;) {
    const found = find()
    if (found?.state === 'measured') return pauseMs
    if (found?.state !== 'running') throw new Error(`the check ended as ${found?.state}`)
    const report = JSON.stringify(found.progress)
    if (report !== last) {
      pauseMs = Math.max(pauseMs, performance.now() - reportedMs)
      ;[reportedMs, last] = [performance.now(), report]
    }
    await sleep(20)
  }
}
