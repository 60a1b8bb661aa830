import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { claim } from '../src/gate/claim.ts'
import { fingerprintOf } from '../src/gate/seal.ts'
import { settle } from '../src/gate/settle.ts'
import { allocate, topUp } from '../src/billing/ledger.ts'
import { hashApiKey, isApiKey, mintApiKey } from '../src/lib/api-key.ts'
import { newId } from '../src/lib/ids.ts'
import { openStore } from '../src/store/database.ts'
import { firstSwitches } from '../src/store/switches.ts'
import { forkGate } from '../test/crash.ts'
import { makeTemplate, openLedger } from '../test/ledger.ts'
import { measure, ms, openCaller, quantiles, type Load, type Quantiles } from './load.ts'
import { progress, table } from './table.ts'

const clientCounts = [1, 8, 32]

/**
 * What the gate costs: calls of an action that does nothing, over HTTP, with claim and settle, next
 * to the two bare commits that no durable gate can do without. Both in the same run on the same disk.
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
      progress(`${clients} clients: two bare commits`)
      const bare = await bareCommits(path.join(dataDir, `bare-${clients}`), clients, measureMs)
      progress(`${clients} clients: gated calls`)
      const gated = await gatedCalls(path.join(dataDir, `gate-${clients}`), clients, measureMs)
      rows.push([String(clients), ...cells(gated), ...cells(bare), ...added(gated, bare)])
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
  progress('the gate without disk and network')
  const cpu = await gateCpu(20_000)
  console.log(table(head, rows))
  const alone = `p50 ${ms(cpu.p50Ms)} ms, p99 ${ms(cpu.p99Ms)} ms`
  console.log(
    `\nThe gate alone, in memory: ${alone}, ${ms(cpu.cpuMs)} ms of processor time a call.`,
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

async function gatedCalls(dataDir: string, clients: number, measureMs: number): Promise<Load> {
  await using gate = await forkGate(dataDir)
  return await measure(clients, measureMs, () => openCaller(gate.url, gate.key))
}

/** The same group commit with one row each time instead of a claim and a settlement. */
async function bareCommits(dataDir: string, clients: number, measureMs: number): Promise<Load> {
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

/**
 * Key, fingerprint, claim, settlement and seal on a database in memory: no disk, no network. The
 * processor's clock ticks too coarsely for single calls, so its time is given as the mean of all.
 */
async function gateCpu(calls: number): Promise<Quantiles & { readonly cpuMs: number }> {
  const template = await makeTemplate()
  await using ledger = await openLedger(template)
  const { keyId, project } = template
  await ledger.job((tx) => topUp(tx, project.accountId, 10n ** 12n, 1))
  await ledger.job((tx) => allocate(tx, project, 10n ** 12n, 1))
  const { projectId, accountId } = project
  const ids = { keyId, projectId, accountId, galleryId: projectId }
  const caller = { ...ids, permissions: ['*'], switches: firstSwitches, state: 'active' } as const
  const key = mintApiKey('live')
  const took: number[] = []
  const cpuBefore = process.threadCpuUsage()
  for (let call = 0; call < calls; call++) {
    const startMs = performance.now()
    if (!isApiKey(key) || hashApiKey(key).length !== 32) throw new Error('the key is none')
    const requestId = newId()
    const params = { say: 'bench' }
    const content = fingerprintOf({
      projectId,
      requestId,
      action: 'svc.echo',
      params,
      debug: false,
    })
    const visit = { requestId, action: 'svc.echo', startMs, atMs: Date.now(), caller }
    const asked = {
      action: { price: () => 1 },
      params,
      debug: false,
      permissions: ['svc.echo'],
      content,
    }
    const claimed = await ledger.job((tx) =>
      claim(tx, { visit, asked, paid: undefined, token: newId() }, now()),
    )
    if (claimed.kind !== 'pass') throw new Error(claimed.kind)
    const answer = { ok: true, errors: [], data: { results: [{ ok: true, value: params }] } }
    const result = { conclude: () => ({ answer }), failed: () => answer }
    await ledger.job((tx) => settle(tx, claimed.attempt, result, Date.now()))
    took.push(performance.now() - startMs)
  }
  const { user, system } = process.threadCpuUsage(cpuBefore)
  return { ...quantiles(took.slice(calls / 10)), cpuMs: (user + system) / 1000 / calls }
}

function now() {
  const nowMs = Date.now()
  const limits = { sustainedPerS: 10_000, burst: 100_000 }
  const moment = () => ({ nowMs, steadyUs: nowMs * 1000, windowMs: 86_400_000 })
  return { moment, limits, unitMicros: 1000n, attemptMsMax: 30_000 }
}

function cells({ perS, p50Ms, p99Ms }: Load): string[] {
  return [String(Math.round(perS)), ms(p50Ms), ms(p99Ms)]
}

function added(gated: Load, bare: Load): string[] {
  return [ms(gated.p50Ms - bare.p50Ms), ms(gated.p99Ms - bare.p99Ms)]
}
