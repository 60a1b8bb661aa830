import { availableParallelism } from 'node:os'
import { mergeFaces } from '../../src/gallery/match.ts'
import { latencyCells, markdownTable, showProgress } from '../support/table.ts'
import {
  allocateTemplates,
  createTemplateSource,
  dimensions,
  makeProbes,
  sourceOf,
  templateAt,
  type TemplateMatrix,
  type TemplateSource,
} from './random-templates.ts'
import { openFacegate, type FacegateSystem } from './search-systems.ts'

const rounds = 5
const probesPerRound = 40
/** The share of the mean of a subject in each of its faces. */
const meanShare = 0.8

/** How many subjects a gallery has, and how many faces each of them has. */
type SubjectCount = { readonly subjects: number; readonly faces: number }

/**
 * Measures the index of a gallery whose subjects have several faces: with one row per subject, as the
 * service stores it, beside one row per face. The searches alternate.
 */
export async function measureMerged({ subjects, faces }: SubjectCount): Promise<void> {
  showProgress(`creating ${subjects} subjects`)
  const templates = createFaces({ subjects, faces })
  const probes = makeProbes(templates, rounds * probesPerRound)
  const threads = availableParallelism()
  await using byFace = await openFacegate(threads, sourceOf(templates), showProgress)
  await using bySubject = await openFacegate(threads, mergedSource(templates, faces), showProgress)
  const systems = [
    ['one row per face', byFace],
    ['one row per subject', bySubject],
  ] as const
  const timesMs = new Map<FacegateSystem, number[]>([
    [byFace, []],
    [bySubject, []],
  ])
  for (let round = 0; round < rounds; round++)
    for (const [name, system] of systems) {
      showProgress(`round ${round + 1} of ${rounds}: ${name}`)
      const indexes = Array.from({ length: probesPerRound }, (_, i) => round * probesPerRound + i)
      const run = await system.search(indexes, probes)
      timesMs.get(system)?.push(...run.timesMs)
    }
  showProgress('')
  console.log(
    `\n${subjects} subjects with ${faces} faces × ${dimensions} dimensions, ${threads} cores`,
  )
  const lines = systems.map(([name, system]) => {
    const rows = system === byFace ? subjects * faces : subjects
    const megabytes = (system.bytesPerTemplate * rows) / 1e6
    const load = [megabytes.toFixed(0), system.loadSeconds.toFixed(2)]
    return [name, ...load, ...latencyCells(timesMs.get(system) ?? [])]
  })
  console.log(markdownTable(['', 'MB', 'load s', 'p50 ms', 'p99 ms'], lines))
}

/** Creates the faces of all subjects, those of one subject after another. */
function createFaces({ subjects, faces }: SubjectCount): TemplateMatrix {
  const templates = allocateTemplates(subjects * faces)
  const next = createTemplateSource()
  const noise = Math.sqrt(1 - meanShare ** 2)
  for (let subject = 0; subject < subjects; subject++) {
    const mean = next().vector
    for (let row = subject * faces; row < (subject + 1) * faces; row++) {
      const { vector, density } = next()
      for (const [axis, value] of vector.entries())
        templates.vectors[row * dimensions + axis] = meanShare * (mean[axis] ?? 0) + noise * value
      templates.densities[row] = density
    }
  }
  return templates
}

/** Reads one merged template per subject. */
function mergedSource(templates: TemplateMatrix, faces: number): TemplateSource {
  const modelId = 'bench'
  const mergeOne = (subject: number) =>
    mergeFaces(
      Array.from({ length: faces }, (_, face) => {
        return { faceId: '', modelId, ...templateAt(templates, subject * faces + face) }
      }),
    )
  return {
    count: templates.densities.length / faces,
    read: (from, to) =>
      Array.from({ length: to - from }, (_, offset) => mergeOne(from + offset)).flat(),
  }
}
