import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readConfig } from '../../src/config.ts'
import { startOtlpCollector, type OtlpSpan } from '../support/network/otlp-collector.ts'
import { imageItem, samplePhotograph, startFacegate } from '../support/facegate/test-facegate.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerSpanId = '00f067aa0ba902b7'

test('a call is one trace: the caller’s, with a span for each step, and the same metrics', async () => {
  await using collector = await startOtlpCollector()
  await using facegate = await startFacegate({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_SERVICE_NAME: 'faces-north',
    VISION_WORKERS: '1',
  })
  const requestId = randomUUID()
  const images = [imageItem(await samplePhotograph(3))]
  const body = { action: 'svc.identify', requestId, params: { images, facePolicy: 'largest' } }
  const traceparent = `00-${traceId}-${callerSpanId}-01`
  assert.equal((await facegate.post(body, { traceparent })).body.ok, true)
  assert.equal((await facegate.post(body)).body.meta.idempotencyReplay, true)
  await fetch(`${facegate.url}/healthz`)
  const shown = await (await fetch(`${facegate.url}/metrics`)).text()
  await facegate.facegate.close()

  const spans = collector.spans()
  const roots = spans.filter(({ name }) => name === 'POST /v1/face/execute')
  assert.equal(roots.length, 2, 'and none of a question about health')
  const [first, replay] = roots
  assert.ok(first && replay)
  assert.deepEqual([first.traceId, first.parentSpanId], [traceId, callerSpanId])
  assert.notEqual(replay.traceId, traceId)
  assert.deepEqual(first.attributes, {
    'facegate.request_id': requestId,
    'facegate.action': 'svc.identify',
    'facegate.code': 'OK',
    'facegate.replay': false,
    'http.request.method': 'POST',
    'http.route': '/v1/face/execute',
    'http.response.status_code': 200,
  })
  assert.equal(replay.attributes['facegate.replay'], true)
  assert.deepEqual(namesUnder(first, spans), [
    'gallery.search',
    'gate.admit',
    'gate.authenticate',
    'gate.settle',
    'vision.queue',
    'vision.work',
  ])
  const settle = spans.find(({ name, traceId: of }) => name === 'gate.settle' && of === traceId)
  assert.ok(settle && namesUnder(settle, spans).includes('database.write'))
  assert.equal(collector.resource()['service.name'], 'faces-north')
  assertSameMetrics(shown, collector.metrics())
})

/** Names of the steps right under a span, but for what the action asks the database on its own. */
function namesUnder({ spanId }: OtlpSpan, spans: readonly OtlpSpan[]): string[] {
  const under = spans.filter(({ parentSpanId }) => parentSpanId === spanId)
  const isAsideFrom = (name: string) => under.length === 1 || name !== 'database.read'
  return under
    .map(({ name }) => name)
    .filter(isAsideFrom)
    .toSorted()
}

/** What the last export said of calls is what Prometheus was shown just before. */
function assertSameMetrics(
  shown: string,
  metrics: ReturnType<Awaited<ReturnType<typeof startOtlpCollector>>['metrics']>,
): void {
  const families = [...shown.matchAll(/^# TYPE (\S+)/gmu)].map(([, name]) => name)
  assert.deepEqual(new Set(metrics.map(({ name }) => name)), new Set(families))
  const calls = metrics.find(({ name }) => name === 'facegate_calls_total')
  assert.equal(calls?.isMonotonic, true)
  assert.match(shown, /^facegate_calls_total\{action="svc.identify",code="OK"\} 2$/mu)
  assert.deepEqual(
    calls?.points.map(({ attributes, asDouble }) => ({ ...attributes, asDouble })),
    [{ action: 'svc.identify', code: 'OK', asDouble: 2 }],
  )
  const durations = metrics.find(({ name }) => name === 'facegate_call_duration_seconds')
  const [point] = durations?.points ?? []
  assert.equal(durations?.unit, 's')
  assert.equal(Number(point?.count), 2)
  const counts = (point?.bucketCounts ?? []).map(Number)
  assert.equal(counts.length, (point?.explicitBounds?.length ?? 0) + 1)
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    2,
  )
}

test('a sampler that keeps nothing sends no trace, and metrics alone can be sent', async () => {
  await using collector = await startOtlpCollector()
  for (const environment of [
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics` },
  ]) {
    const before = collector.metrics()
    await using facegate = await startFacegate({ ...environment, VISION_WORKERS: '1' })
    await facegate.post({ action: 'svc.detect', params: {} })
    await facegate.facegate.close()
    assert.deepEqual(collector.spans(), [])
    assert.notDeepEqual(collector.metrics(), before)
  }
})

test('calls go on while the collector is away, and the end waits for it no longer than it may', async () => {
  await using facegate = await startFacegate({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    VISION_WORKERS: '1',
  })
  const { body } = await facegate.run('svc.detect', await samplePhotograph(3))
  assert.equal(body.ok, true)
})

test('a malformed or foreign traceparent begins a trace of its own', async () => {
  const { parseTraceparent } = await import('../../src/telemetry/traceparent.ts')
  const known = { traceId, spanId: callerSpanId, isRemote: true }
  const good = `00-${traceId}-${callerSpanId}-01`
  assert.deepEqual(parseTraceparent(good), { ...known, traceFlags: 1 })
  assert.deepEqual(parseTraceparent(`00-${traceId}-${callerSpanId}-00`), {
    ...known,
    traceFlags: 0,
  })
  // A later version may say more behind what is known of it.
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${callerSpanId}-09-more`), {
    ...known,
    traceFlags: 1,
  })
  for (const wrong of [
    undefined,
    '',
    `${good}-more`,
    `ff-${traceId}-${callerSpanId}-01`,
    `00-${'0'.repeat(32)}-${callerSpanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    good.toUpperCase(),
    `${good}, ${good}`,
  ])
    assert.equal(parseTraceparent(wrong), undefined, wrong)
})

test('without a collector no line of the SDK is read', async () => {
  const watch = `
    import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (/^@opentelemetry.(sdk|exporter)/.test(name)) console.log(name)
      return next(name, context)
    } })`
  const loaded = async (file: string) => {
    const source = `${watch}; await import('${new URL(file, import.meta.url).href}')`
    const args = ['--input-type=module', '-e', source]
    return (await promisify(execFile)(process.execPath, args)).stdout.trim()
  }
  assert.equal(await loaded('../../src/start/services.ts'), '')
  assert.match(await loaded('../../src/telemetry/otlp.ts'), /@opentelemetry\/sdk-trace/u)
})

test('the address of a collector cannot carry a password, which the console would show', () => {
  const of = (address: string) => () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: address })
  assert.throws(of('https://me:secret@collector'), /OTEL_EXPORTER_OTLP_ENDPOINT: must be/u)
  assert.throws(of('collector:4318'), /OTEL_EXPORTER_OTLP_ENDPOINT: must be/u)
  assert.equal(of('https://collector')().OTEL_EXPORTER_OTLP_ENDPOINT, 'https://collector')
})
