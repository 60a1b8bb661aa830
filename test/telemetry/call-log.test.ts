import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { traceCall, withSpan } from '../../src/lib/observability/call-trace.ts'
import { echoRequest, startGate } from '../support/gate/test-gate.ts'

/** A log that keeps its lines. */
function createRecordingLog() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}

test('every line of a call says its requestId, and no other line does', async () => {
  const { log, lines } = createRecordingLog()
  await using gate = await startGate({ log })
  const requestId = randomUUID()
  await gate.post(echoRequest('well', requestId))
  const fault = randomUUID()
  assert.equal((await gate.post(echoRequest('badly', fault, { fail: 'fault' }))).status, 500)
  log.info('outside')
  const served = lines.filter(({ msg }) => msg === 'served')
  assert.deepEqual(
    served.map((line) => [line['requestId'], line['route'], line['status'], line['level']]),
    [
      [requestId, '/v1/face/execute', 200, 'debug'],
      [fault, '/v1/face/execute', 500, 'debug'],
    ],
  )
  assert.equal(lines.find(({ msg }) => msg === 'unexpected fault')?.['requestId'], fault)
  assert.equal(lines.find(({ msg }) => msg === 'outside')?.['requestId'], undefined)
})

test('a refused stranger has an id in the log that the answer tells', async () => {
  const { log, lines } = createRecordingLog()
  await using gate = await startGate({ log })
  const answer = await gate.withKey('nobody').post(echoRequest('x'))
  assert.equal(answer.status, 401)
  const line = lines.find(({ msg }) => msg === 'served')
  assert.equal(line?.['requestId'], answer.headers.get('x-request-id'))
})

test('a job that waits with those of other calls logs under its own', async () => {
  const { log, lines } = createRecordingLog()
  await using gate = await startGate()
  const { store } = gate.database
  const ids = Array.from({ length: 20 }, () => randomUUID())
  await Promise.all(
    ids.map((requestId) =>
      traceCall({ attributes: { requestId }, observer: {} }, () =>
        store.write(() => log.info({ own: requestId }, 'in a job')),
      ),
    ),
  )
  assert.equal(lines.length, ids.length)
  for (const line of lines) assert.equal(line['requestId'], line['own'])
})

test('a step outlives its failure: the time is told and the error is the same', async () => {
  const steps: string[] = []
  const watch = { onSpanEnd: (step: string) => void steps.push(step) }
  const error = new Error('no')
  const call = traceCall({ attributes: {}, observer: watch }, () =>
    withSpan('gate.admit', () => withSpan('database.write', () => Promise.reject(error))),
  )
  await assert.rejects(call, error)
  assert.deepEqual(steps, ['database.write', 'gate.admit'])
})
