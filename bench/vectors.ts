import { parseArgs } from 'node:util'
import { openExactSearch } from '../src/gallery/search/memory/exact-search.ts'
import { openDatabaseSearch } from '../src/gallery/search/database/database-search.ts'
import type { GallerySearch } from '../src/gallery/search/gallery-search.ts'
import { openMemorySearch } from '../src/gallery/search/memory/memory-search.ts'
import type { SearchOptions } from '../src/gallery/search/scored-subject.ts'
import { openVectorMaintenance } from '../src/store/postgres/vectors/vector-maintenance.ts'
import { startPostgresCluster } from '../test/support/database/postgres-server.ts'
import { fillTemplatesInThread } from './search/search-systems.ts'
import { dimensions, templateAt, makeProbes, allocateTemplates } from './search/random-templates.ts'
import type { TemplateMatrix } from './search/random-templates.ts'
import { median, showProgress, markdownTable } from './support/table.ts'
import {
  groupNames,
  modelId,
  openFilledGallery,
  type FilledGallery,
} from './vectors/filled-gallery.ts'

const defaultSizes = '1000,10000,100000'
/** Probes alternate between an enrolled person and a person outside the gallery. */
const defaultProbes = '100'
/** Building a larger index takes many minutes. */
const defaultIndexMax = '100000'
const limit = 10
const silentLog = { info: () => {}, warn: () => {}, error: () => {} }
const noIndexMin = Number.MAX_SAFE_INTEGER

/**
 * `npm run bench vectors [--sizes 1000,10000,100000] [--probes 100] [--index-max 10000]`: the
 * time and recall of one search in a temporary PostgreSQL with pgvector, exact and with its index,
 * beside the search in memory, which is the ground truth. It measures the transaction, the search and
 * the decryption of the templates found.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: defaultSizes },
      probes: { type: 'string', default: defaultProbes },
      'index-max': { type: 'string', default: defaultIndexMax },
    },
  })
  await using cluster = await startPostgresCluster()
  for (const size of values.sizes.split(',').map(Number)) {
    await using database = await cluster.createDatabase()
    const faces = allocateTemplates(size)
    await fillTemplatesInThread(faces)
    await using filled = await openFilledGallery(database.url, faces, showProgress)
    const isIndexed = size <= Number(values['index-max'])
    const probes = makeProbes(faces, Number(values.probes))
    const { lines, facts } = await measure(filled, probes, isIndexed)
    showProgress('')
    console.log(
      `\n${size} templates × ${dimensions} dimensions, ${values.probes} probes; ${facts}\n`,
    )
    const head = ['', 'p50 ms', 'p99 ms', 'recall@1', 'recall@10', 'same result']
    console.log(markdownTable(head, lines))
  }
}

async function measure(filled: FilledGallery, probes: TemplateMatrix, isIndexed: boolean) {
  const { parts, url } = filled
  const count = probes.densities.length
  await using exact = openExactSearch({ threads: 1, log: silentLog })
  showProgress('filling the memory index')
  const memory = await openMemorySearch(exact)(parts)
  await using maintenance = await openVectorMaintenance(url, { log: silentLog })
  const inDatabase = (exactMax: number) => openDatabaseSearch({ exactMax, maintenance })(parts)

  showProgress('creating vectors')
  const vectorsStartMs = performance.now()
  const scan = await inDatabase(noIndexMin)
  const perVectorUs = ((performance.now() - vectorsStartMs) / filled.size) * 1000

  const input = { filled, probes, count }
  const lines: string[][] = []
  const truths = new Map<string, SearchBenchResult>()
  const add = async (name: string, search: GallerySearch, groups?: readonly string[]) => {
    showProgress(name)
    const key = String(groups)
    const truth = truths.get(key) ?? (await measureSearch(memory, input, groups))
    truths.set(key, truth)
    lines.push(rowOf(name, await measureSearch(search, input, groups), truth))
  }
  await add('memory, 1 thread', memory)
  await add('pgvector, exact', scan)
  for (const name of groupNames) await add(`pgvector, exact, group of ${name}`, scan, [name])

  const vectorFacts = `${perVectorUs.toFixed(0)} µs to create a vector`
  if (!isIndexed) return { lines, facts: vectorFacts }
  showProgress('building the index')
  const buildStartMs = performance.now()
  const indexKey = { galleryId: filled.owner.galleryId, modelId, dimensions: dimensions + 1 }
  await maintenance.buildIndex(indexKey, new AbortController().signal)
  const indexS = (performance.now() - buildStartMs) / 1000
  const index = await inDatabase(0)
  await add('pgvector, index', index)
  for (const name of groupNames) await add(`pgvector, index, group of ${name}`, index, [name])

  const [tableBytes, indexBytes] = await filled.bytesPerVector()
  const facts =
    `${vectorFacts}, ${tableBytes.toFixed(0)} bytes in its table; ` +
    `index built in ${indexS.toFixed(1)} s, ${indexBytes.toFixed(0)} bytes per vector`
  return { lines, facts }
}

type SearchBenchResult = {
  readonly found: readonly (readonly string[])[]
  readonly scores: readonly string[]
  readonly timesMs: readonly number[]
}
type SearchBenchInput = {
  readonly filled: FilledGallery
  readonly probes: TemplateMatrix
  readonly count: number
}

async function measureSearch(
  search: GallerySearch,
  { filled, probes, count }: SearchBenchInput,
  groups: SearchOptions['groups'],
): Promise<SearchBenchResult> {
  const { galleryId } = filled.owner
  const options = { limit, groups, nowMs: Date.now() }
  await search.search(galleryId, { ...templateAt(probes, 0), modelId }, options)
  const [found, scores, timesMs]: [string[][], string[], number[]] = [[], [], []]
  for (let index = 0; index < count; index++) {
    const probe = { ...templateAt(probes, index), modelId }
    const startMs = performance.now()
    const candidates = await search.search(galleryId, probe, options)
    timesMs.push(performance.now() - startMs)
    found.push(candidates.map(({ faceId }) => faceId))
    scores.push(JSON.stringify(candidates))
  }
  return { found, scores, timesMs }
}

function rowOf(name: string, own: SearchBenchResult, truth: SearchBenchResult): string[] {
  const recallAt = (rank: number): string => {
    const hits = truth.found.map((ids, index) => {
      const expected = ids.slice(0, rank)
      const found = new Set(own.found[index])
      return expected.filter((id) => found.has(id)).length / Math.max(1, expected.length)
    })
    return (hits.reduce((sum, hit) => sum + hit, 0) / hits.length).toFixed(3)
  }
  const same = own.scores.filter((scores, index) => scores === truth.scores[index]).length
  const times = own.timesMs.toSorted((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN
  const share = (same / own.scores.length).toFixed(3)
  return [name, median(times).toFixed(1), p99.toFixed(1), recallAt(1), recallAt(10), share]
}
