import path from 'node:path'
import { Client } from 'pg'
import type { forkGate, GateProcess } from '../../test/support/gate/fork-gate.ts'
import { measure, openEchoClient, type LoadResult } from '../support/load.ts'
import { readCpuMs, readFamilyCpuMs, readParentPid } from '../support/process-usage.ts'
import { clientCount } from './cluster-bench.ts'
import type { createKeys } from './gated-calls-table.ts'

/** A version of the service in a folder of this machine. */
export type Checkout = {
  readonly name: string
  readonly createKeys: typeof createKeys
  readonly forkGate: typeof forkGate
}

/** Loads the parts that start a version from its own folder. */
export async function loadCheckout(name: string, folder: string): Promise<Checkout> {
  const load = (file: string): Promise<unknown> => import(path.join(folder, file))
  // Both files exist in every version that has this benchmark's server process.
  const table = (await load('bench/nodes/gated-calls-table.ts')) as Pick<Checkout, 'createKeys'>
  const gate = (await load('test/support/gate/fork-gate.ts')) as Pick<Checkout, 'forkGate'>
  return { name, createKeys: table.createKeys, forkGate: gate.forkGate }
}

/** The CPU time of each call in ms, by process. */
export type CallCosts = LoadResult & {
  readonly serverMs: number
  readonly databaseMs: number
  readonly clientMs: number
}

/** A new process compiles its code during the first calls. */
const compileMs = 2000

/** Calls an empty action over 32 connections, after some seconds that are not measured. */
export async function measureCalls(
  gate: Pick<GateProcess, 'url' | 'process'>,
  keys: readonly string[],
  {
    measureMs,
    databaseUrl,
  }: { readonly measureMs: number; readonly databaseUrl?: string | undefined },
): Promise<CallCosts> {
  const postmaster = databaseUrl === undefined ? undefined : await findPostmaster(databaseUrl)
  const readTimes = async () => ({
    serverMs: await readCpuMs(gate.process.pid ?? 0),
    databaseMs: postmaster === undefined ? 0 : await readFamilyCpuMs(postmaster),
    clientMs: process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000,
  })
  const open = (index: number) => openEchoClient(gate.url, keys[index % keys.length] ?? '')
  await measure(clientCount, compileMs, open)
  let calls = 0
  const before = await readTimes()
  const load = await measure(clientCount, measureMs, async (index) => {
    const client = await open(index)
    return { ...client, once: () => client.once().then(() => void calls++) }
  })
  const after = await readTimes()
  const perCall = (name: keyof typeof before): number => (after[name] - before[name]) / calls
  return {
    ...load,
    serverMs: perCall('serverMs'),
    databaseMs: perCall('databaseMs'),
    clientMs: perCall('clientMs'),
  }
}

/** Returns the first process of a PostgreSQL server on this machine: the parent of each connection. */
async function findPostmaster(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return await readParentPid(rows[0]?.pid ?? 0)
  } finally {
    await client.end()
  }
}
