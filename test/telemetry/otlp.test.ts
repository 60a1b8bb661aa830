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

test('a call is one trace with the trace id of the caller and a span per step, and metrics are equal', async () => {
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
  const prometheusText = await (await fetch(`${facegate.url}/metrics`)).text()
  await facegate.facegate.close()

  const spans = collector.spans()
  const roots = spans.filter(({ name }) => name === 'POST /v1/face/execute')
  assert.equal(roots.length, 2, 'health checks have no trace')
  const [first, replay] = roots
  assert.ok(first && replay)
  assert.deepEqual([first.traceId, first.parentSpanId], [traceId, callerSpanId])
  assert.notEqual(replay.traceId, traceId)
  assert.deepEqual(first.attributes, {
    'facegate.request_id': requestId,
    'facegate.action': 'svc.identify',
    'facegate.code': 'OK',
    'facegate.replay': false,
    'facegate.outcome': 'no_match',
    'facegate.near_miss': false,
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
    'vision.analyze',
    'vision.queue',
  ])
  const settle = spans.find((span) => span.name === 'gate.settle' && span.traceId === traceId)
  assert.ok(settle && namesUnder(settle, spans).includes('database.write'))
  assert.equal(collector.resource()['service.name'], 'faces-north')
  assertSameMetrics(prometheusText, collector.metrics())
})

/** Names of the child spans, without the direct database reads of the action. */
function namesUnder({ spanId }: OtlpSpan, spans: readonly OtlpSpan[]): string[] {
  const children = spans.filter(({ parentSpanId }) => parentSpanId === spanId)
  const isIncluded = (name: string) => children.length === 1 || name !== 'database.read'
  return children
    .map(({ name }) => name)
    .filter(isIncluded)
    .toSorted()
}

/** Asserts that the last export has the same call metrics as the Prometheus text before it. */
function assertSameMetrics(
  prometheusText: string,
  metrics: ReturnType<Awaited<ReturnType<typeof startOtlpCollector>>['metrics']>,
): void {
  const families = [...prometheusText.matchAll(/^# TYPE (\S+)/gmu)].map(([, name]) => name)
  assert.deepEqual(new Set(metrics.map(({ name }) => name)), new Set(families))
  const calls = metrics.find(({ name }) => name === 'facegate_calls_total')
  assert.equal(calls?.isMonotonic, true)
  assert.match(prometheusText, /^facegate_calls_total\{action="svc.identify",code="OK"\} 2$/mu)
  assert.match(
    prometheusText,
    /^facegate_call_outcomes_total\{action="svc.identify",outcome="no_match",near_miss="false"\} 1$/mu,
  )
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

test('a sampler with ratio 0 exports no traces, and metrics can be exported alone', async () => {
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

test('calls succeed while the collector is unreachable, and the shutdown is not blocked', async () => {
  await using facegate = await startFacegate({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    VISION_WORKERS: '1',
  })
  const { body } = await facegate.run('svc.detect', await samplePhotograph(3))
  assert.equal(body.ok, true)
})

test('a malformed traceparent is ignored, and a later version is accepted', async () => {
  const { parseTraceparent } = await import('../../src/telemetry/trace-starter.ts')
  const expected = { traceId, spanId: callerSpanId, isRemote: true }
  const valid = `00-${traceId}-${callerSpanId}-01`
  assert.deepEqual(parseTraceparent(valid), { ...expected, traceFlags: 1 })
  assert.deepEqual(parseTraceparent(`00-${traceId}-${callerSpanId}-00`), {
    ...expected,
    traceFlags: 0,
  })
  // A later version may append fields.
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${callerSpanId}-09-more`), {
    ...expected,
    traceFlags: 1,
  })
  for (const invalid of [
    undefined,
    '',
    `${valid}-more`,
    `ff-${traceId}-${callerSpanId}-01`,
    `00-${'0'.repeat(32)}-${callerSpanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    valid.toUpperCase(),
    `${valid}, ${valid}`,
  ])
    assert.equal(parseTraceparent(invalid), undefined, invalid)
})

test('without a collector no module of the SDK is loaded', async () => {
  const hook = `
    import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (/^@opentelemetry.(sdk|exporter)/.test(name)) console.log(name)
      return next(name, context)
    } })`
  const loaded = async (file: string) => {
    const source = `${hook}; await import('${new URL(file, import.meta.url).href}')`
    const args = ['--input-type=module', '-e', source]
    return (await promisify(execFile)(process.execPath, args)).stdout.trim()
  }
  assert.equal(await loaded('../../src/start/create-facegate.ts'), '')
  assert.match(await loaded('../../src/telemetry/otlp.ts'), /@opentelemetry\/sdk-trace/u)
})

test('the URL of a collector cannot contain a password, because the console displays it', () => {
  const configOf = (url: string) => () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url })
  assert.throws(configOf('https://me:secret@collector'), /OTEL_EXPORTER_OTLP_ENDPOINT: must be/u)
  assert.throws(configOf('collector:4318'), /OTEL_EXPORTER_OTLP_ENDPOINT: must be/u)
  assert.equal(configOf('https://collector')().OTEL_EXPORTER_OTLP_ENDPOINT, 'https://collector')
})
