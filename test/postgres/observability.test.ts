import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startOtlpCollector } from '../support/network/otlp-collector.ts'
import { imageItem, samplePhotograph, startFacegate } from '../support/facegate/test-facegate.ts'
import { clusterSkipReason, startPostgresCluster } from '../support/database/postgres-server.ts'

const skip = clusterSkipReason ?? false

test(
  'Metrics and traces describe PostgreSQL, and the metrics are available while it is down',
  { skip },
  async () => {
    await using cluster = await startPostgresCluster()
    await using database = await cluster.createDatabase()
    await using collector = await startOtlpCollector()
    const environment = {
      DATABASE_URL: database.url,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      VISION_WORKERS: '1',
    }
    await using facegate = await startFacegate(environment)
    const images = [imageItem(await samplePhotograph(3))]
    const params = { images, facePolicy: 'largest', externalId: 'one' }
    assert.equal((await facegate.post({ action: 'svc.enroll', params })).body.ok, true)
    const metrics = async () => (await fetch(`${facegate.url}/metrics`)).text()

    const up = await metrics()
    assert.match(up, /^facegate_build_info\{.*store="postgresql"\} 1$/mu)
    assert.match(up, /^facegate_database_up 1$/mu)
    assert.match(up, /^facegate_ready 1$/mu)
    assert.match(up, /^facegate_database_connections\{state="idle"\} [1-9]\d*$/mu)

    await cluster.killAll()
    const down = await metrics()
    assert.match(down, /^facegate_database_up 0$/mu)
    assert.match(down, /^facegate_ready 0$/mu)
    await cluster.restart()

    await facegate.facegate.close()
    const spans = collector.spans()
    const steps = new Set(spans.map(({ name }) => name))
    for (const step of ['gate.authenticate', 'gate.settle', 'database.read', 'database.write'])
      assert.ok(steps.has(step), step)
    const lookup = spans.find(({ attributes }) => attributes['db.operation.name'] === 'findKey')
    assert.equal(
      spans.find(({ spanId }) => spanId === lookup?.parentSpanId)?.name,
      'gate.authenticate',
    )
    assert.doesNotMatch(collector.received(), /select|insert|\$1/iu, 'no SQL is exported')
  },
)
