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
 * How the tries ended. A connection that still waited to be accepted when a server closed is reset: it
 * was never read, as little as one that is refused.
 */
type ResponseCounts = { ok: number; unavailable: number; refused: number; readonly other: string[] }

/** What a newer version's start leaves behind: a migration that the old one has never heard of. */
const newerSchema = `
  alter table keys add column later text;
  create table "laterThings" ("thingId" text primary key);
  insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01T00:00:00.000Z')`

test(
  `servers restarted one after the other, while the schema grows, lose no call (${callsPerS} calls a second)`,
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
    const tally: ResponseCounts = { ok: 0, unavailable: 0, refused: 0, other: [] }
    const asked: string[] = []
    const over = new AbortController()
    const pending: Promise<void>[] = []
    const load = async (): Promise<void> => {
      for (; !over.signal.aborted; await sleep(1000 / callsPerS)) {
        const requestId = randomUUID()
        asked.push(requestId)
        const body = JSON.stringify({
          action: 'svc.detect',
          requestId,
          params: { images: [image] },
        })
        pending.push(callUntilAnswered(nodes, { body, key, turn: asked.length }, tally))
      }
    }
    const loading = load()
    for (const node of [0, 1]) {
      await sleep(1500)
      assert.equal(await stop(nodes[node]), 0)
      if (node === 0) await runSql(database.url, newerSchema)
      nodes[node] = await start(node)
    }
    await sleep(1500)
    over.abort()
    await loading
    await Promise.all(pending)
    t.diagnostic(`${asked.length} calls: ${JSON.stringify(tally)}`)
    assert.deepEqual(tally.other, [])
    assert.equal(tally.ok, asked.length)
    await Promise.all(nodes.map(stop))
    await using inside = await startGate({ key, environment: { DATABASE_URL: database.url } })
    const charged = (await callLogRows(inside)).filter(({ transferId }) => transferId !== null)
    assert.deepEqual(charged.map(({ requestId }) => requestId).toSorted(), asked.toSorted())
    await assertLedgerAudit(inside)
  },
)

type RepeatedCall = { readonly body: string; readonly key: string; readonly turn: number }

/** As a proxy before the servers does it: who does not listen is passed over, 503 is tried again. */
async function callUntilAnswered(
  nodes: readonly FacegateProcess[],
  sending: RepeatedCall,
  tally: ResponseCounts,
) {
  for (let { turn } = sending; ; turn++) {
    const answer = await send(nodes[turn % nodes.length]?.url ?? '', sending)
    if (answer === 'ECONNREFUSED' || answer === 'ECONNRESET') tally.refused++
    else if (answer === '503') tally.unavailable++
    else if (answer === '200') return void tally.ok++
    else return void tally.other.push(answer)
    await sleep(50)
  }
}

/** One call on a connection of its own. @returns its status, or the code of its failure. */
async function send(url: string, { body, key }: RepeatedCall): Promise<string> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const sent = request(`${url}/v1/face/execute`, { method: 'POST', agent: false, headers })
  sent.end(body)
  try {
    const [response] = await once(sent, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const answer = JSON.parse(Buffer.concat(chunks).toString())
    return response.statusCode === 200 && !answer.ok
      ? JSON.stringify(answer.errors)
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
