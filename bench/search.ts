import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { describeSystem, measureLarge } from './search/large.ts'
import { measureLoad } from './search/load.ts'
import { measureMerged } from './search/merged.ts'
import {
  fillTemplatesInThread,
  openFacegate,
  openPeerThread,
  type FacegateSystem,
  type SearchSystem,
  type SearchRun,
} from './search/search-systems.ts'
import {
  dimensions,
  makeProbes,
  allocateTemplates,
  sourceOf,
  type TemplateMatrix,
} from './search/random-templates.ts'
import { peerNames, type PeerName } from './search/peers.ts'
import { latencyCells, showProgress, markdownTable } from './support/table.ts'

const sizesUsual = '1000000'
const rounds = 5
/** Probes per round and system. Slow systems only get the first ones. */
const probesPerRound = 40
const probesPerRoundSlow = 6
/** Building HNSW for a million templates takes many minutes. */
const hnswRowsMax = 100_000
/** From this size on, one system after another is opened: all together need 8 kB per face. */
const largeRowsMin = 2_000_000

/**
 * `npm run bench search [--sizes 10000,10000000] [--hnsw-max 1000000]`: the time of one exact search
 * beside usearch and a plain loop, alternating in one run. usearch is one of the benchmark peers. If it
 * is not installed, its rows report that. The peers run in a separate thread, so the event-loop delay
 * in their rows is that of an idle loop at that time.
 *
 * `TWO_RECOGNIZERS=1` gives the templates 384 values, as those of two recognizers together have.
 *
 * `npm run bench search --sizes 100000 --faces 3`: the memory, load and search of a gallery whose
 * subjects have several faces, beside one row per face.
 *
 * `npm run bench search --load 1000000 [--folder DIR]` measures instead how long a start takes to load
 * encrypted templates from SQLite. The database stays in the folder and is used again. With
 * `--pages-only` it contains the pages from which a large gallery is loaded, but not their templates;
 * `--faces 3` then gives each subject three of the faces.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: sizesUsual },
      faces: { type: 'string', default: '1' },
      load: { type: 'string' },
      folder: { type: 'string' },
      'pages-only': { type: 'boolean', default: false },
      'hnsw-max': { type: 'string', default: String(hnswRowsMax) },
    },
  })
  if (values.load !== undefined) {
    const { load, folder, 'pages-only': pagesOnly } = values
    const perSubject = Number(values.faces)
    const row = await measureLoad({ count: Number(load), folder, pagesOnly, perSubject })
    const times = ['storing s', 'loading s', 'of processor s', 'µs of processor each']
    const head = ['rows', ...times, 'longest loop delay ms']
    return console.log(markdownTable(head, [row]))
  }
  const faces = Number(values.faces)
  for (const size of values.sizes.split(',').map(Number)) {
    if (faces > 1) {
      await measureMerged({ subjects: size, faces })
      continue
    }
    if (size >= largeRowsMin) {
      await measureLarge(size)
      continue
    }
    const templates = allocateTemplates(size)
    showProgress(`creating ${size} faces`)
    await fillTemplatesInThread(templates)
    const peers = peerNames.filter(
      (name) => name !== 'usearch HNSW f32' || size <= Number(values['hnsw-max']),
    )
    const lines = await compareSystems(templates, peers)
    showProgress('')
    console.log(
      `\n${size} templates × ${dimensions} dimensions, ${availableParallelism()} cores, ` +
        `${rounds} alternating rounds`,
    )
    console.log(markdownTable(searchHead, lines))
  }
}

const searchHead = ['', 'p50 ms', 'p99 ms', 'recall@1', 'loop delay p99 ms']

async function compareSystems(
  faces: TemplateMatrix,
  peers: readonly PeerName[],
): Promise<string[][]> {
  const probes = makeProbes(faces, rounds * probesPerRound)
  await using opened = new AsyncDisposableStack()
  const systems: SearchSystem[] = []
  const missing: string[] = []
  const own: FacegateSystem[] = []
  for (const threads of [1, 2]) {
    const report = (text: string) => showProgress(`facegate, ${threads}: ${text}`)
    own.push(opened.use(await openFacegate(threads, sourceOf(faces), report)))
  }
  systems.push(...own)
  for (const peer of peers) {
    showProgress(`${peer}: opening`)
    const report = (text: string) => showProgress(`${peer}: ${text}`)
    const system = await openPeerThread({ faces, probes, peer }, report)
    if (system) systems.push(opened.use(system))
    else missing.push(peer)
  }
  const runs = await runRounds(systems, probes)
  for (const system of own) console.log(await describeSystem(system, probes))
  return [
    ...systems.map((system) => rowOf(system, runs)),
    ...missing.map((name) => [name, 'not installed', '', '', '']),
  ]
}

/** Runs each system once per round with the same probes. */
async function runRounds(
  systems: readonly SearchSystem[],
  matrix: TemplateMatrix,
): Promise<Map<string, SearchRun[]>> {
  const runs = new Map(systems.map(({ name }) => [name, [] as SearchRun[]]))
  for (const { search } of systems) await search([0], matrix)
  for (let round = 0; round < rounds; round++)
    for (const { name, search } of systems) {
      showProgress(`round ${round + 1} of ${rounds}: ${name}`)
      const probes = name === reference ? probesPerRoundSlow : probesPerRound
      const probeIndexes = Array.from({ length: probes }, (_, i) => round * probesPerRound + i)
      runs.get(name)?.push(await search(probeIndexes, matrix))
    }
  return runs
}

/** Scores every template with float32 vectors. This is the ground truth. */
const reference: PeerName = 'plain JavaScript loop'

function rowOf(
  { name, delayP99Ms }: SearchSystem,
  runs: ReadonlyMap<string, SearchRun[]>,
): string[] {
  const own = runs.get(name) ?? []
  const timesMs = own.flatMap((run) => run.timesMs)
  const expected = (runs.get(reference) ?? []).map((run) => run.rows)
  const hits = own.map(({ rows }, round) =>
    (expected[round] ?? []).map((row, index): number => (row === rows[index] ? 1 : 0)),
  )
  const recall = hits.flat().reduce((sum, hit) => sum + hit, 0) / hits.flat().length
  const delay = delayP99Ms().toFixed(1)
  return [name, ...latencyCells(timesMs), recall.toFixed(3), delay]
}
