import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import {
  admissionInputOf,
  createAdmitRequest,
  reservationOf,
} from '../src/gate/admission/admit-request.ts'
import { settle } from '../src/gate/settle.ts'
import { allocate, topUp } from '../src/billing/ledger.ts'
import { hashApiKey, isApiKey, generateApiKey } from '../src/lib/crypto/api-key.ts'
import { newId } from '../src/lib/ids.ts'
import { openStore } from '../src/store/open-store.ts'
import type { KeyIdentity } from '../src/store/tenancy/keys.ts'
import { defaultSwitches } from '../src/store/tenancy/switches.ts'
import { forkGate } from '../test/support/gate/fork-gate.ts'
import { createLedgerSnapshot } from '../test/support/billing/test-ledger.ts'
import {
  measure,
  formatMs,
  openEchoClient,
  quantiles,
  type LoadResult,
  type Quantiles,
} from './support/load.ts'
import { openMemoryStore, type MemoryStore } from './support/memory-store.ts'
import { showProgress, markdownTable } from './support/table.ts'

const clientCounts = [1, 8, 32]

/**
 * `npm run bench gate [--seconds 5]`: the cost of the gate. Calls of an empty action over HTTP, with
 * admission and settlement, beside the two bare commits that every durable gate needs, in one run on
 * one disk.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: 'string', default: '5' } },
  })
  const measureMs = Number(values.seconds) * 1000
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-bench-gate-'))
  const rows: string[][] = []
  try {
    for (const clients of clientCounts) {
      showProgress(`${clients} clients: two bare commits`)
      const bare = await bareCommits(path.join(dataDir, `bare-${clients}`), clients, measureMs)
      showProgress(`${clients} clients: gated calls`)
      const gated = await gatedCalls(path.join(dataDir, `gate-${clients}`), clients, measureMs)
      rows.push([String(clients), ...cells(gated), ...cells(bare), ...addedLatency(gated, bare)])
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
  showProgress('the gate without disk and network')
  console.log(markdownTable(head, rows))
  for (const count of concurrentCounts) {
    const cpu = await gateCpu(20_000, count)
    const latency = `p50 ${formatMs(cpu.p50Ms)} ms, p99 ${formatMs(cpu.p99Ms)} ms`
    const calls = count === 1 ? 'one call at a time' : `${count} calls per commit`
    console.log(
      `\nThe gate alone, in memory, ${calls}: ${cpu.cpuMs.toFixed(3)} ms of CPU time per call`,
    )
    console.log(`(${latency}).`)
  }
}

const head = [
  'clients',
  'gated calls/s',
  'p50 ms',
  'p99 ms',
  '2 bare commits/s',
  'p50 ms',
  'p99 ms',
  'added p50',
  'added p99',
]

async function gatedCalls(
  dataDir: string,
  clients: number,
  measureMs: number,
): Promise<LoadResult> {
  await using gate = await forkGate(dataDir)
  return await measure(clients, measureMs, () => openEchoClient(gate.url, gate.key))
}

/** Runs the same group commit with one row each instead of an admission and a settlement. */
async function bareCommits(
  dataDir: string,
  clients: number,
  measureMs: number,
): Promise<LoadResult> {
  const store = await openStore(dataDir)
  const row = store.db.insertInto('accounts')
  const insert = () => row.values({ accountId: newId(), name: 'bare', createdAtUtc: '' })
  const load = await measure(clients, measureMs, async () => ({
    once: async () => {
      await store.write((tx) => tx.run(insert()))
      await store.write((tx) => tx.run(insert()))
    },
    close: () => {},
  }))
  await store.close()
  return load
}

const callerRights = {
  permissions: ['*'],
  switches: defaultSwitches,
  matchWebhooks: 0,
  isFrozen: 0,
} as const

/** The calls that share a commit: 32 clients share one among about 12. */
const concurrentCounts = [1, 12]

/**
 * Measures key check, fingerprint, admission, settlement and encryption on an in-memory database,
 * without disk and network. The CPU clock is too coarse for single calls, so its mean is returned.
 */
async function gateCpu(
  calls: number,
  concurrent: number,
): Promise<Quantiles & { readonly cpuMs: number }> {
  const { content, keyId, project } = await createLedgerSnapshot()
  if (typeof content === 'string') throw new Error('the snapshot must be an SQLite file')
  const store = openMemoryStore(content)
  await store.write(async (tx) => {
    await topUp(tx, project.accountId, 10n ** 12n, 1)
    await allocate(tx, project, 10n ** 12n, 1)
  })
  const { projectId, accountId } = project
  const ids = { keyId, projectId, accountId, galleryId: projectId }
  const caller = { ...ids, ...callerRights, state: 'active' } as const
  const latenciesMs: number[] = []
  const runGroup = async (): Promise<void> => {
    const startMs = performance.now()
    await Promise.all(Array.from({ length: concurrent }, () => gateOnce(store, caller)))
    latenciesMs.push(performance.now() - startMs)
  }
  const groups = Math.ceil(calls / concurrent)
  for (let group = 0; group < groups / 4; group++) await runGroup()
  latenciesMs.length = 0
  const cpuBefore = process.threadCpuUsage()
  for (let group = 0; group < groups; group++) await runGroup()
  const { user, system } = process.threadCpuUsage(cpuBefore)
  await store.close()
  return { ...quantiles(latenciesMs), cpuMs: (user + system) / 1000 / (groups * concurrent) }
}

const benchKey = generateApiKey('live')

/** Admits and settles one call. */
async function gateOnce(store: MemoryStore, caller: KeyIdentity): Promise<void> {
  if (!isApiKey(benchKey) || hashApiKey(benchKey).length !== 32)
    throw new Error('the generated key is invalid')
  const requestId = newId()
  const params = { text: 'bench' }
  const call = {
    requestId,
    action: 'svc.echo',
    startMs: performance.now(),
    atMs: Date.now(),
    caller,
  }
  const action = { price: () => 1 }
  const content = { action, params, debug: false, permissions: ['svc.echo'] }
  const request = createAdmitRequest(call, content)
  const nowMs = Date.now()
  const now = { nowMs, steadyUs: nowMs * 1000 }
  const terms = await store.admitCall(admissionInputOf(request, admissionSettings, now))
  if (!terms) throw new Error('the call was not admitted')
  const response = { ok: true, errors: [], data: { results: [{ ok: true, value: params }] } }
  const completed = { output: { outcome: response }, toSettlement: () => ({ response }) }
  const options = { nowMs: Date.now(), outboxMax: 1 }
  await settle(store, reservationOf(request, terms), completed, options)
}

const admissionSettings = {
  limits: { sustainedPerS: 10_000, burst: 100_000 },
  unitMicros: 1000n,
  attemptMsMax: 30_000,
  windowMs: 86_400_000,
}

function cells({ perS, p50Ms, p99Ms }: LoadResult): string[] {
  return [String(Math.round(perS)), formatMs(p50Ms), formatMs(p99Ms)]
}

function addedLatency(gated: LoadResult, bare: LoadResult): string[] {
  return [formatMs(gated.p50Ms - bare.p50Ms), formatMs(gated.p99Ms - bare.p99Ms)]
}
