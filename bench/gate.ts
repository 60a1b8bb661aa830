import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { admitInTransaction } from '../src/gate/admission/admit-transaction.ts'
import { fingerprintOf } from '../src/gate/fingerprint.ts'
import { settle } from '../src/gate/settle.ts'
import { allocate, topUp } from '../src/billing/ledger.ts'
import { hashApiKey, isApiKey, generateApiKey } from '../src/lib/crypto/api-key.ts'
import { newId } from '../src/lib/ids.ts'
import { openStore } from '../src/store/open-store.ts'
import { defaultSwitches } from '../src/store/tenancy/switches.ts'
import { forkGate } from '../test/support/gate/fork-gate.ts'
import { createLedgerSnapshot, openLedger } from '../test/support/billing/test-ledger.ts'
import {
  measure,
  formatMs,
  openEchoClient,
  quantiles,
  type LoadResult,
  type Quantiles,
} from './support/load.ts'
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
  const cpu = await gateCpu(20_000)
  console.log(markdownTable(head, rows))
  const latency = `p50 ${formatMs(cpu.p50Ms)} ms, p99 ${formatMs(cpu.p99Ms)} ms`
  console.log(
    `\nThe gate alone, in memory: ${latency}, ${formatMs(cpu.cpuMs)} ms of CPU time per call.`,
  )
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

/**
 * Measures key check, fingerprint, admission, settlement and encryption on an in-memory database,
 * without disk and network. The CPU clock is too coarse for single calls, so its mean is returned.
 */
async function gateCpu(calls: number): Promise<Quantiles & { readonly cpuMs: number }> {
  const template = await createLedgerSnapshot()
  await using ledger = await openLedger(template)
  const { keyId, project } = template
  await ledger.runTransaction((tx) => topUp(tx, project.accountId, 10n ** 12n, 1))
  await ledger.runTransaction((tx) => allocate(tx, project, 10n ** 12n, 1))
  const { projectId, accountId } = project
  const ids = { keyId, projectId, accountId, galleryId: projectId }
  const caller = { ...ids, ...callerRights, state: 'active' } as const
  const key = generateApiKey('live')
  const latenciesMs: number[] = []
  const cpuBefore = process.threadCpuUsage()
  for (let call = 0; call < calls; call++) {
    const startMs = performance.now()
    if (!isApiKey(key) || hashApiKey(key).length !== 32)
      throw new Error('the generated key is invalid')
    const requestId = newId()
    const params = { text: 'bench' }
    const fingerprint = fingerprintOf({
      projectId,
      requestId,
      action: 'svc.echo',
      params,
      debug: false,
    })
    const authenticated = { requestId, action: 'svc.echo', startMs, atMs: Date.now(), caller }
    const parsed = {
      action: { price: () => 1 },
      params,
      debug: false,
      permissions: ['svc.echo'],
      fingerprint,
    }
    const admission = await ledger.runTransaction((tx) =>
      admitInTransaction(
        tx,
        { call: authenticated, parsed, consumedTokens: undefined, token: newId() },
        admissionSettings(),
      ),
    )
    if (admission.kind !== 'admitted') throw new Error(admission.kind)
    const response = { ok: true, errors: [], data: { results: [{ ok: true, value: params }] } }
    const completed = { output: { outcome: response }, toSettlement: () => ({ response }) }
    const options = { nowMs: Date.now(), outboxMax: 1 }
    await ledger.runTransaction((tx) => settle(tx, admission.reservation, completed, options))
    latenciesMs.push(performance.now() - startMs)
  }
  const { user, system } = process.threadCpuUsage(cpuBefore)
  return { ...quantiles(latenciesMs.slice(calls / 10)), cpuMs: (user + system) / 1000 / calls }
}

function admissionSettings() {
  const nowMs = Date.now()
  const limits = { sustainedPerS: 10_000, burst: 100_000 }
  const now = () => ({ nowMs, steadyUs: nowMs * 1000, windowMs: 86_400_000 })
  return { now, limits, unitMicros: 1000n, attemptMsMax: 30_000 }
}

function cells({ perS, p50Ms, p99Ms }: LoadResult): string[] {
  return [String(Math.round(perS)), formatMs(p50Ms), formatMs(p99Ms)]
}

function addedLatency(gated: LoadResult, bare: LoadResult): string[] {
  return [formatMs(gated.p50Ms - bare.p50Ms), formatMs(gated.p99Ms - bare.p99Ms)]
}
