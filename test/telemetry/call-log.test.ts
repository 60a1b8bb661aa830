import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { traceCall, withSpan } from '../../src/lib/observability/call-trace.ts'
import { echoRequest, startGate } from '../support/gate/test-gate.ts'

/** Creates a log that stores its lines. */
function createRecordingLog() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}

test('every log line of a call contains its requestId, and other lines do not', async () => {
  const { log, lines } = createRecordingLog()
  await using gate = await startGate({ log })
  const requestId = randomUUID()
  await gate.post(echoRequest('well', requestId))
  const faultId = randomUUID()
  assert.equal((await gate.post(echoRequest('badly', faultId, { fail: 'fault' }))).status, 500)
  log.info('outside')
  const served = lines.filter(({ msg }) => msg === 'served')
  assert.deepEqual(
    served.map((line) => [line['requestId'], line['route'], line['status'], line['level']]),
    [
      [requestId, '/v1/face/execute', 200, 'debug'],
      [faultId, '/v1/face/execute', 500, 'debug'],
    ],
  )
  assert.equal(lines.find(({ msg }) => msg === 'unexpected fault')?.['requestId'], faultId)
  assert.equal(lines.find(({ msg }) => msg === 'outside')?.['requestId'], undefined)
})

test('the log line of an unauthenticated call has the id of the response header', async () => {
  const { log, lines } = createRecordingLog()
  await using gate = await startGate({ log })
  const response = await gate.withKey('unknown').post(echoRequest('x'))
  assert.equal(response.status, 401)
  const line = lines.find(({ msg }) => msg === 'served')
  assert.equal(line?.['requestId'], response.headers.get('x-request-id'))
})

test('a queued job logs the requestId of the call that queued it', async () => {
  const { log, lines } = createRecordingLog()
  await using gate = await startGate()
  const { store } = gate.database
  const ids = Array.from({ length: 20 }, () => randomUUID())
  await Promise.all(
    ids.map((requestId) =>
      traceCall({ attributes: { requestId }, observer: {} }, () =>
        store.write(() => log.info({ expected: requestId }, 'in a job')),
      ),
    ),
  )
  assert.equal(lines.length, ids.length)
  for (const line of lines) assert.equal(line['requestId'], line['expected'])
})

test('a failed span reports its duration and rethrows the error', async () => {
  const names: string[] = []
  const observer = { onSpanEnd: (name: string) => void names.push(name) }
  const error = new Error('no')
  const call = traceCall({ attributes: {}, observer }, () =>
    withSpan('gate.admit', () => withSpan('database.write', () => Promise.reject(error))),
  )
  await assert.rejects(call, error)
  assert.deepEqual(names, ['database.write', 'gate.admit'])
})
