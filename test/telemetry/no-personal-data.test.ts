import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { startOtlpCollector } from '../support/network/otlp-collector.ts'
import { imageItem, samplePhotograph, startFacegate } from '../support/facegate/test-facegate.ts'
import { defaultRequest } from '../support/vision/test-pipeline.ts'

/** Texts that would break a line, a terminal, a page or a logger, each with a mark of its own. */
const hostileText = (mark: string): string =>
  `${mark}\r\n{"level":"fatal"}\u001B[31m<script>\${jndi:x}`

test('T59: nothing of a person, a picture, a template or a key leaves in logs, metrics or traces', async () => {
  await using collector = await startOtlpCollector()
  const lines: string[] = []
  const log = createLog('trace', { write: (line) => void lines.push(line) })
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, VISION_WORKERS: '1' }
  await using facegate = await startFacegate(environment, log)
  const photograph = await samplePhotograph(3)
  const params = { images: [imageItem(photograph)], facePolicy: 'largest' }
  const person = {
    externalId: 'canary-external-1859',
    displayName: hostileText('canary-name-1859'),
    attributes: { note: hostileText('canary-attribute-1859') },
  }
  const { key, url, post } = facegate
  const headers = {
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    tracestate: 'canary=tracestate-1859',
    baggage: 'canary=baggage-1859',
    'user-agent': 'canary-agent-1859',
  }
  const enrolled = await post({ action: 'svc.enroll', params: { ...params, ...person } }, headers)
  assert.equal(enrolled.body.ok, true, JSON.stringify(enrolled.body.errors))
  const { subjectId } = enrolled.body.data.results[0].value
  for (const action of ['svc.identify', 'svc.verify', hostileText('canary-action-1859')])
    await post({ action, params: { ...params, externalId: 'canary-external-1859' } }, headers)
  await post(
    { action: 'svc.detect', requestId: hostileText('canary-id-1859'), params: {} },
    headers,
  )
  await post(`{"canary-body-1859`, headers)
  const rest = ['subjects?externalId=canary-external-1859', `subjects/${subjectId}`]
  for (const place of [...rest, 'groups/canary-group-1859', 'canary-path-1859'])
    await fetch(`${url}/v1/${place}`, { headers: { ...headers, 'x-api-key': key } })
  await fetch(`${url}/v1/subjects`, { headers: { 'x-api-key': `${key.slice(0, -1)}x` } })
  const call = { projectId: randomUUID(), path: 'params.images[0]' }
  const picture = { bytes: photograph.bytes.toString('base64'), contentType: 'image/jpeg' } as const
  const seen = await facegate.facegate.vision.analyzeImage(
    picture,
    { ...defaultRequest, templates: true },
    call,
  )
  const metrics = await (await fetch(`${url}/metrics`)).text()
  await facegate.facegate.close()

  const told = {
    log: lines.join(''),
    metrics,
    telemetry: collector.received(),
  }
  assert.ok(told.log.includes('served') && told.telemetry.includes('svc.enroll'))
  const hidden = [
    'canary',
    ...keyFragments(key),
    ...encodingsOf(photograph.bytes.subarray(1000, 1060)),
  ]
  for (const { template } of seen.faces) {
    assert.ok(template)
    const { buffer, byteOffset } = template.vector
    hidden.push(...encodingsOf(Buffer.from(buffer, byteOffset, 64)))
    for (const value of template.vector.slice(0, 4)) hidden.push(String(value).slice(0, 10))
  }
  for (const [where, text] of Object.entries(told))
    for (const secret of hidden) assert.equal(text.includes(secret), false, `${secret} in ${where}`)
  for (const line of lines) assert.equal(line.indexOf('\n'), line.length - 1, 'no line is forged')
})

/** A log may show the beginning of a key and its last four characters, and no more. */
function keyFragments(key: string): string[] {
  const secret = key.slice(9)
  return Array.from({ length: secret.length - 11 }, (_, at) => secret.slice(at, at + 12))
}

/** Bytes as a careless writer may put them down. */
function encodingsOf(bytes: Buffer): string[] {
  return [bytes.toString('hex'), bytes.toString('base64').slice(4, -4), [...bytes].join(',')]
}
