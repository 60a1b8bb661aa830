import { parseArgs } from 'node:util'
import { openExactSearch } from '../src/gallery/search/exact.ts'
import { openDatabaseSearch } from '../src/gallery/search/database/open.ts'
import type { GallerySearch } from '../src/gallery/search/gallery-search.ts'
import { openMemorySearch } from '../src/gallery/search/memory.ts'
import type { SearchOptions } from '../src/gallery/search/candidate.ts'
import { openVectorUpkeep } from '../src/store/postgres/vector-upkeep.ts'
import { startCluster } from '../test/postgres.ts'
import { makeFacesInThread } from './search/contenders.ts'
import { dimensions, faceAt, makeProbes, roomFor } from './search/faces.ts'
import type { Faces } from './search/faces.ts'
import { median, progress, table } from './table.ts'
import { groupNames, modelId, openFilled, type Filled } from './vectors/fill.ts'

const sizesUsual = '1000,10000,100000'
/** Probes in turn of somebody in the gallery and of a stranger. */
const probesUsual = '100'
const limit = 10
const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const never = Number.MAX_SAFE_INTEGER

/**
 * `npm run bench vectors [--sizes 1000,10000,100000] [--probes 100]`: the time and recall of one
 * search in a throwaway PostgreSQL with pgvector, exact and by its index, next to the search in
 * memory, whose answers are right. The whole way is measured: the transaction, the search and the
 * opening of the templates found.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: sizesUsual },
      probes: { type: 'string', default: probesUsual },
    },
  })
  await using cluster = await startCluster()
  for (const size of values.sizes.split(',').map(Number)) {
    await using database = await cluster.freshDatabase()
    const faces = roomFor(size)
    await makeFacesInThread(faces)
    await using filled = await openFilled(database.url, faces, progress)
    const { lines, facts } = await measure(filled, makeProbes(faces, Number(values.probes)))
    progress('')
    console.log(
      `\n${size} templates × ${dimensions} dimensions, ${values.probes} probes; ${facts}\n`,
    )
    const head = ['', 'p50 ms', 'p99 ms', 'recall@1', 'recall@10', 'same answer']
    console.log(table(head, lines))
  }
}

async function measure(filled: Filled, probes: Faces) {
  const { parts, url } = filled
  const count = probes.densities.length
  await using exact = openExactSearch({ threads: 1, log: quiet })
  progress('filling the memory')
  const memory = await openMemorySearch(exact)(parts)
  await using upkeep = await openVectorUpkeep(url, { log: quiet })
  const inDatabase = (exactMax: number, isRotated = true) =>
    openDatabaseSearch({ exactMax, isRotated, upkeep })(parts)

  progress('making vectors')
  const madeMs = performance.now()
  const scan = await inDatabase(never)
  const perVectorUs = ((performance.now() - madeMs) / filled.size) * 1000

  const asked = { filled, probes, count }
  const lines: string[][] = []
  const right = new Map<string, Answers>()
  const add = async (name: string, search: GallerySearch, groups?: readonly string[]) => {
    progress(name)
    const key = String(groups)
    const truth = right.get(key) ?? (await ask(memory, asked, groups))
    right.set(key, truth)
    lines.push(lineOf(name, await ask(search, asked, groups), truth))
  }
  await add('memory, 1 thread', memory)
  await add('pgvector, exact', scan)
  for (const name of groupNames) await add(`pgvector, exact, group of ${name}`, scan, [name])

  progress('building the index')
  const builtMs = performance.now()
  const of = { galleryId: filled.owner.galleryId, modelId, dimensions: dimensions + 1 }
  await upkeep.index(of, new AbortController().signal)
  const indexS = (performance.now() - builtMs) / 1000
  const index = await inDatabase(0)
  await add('pgvector, index', index)
  for (const name of groupNames) await add(`pgvector, index, group of ${name}`, index, [name])

  const [tableBytes, indexBytes] = await filled.bytesPerVector()
  const facts =
    `a vector ${perVectorUs.toFixed(0)} µs to make, ${tableBytes.toFixed(0)} bytes in its table; ` +
    `index built in ${indexS.toFixed(1)} s, ${indexBytes.toFixed(0)} bytes a vector`
  return { lines, facts }
}

type Answers = {
  readonly found: readonly (readonly string[])[]
  readonly scores: readonly string[]
  readonly timesMs: readonly number[]
}
type Asked = { readonly filled: Filled; readonly probes: Faces; readonly count: number }

async function ask(
  search: GallerySearch,
  { filled, probes, count }: Asked,
  groups: SearchOptions['groups'],
): Promise<Answers> {
  const { galleryId } = filled.owner
  const options = { limit, groups }
  await search.search(galleryId, { ...faceAt(probes, 0), modelId }, options)
  const [found, scores, timesMs]: [string[][], string[], number[]] = [[], [], []]
  for (let at = 0; at < count; at++) {
    const probe = { ...faceAt(probes, at), modelId }
    const startMs = performance.now()
    const candidates = await search.search(galleryId, probe, options)
    timesMs.push(performance.now() - startMs)
    found.push(candidates.map(({ templateId }) => templateId))
    scores.push(JSON.stringify(candidates))
  }
  return { found, scores, timesMs }
}

function lineOf(name: string, own: Answers, right: Answers): string[] {
  const recallAt = (most: number): string => {
    const hits = right.found.map((ids, at) => {
      const wanted = ids.slice(0, most)
      const had = new Set(own.found[at])
      return wanted.filter((id) => had.has(id)).length / Math.max(1, wanted.length)
    })
    return (hits.reduce((sum, hit) => sum + hit, 0) / hits.length).toFixed(3)
  }
  const same = own.scores.filter((answer, at) => answer === right.scores[at]).length
  const times = own.timesMs.toSorted((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN
  const share = (same / own.scores.length).toFixed(3)
  return [name, median(times).toFixed(1), p99.toFixed(1), recallAt(1), recallAt(10), share]
}
