import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { startOtlpCollector } from '../support/network/otlp-collector.ts'
import { imageItem, samplePhotograph, startFacegate } from '../support/facegate/test-facegate.ts'
import { defaultRequest } from '../support/vision/test-pipeline.ts'

/** Returns a text that could break a log line, a terminal, a page or a logger, with a marker. */
const hostileText = (marker: string): string =>
  `${marker}\r\n{"level":"fatal"}\u001B[31m<script>\${jndi:x}`

test('T59: logs, metrics and traces contain no data of people, pictures, templates or keys', async () => {
  await using collector = await startOtlpCollector()
  const lines: string[] = []
  const log = createLog('trace', { write: (line) => void lines.push(line) })
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, VISION_WORKERS: '1' }
  await using facegate = await startFacegate(environment, log)
  const photograph = await samplePhotograph(3)
  const params = { images: [imageItem(photograph)], facePolicy: 'largest' }
  const person = {
    externalId: 'canary-external-1859',
    // Control characters are refused in names.
    displayName: hostileText('canary-name-1859').replaceAll(/\p{Cc}/gu, ' '),
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
  const paths = ['subjects?externalId=canary-external-1859', `subjects/${subjectId}`]
  for (const urlPath of [...paths, 'groups/canary-group-1859', 'canary-path-1859'])
    await fetch(`${url}/v1/${urlPath}`, { headers: { ...headers, 'x-api-key': key } })
  await fetch(`${url}/v1/subjects`, { headers: { 'x-api-key': `${key.slice(0, -1)}x` } })
  const call = { accountId: randomUUID(), projectId: randomUUID(), path: 'params.images[0]' }
  const image = { bytes: photograph.bytes.toString('base64'), contentType: 'image/jpeg' } as const
  const analysis = await facegate.facegate.vision.analyzeImage(
    image,
    { ...defaultRequest, templates: true },
    call,
  )
  const metrics = await (await fetch(`${url}/metrics`)).text()
  await facegate.facegate.close()

  const outputs = {
    log: lines.join(''),
    metrics,
    telemetry: collector.received(),
  }
  assert.ok(outputs.log.includes('served') && outputs.telemetry.includes('svc.enroll'))
  const secrets = [
    'canary',
    ...keyFragments(key),
    ...encodingsOf(photograph.bytes.subarray(1000, 1060)),
  ]
  for (const { template } of analysis.faces) {
    assert.ok(template)
    const { buffer, byteOffset } = template.vector
    secrets.push(...encodingsOf(Buffer.from(buffer, byteOffset, 64)))
    for (const value of template.vector.slice(0, 4)) secrets.push(String(value).slice(0, 10))
  }
  for (const [output, text] of Object.entries(outputs))
    for (const secret of secrets)
      assert.equal(text.includes(secret), false, `${secret} in ${output}`)
  for (const line of lines)
    assert.equal(line.indexOf('\n'), line.length - 1, 'no log line is forged')
})

/** All parts of a key that a log must not contain; its beginning and last four characters are allowed. */
function keyFragments(key: string): string[] {
  const secret = key.slice(9)
  return Array.from({ length: secret.length - 11 }, (_, index) => secret.slice(index, index + 12))
}

/** Common text encodings of bytes. */
function encodingsOf(bytes: Buffer): string[] {
  return [bytes.toString('hex'), bytes.toString('base64').slice(4, -4), [...bytes].join(',')]
}
