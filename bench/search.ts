import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import {
  makeFacesInThread,
  openFacegate,
  openPeerThread,
  type Contender,
  type Run,
} from './search/contenders.ts'
import { dimensions, makeProbes, roomFor, type Faces } from './search/faces.ts'
import { peerNames, type PeerName } from './search/peers.ts'
import { median, progress, table } from './table.ts'

const sizesUsual = '10000,100000,1000000'
const rounds = 5
/** Probes a round and contender; of these, the first few also for the slow ones. */
const probesPerRound = 40
const probesPerRoundSlow = 6
/** Building HNSW over a million templates takes many minutes. */
const hnswRowsMax = 100_000

/**
 * `npm run bench search [--sizes 10000,100000] [--hnsw-max 1000000]`: the time of one exact search
 * next to usearch and a plain loop, in turn, in one run. usearch is one of the bench's peers; where
 * it is not installed, its lines say so. The peers run in a thread of their own, so that the loop's
 * delay in their lines is that of a loop with nothing to do on this machine at that time.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: sizesUsual },
      'hnsw-max': { type: 'string', default: String(hnswRowsMax) },
    },
  })
  for (const size of values.sizes.split(',').map(Number)) {
    const faces = roomFor(size)
    progress(`making ${size} faces`)
    await makeFacesInThread(faces)
    const peers = peerNames.filter(
      (name) => name !== 'usearch HNSW f32' || size <= Number(values['hnsw-max']),
    )
    const lines = await compare(faces, peers)
    progress('')
    console.log(
      `\n${size} templates × ${dimensions} dimensions, ${availableParallelism()} cores, ` +
        `${rounds} rounds in turn`,
    )
    console.log(table(['', 'p50 ms', 'p99 ms', 'recall@1', 'loop delay p99 ms'], lines))
  }
}

async function compare(faces: Faces, peers: readonly PeerName[]): Promise<string[][]> {
  const probes = makeProbes(faces, rounds * probesPerRound)
  await using opened = new AsyncDisposableStack()
  const contenders: Contender[] = []
  const missing: string[] = []
  for (const threads of [1, 2]) {
    const report = (text: string) => progress(`facegate, ${threads}: ${text}`)
    contenders.push(opened.use(await openFacegate(threads, { faces, probes }, report)))
  }
  for (const peer of peers) {
    progress(`${peer}: opening`)
    const report = (text: string) => progress(`${peer}: ${text}`)
    const contender = await openPeerThread({ faces, probes, peer }, report)
    if (contender) contenders.push(opened.use(contender))
    else missing.push(peer)
  }
  const runs = await race(contenders)
  return [
    ...contenders.map((contender) => lineOf(contender, runs)),
    ...missing.map((name) => [name, 'not installed', '', '', '']),
  ]
}

/** One run for each contender and round; all search for the same probes. */
async function race(contenders: readonly Contender[]): Promise<Map<string, Run[]>> {
  const runs = new Map(contenders.map(({ name }) => [name, [] as Run[]]))
  for (const { race } of contenders) await race([0])
  for (let round = 0; round < rounds; round++)
    for (const { name, race } of contenders) {
      progress(`round ${round + 1} of ${rounds}: ${name}`)
      const probes = name === reference ? probesPerRoundSlow : probesPerRound
      const wanted = Array.from({ length: probes }, (_, at) => round * probesPerRound + at)
      runs.get(name)?.push(await race(wanted))
    }
  return runs
}

/** Scores every template in float32 vectors: what it finds is right. */
const reference: PeerName = 'plain JavaScript loop'

function lineOf({ name, delayP99Ms }: Contender, runs: ReadonlyMap<string, Run[]>): string[] {
  const own = runs.get(name) ?? []
  const timesMs = own.flatMap((run) => run.timesMs).toSorted((a, b) => a - b)
  const p99 = timesMs[Math.floor(timesMs.length * 0.99)] ?? Number.NaN
  const right = (runs.get(reference) ?? []).map((run) => run.rows)
  const hits = own.map(({ rows }, round) =>
    (right[round] ?? []).map((row, at): number => (row === rows[at] ? 1 : 0)),
  )
  const recall = hits.flat().reduce((sum, hit) => sum + hit, 0) / hits.flat().length
  const delay = delayP99Ms().toFixed(1)
  return [name, median(timesMs).toFixed(2), p99.toFixed(2), recall.toFixed(3), delay]
}
