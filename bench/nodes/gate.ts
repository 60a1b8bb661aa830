import path from 'node:path'
import { allocate, topUp } from '../../src/billing/ledger.ts'
import { forkGate } from '../../test/crash.ts'
import { anotherProject, startGate } from '../../test/gate.ts'
import { measure, ms, openCaller, type Load } from '../load.ts'
import { progress, table } from '../table.ts'
import { clients, type Bench } from './bench.ts'

/** One for all clients, and one for each. */
const projectCounts = [1, clients]
const nodeCounts = [1, 2, 3]

/**
 * Gated calls of an action that does nothing, of one project, whose budget and limit are one row each,
 * and of one project for each client.
 *
 * @returns a Markdown table.
 */
export async function gatedCallsTable({
  cluster,
  folder,
  measureMs,
  rounds,
}: Bench): Promise<string> {
  const rows: string[][] = []
  for (const projects of projectCounts) {
    await using database = await cluster.freshDatabase()
    const places: Place[] = [
      { name: 'SQLite', nodes: 1, url: '', folder: path.join(folder, `sqlite-${projects}`) },
      ...nodeCounts.map((nodes) => ({
        name: 'PostgreSQL',
        nodes,
        url: database.url,
        folder: path.join(folder, `postgres-${projects}`),
      })),
    ]
    const keys = new Map<string, readonly string[]>()
    for (const place of places)
      if (!keys.has(place.url)) keys.set(place.url, await prepare(place, projects))
    const loads = new Map<Place, Load[]>()
    for (let round = 1; round <= rounds; round++)
      for (const place of places) {
        progress(`round ${round}: ${place.name}, ${place.nodes} servers, ${projects} projects`)
        const load = await gatedCalls(place, keys.get(place.url) ?? [], measureMs)
        loads.set(place, [...(loads.get(place) ?? []), load])
      }
    for (const [place, taken] of loads) rows.push(lineOf(place, projects, taken))
  }
  return table(head, rows)
}

const head = [
  'database',
  'servers',
  'projects',
  'gated calls/s (best)',
  'all rounds',
  'p50 ms',
  'p99 ms',
]

type Place = {
  readonly name: string
  readonly nodes: number
  /** Empty: SQLite in the folder. */
  readonly url: string
  readonly folder: string
}

const settings = { STARTER_CREDIT_MICROS: '1000000000000', UNIT_PRICE_MICROS: '1' }

/** @returns a key for each of so many projects with money enough. */
async function prepare({ url, folder }: Place, projects: number): Promise<readonly string[]> {
  await using gate = await startGate({
    dataDir: folder,
    environment: { ...settings, DATABASE_URL: url },
  })
  const keys = [gate.key]
  const { accountId } = gate.project
  while (keys.length < projects) {
    const project = await anotherProject(gate, `project ${keys.length}`)
    await gate.books.store.write(async (tx) => {
      await topUp(tx, accountId, 10n ** 9n, Date.now())
      await allocate(tx, project, 10n ** 9n, Date.now())
    })
    keys.push(project.key)
  }
  return keys
}

async function gatedCalls(place: Place, keys: readonly string[], measureMs: number): Promise<Load> {
  await using opened = new AsyncDisposableStack()
  const { url, folder } = place
  const environment = { ...settings, DATABASE_URL: url, KEY: keys[0] ?? '' }
  const starting = Array.from({ length: place.nodes }, async (_, node) =>
    opened.use(await forkGate(node === 0 ? folder : `${folder}-${node}`, environment)),
  )
  const nodes = await Promise.all(starting)
  return await measure(clients, measureMs, (worker) =>
    openCaller(nodes[worker % nodes.length]?.url ?? '', keys[worker % keys.length] ?? ''),
  )
}

/** Other work on the machine only ever slows: the best round is told beside all. */
function lineOf({ name, nodes }: Place, projects: number, loads: readonly Load[]): string[] {
  const best = loads.toSorted((a, b) => b.perS - a.perS)[0]
  const all = loads.map(({ perS }) => String(Math.round(perS)))
  return [
    name,
    String(nodes),
    String(projects),
    String(Math.round(best?.perS ?? 0)),
    all.join(', '),
    ms(best?.p50Ms ?? 0),
    ms(best?.p99Ms ?? 0),
  ]
}
