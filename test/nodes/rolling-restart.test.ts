import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { request } from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { imageItem, createDataDir } from '../support/facegate/test-facegate.ts'
import { assertLedgerAudit, callLogRows, startGate } from '../support/gate/test-gate.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { postgresSkipReason, runSql } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const callsPerS = Number(process.env['RESTART_CALLS_PER_S'] ?? 8)

/**
 * The outcomes of all tries. A closing server resets connections that it has not accepted. It never
 * read them, so they count as refused.
 */
type ResponseCounts = { ok: number; unavailable: number; refused: number; readonly other: string[] }

/** SQL with the changes of a newer version: a migration that the old version does not have. */
const newerSchema = `
  alter table keys add column later text;
  create table "laterThings" ("thingId" text primary key);
  insert into kysely_migration (name, timestamp) values ('999-later', '2030-01-01T00:00:00.000Z')`

test(
  `A rolling restart with a schema migration loses no call (${callsPerS} calls a second)`,
  {
    skip,
  },
  async (t) => {
    await using database = await createMigratedDatabase()
    const folders = [await createDataDir(), await createDataDir()]
    await using opened = new AsyncDisposableStack()
    for (const folder of folders) opened.defer(() => rm(folder, { recursive: true, force: true }))
    const environment = {
      DATABASE_URL: database.url,
      MASTER_KEY_FILE: path.join(folders[0] ?? '', 'master.key'),
      VISION_WORKERS: '1',
      STARTER_CREDIT_MICROS: '1000000000',
      LOG_LEVEL: 'error',
    }
    let key = ''
    const start = async (node: number): Promise<FacegateProcess> => {
      const dataDir = folders[node] ?? ''
      const server = opened.use(await spawnFacegate(environment, { dataDir, ...(key && { key }) }))
      key ||= server.key
      return server
    }
    const nodes = [await start(0), await start(1)]
    const image = imageItem({ bytes: await samplePortrait(), contentType: 'image/png' })
    const counts: ResponseCounts = { ok: 0, unavailable: 0, refused: 0, other: [] }
    const requestIds: string[] = []
    const load = new AbortController()
    const pending: Promise<void>[] = []
    const sendCalls = async (): Promise<void> => {
      for (; !load.signal.aborted; await sleep(1000 / callsPerS)) {
        const requestId = randomUUID()
        requestIds.push(requestId)
        const body = JSON.stringify({
          action: 'svc.detect',
          requestId,
          params: { images: [image] },
        })
        const call = { body, key, turn: requestIds.length }
        pending.push(callUntilSuccess(nodes, call, counts))
      }
    }
    const sending = sendCalls()
    for (const node of [0, 1]) {
      await sleep(1500)
      assert.equal(await stop(nodes[node]), 0)
      if (node === 0) await runSql(database.url, newerSchema)
      nodes[node] = await start(node)
    }
    await sleep(1500)
    load.abort()
    await sending
    await Promise.all(pending)
    t.diagnostic(`${requestIds.length} calls: ${JSON.stringify(counts)}`)
    assert.deepEqual(counts.other, [])
    assert.equal(counts.ok, requestIds.length)
    await Promise.all(nodes.map(stop))
    await using local = await startGate({ key, environment: { DATABASE_URL: database.url } })
    const charged = (await callLogRows(local)).filter(({ transferId }) => transferId !== null)
    assert.deepEqual(charged.map(({ requestId }) => requestId).toSorted(), requestIds.toSorted())
    await assertLedgerAudit(local)
  },
)

type RepeatedCall = { readonly body: string; readonly key: string; readonly turn: number }

/** Retries a call like a proxy: it skips servers that refuse connections, and repeats after 503. */
async function callUntilSuccess(
  nodes: readonly FacegateProcess[],
  call: RepeatedCall,
  counts: ResponseCounts,
) {
  for (let { turn } = call; ; turn++) {
    const outcome = await send(nodes[turn % nodes.length]?.url ?? '', call)
    if (outcome === 'ECONNREFUSED' || outcome === 'ECONNRESET') counts.refused++
    else if (outcome === '503') counts.unavailable++
    else if (outcome === '200') return void counts.ok++
    else return void counts.other.push(outcome)
    await sleep(50)
  }
}

/** Makes a call on a new connection. @returns its status or the code of its failure. */
async function send(url: string, { body, key }: RepeatedCall): Promise<string> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const sent = request(`${url}/v1/face/execute`, { method: 'POST', agent: false, headers })
  sent.end(body)
  try {
    const [response] = await once(sent, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const envelope = JSON.parse(Buffer.concat(chunks).toString())
    return response.statusCode === 200 && !envelope.ok
      ? JSON.stringify(envelope.errors)
      : String(response.statusCode)
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

/** @returns the exit code. */
async function stop(node: FacegateProcess | undefined): Promise<number | null | undefined> {
  const child = node?.process
  if (!child || child.exitCode !== null) return child?.exitCode
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const [code] = (await exited) as [number | null]
  return code
}
