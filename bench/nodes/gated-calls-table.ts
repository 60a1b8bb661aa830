import path from 'node:path'
import { allocate, topUp } from '../../src/billing/ledger.ts'
import { forkGate } from '../../test/support/gate/fork-gate.ts'
import { addProject, startGate } from '../../test/support/gate/test-gate.ts'
import { measure, formatMs, openEchoClient, type LoadResult } from '../support/load.ts'
import { showProgress, markdownTable } from '../support/table.ts'
import { clientCount, type ClusterBench } from './cluster-bench.ts'

/** One project for all clients, and one project per client. */
const projectCounts = [1, clientCount]
const nodeCounts = [1, 2, 3]

/**
 * Measures calls of an empty action in one project, whose budget and limit are one row each, and in one
 * project per client. Returns a Markdown table.
 */
export async function gatedCallsTable({
  cluster,
  folder,
  measureMs,
  rounds,
}: ClusterBench): Promise<string> {
  const rows: string[][] = []
  for (const projects of projectCounts) {
    await using database = await cluster.createDatabase()
    const deployments: GateDeployment[] = [
      { name: 'SQLite', nodes: 1, url: '', folder: path.join(folder, `sqlite-${projects}`) },
      ...nodeCounts.map((nodes) => ({
        name: 'PostgreSQL',
        nodes,
        url: database.url,
        folder: path.join(folder, `postgres-${projects}`),
      })),
    ]
    const keys = new Map<string, readonly string[]>()
    for (const deployment of deployments)
      if (!keys.has(deployment.url))
        keys.set(deployment.url, await createKeys(deployment, projects))
    const loads = new Map<GateDeployment, LoadResult[]>()
    for (let round = 1; round <= rounds; round++)
      for (const deployment of deployments) {
        showProgress(
          `round ${round}: ${deployment.name}, ${deployment.nodes} servers, ${projects} projects`,
        )
        const load = await gatedCalls(deployment, keys.get(deployment.url) ?? [], measureMs)
        loads.set(deployment, [...(loads.get(deployment) ?? []), load])
      }
    for (const [deployment, results] of loads) rows.push(rowOf(deployment, projects, results))
  }
  return markdownTable(head, rows)
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

export type GateDeployment = {
  readonly name: string
  readonly nodes: number
  /** Empty for SQLite in the folder. */
  readonly url: string
  readonly folder: string
}

export const gateSettings = { STARTER_CREDIT_MICROS: '1000000000000', UNIT_PRICE_MICROS: '1' }

/** Creates projects with a sufficient budget. Returns one key per project. */
export async function createKeys(
  { url, folder }: GateDeployment,
  projects: number,
): Promise<readonly string[]> {
  await using gate = await startGate({
    dataDir: folder,
    environment: { ...gateSettings, DATABASE_URL: url },
  })
  const keys = [gate.key]
  const { accountId } = gate.project
  while (keys.length < projects) {
    const project = await addProject(gate, `project ${keys.length}`)
    await gate.database.store.write(async (tx) => {
      await topUp(tx, accountId, 10n ** 9n, Date.now())
      await allocate(tx, project, 10n ** 9n, Date.now())
    })
    keys.push(project.key)
  }
  return keys
}

async function gatedCalls(
  place: GateDeployment,
  keys: readonly string[],
  measureMs: number,
): Promise<LoadResult> {
  await using opened = new AsyncDisposableStack()
  const { url, folder } = place
  const environment = { ...gateSettings, DATABASE_URL: url, KEY: keys[0] ?? '' }
  const starting = Array.from({ length: place.nodes }, async (_, node) =>
    opened.use(await forkGate(node === 0 ? folder : `${folder}-${node}`, environment)),
  )
  const nodes = await Promise.all(starting)
  return await measure(clientCount, measureMs, (index) =>
    openEchoClient(nodes[index % nodes.length]?.url ?? '', keys[index % keys.length] ?? ''),
  )
}

/** Other work on the machine only adds time, so the best round is shown beside all rounds. */
function rowOf(
  { name, nodes }: GateDeployment,
  projects: number,
  loads: readonly LoadResult[],
): string[] {
  const best = loads.toSorted((a, b) => b.perS - a.perS)[0]
  const all = loads.map(({ perS }) => String(Math.round(perS)))
  return [
    name,
    String(nodes),
    String(projects),
    String(Math.round(best?.perS ?? 0)),
    all.join(', '),
    formatMs(best?.p50Ms ?? 0),
    formatMs(best?.p99Ms ?? 0),
  ]
}
