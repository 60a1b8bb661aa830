import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** An OpenTelemetry collector that stores the JSON it receives over HTTP. */
export type OtlpCollector = AsyncDisposable & {
  readonly url: string
  /** The text of all received bodies. */
  readonly received: () => string
  readonly spans: () => readonly OtlpSpan[]
  /** The metrics of the last export. */
  readonly metrics: () => readonly OtlpMetric[]
  /** The attributes of the service. */
  readonly resource: () => Readonly<Record<string, unknown>>
}

export type OtlpSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: { readonly code?: number }
}

export type OtlpMetric = {
  readonly name: string
  readonly unit: string
  readonly points: readonly OtlpDataPoint[]
  readonly isMonotonic: boolean | undefined
}

type OtlpDataPoint = {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly asDouble?: number
  readonly asInt?: number | string
  readonly count?: number | string
  readonly sum?: number
  readonly bucketCounts?: readonly (number | string)[]
  readonly explicitBounds?: readonly number[]
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const bodies: { readonly path: string; readonly body: string }[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push({ path: request.url ?? '', body: await text(request) })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The SDK creates the bodies; the tests verify the fields that they use.
  // oxlint-disable-next-line typescript/no-explicit-any
  const bodiesOf = (kind: string): any[] =>
    bodies.filter(({ path }) => path.endsWith(kind)).map(({ body }) => JSON.parse(body))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => bodies.map(({ body }) => body).join('\n'),
    spans: () =>
      bodiesOf('/v1/traces')
        .flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .map((span) => ({ ...span, attributes: attributesOf(span.attributes) })),
    metrics: () =>
      (bodiesOf('/v1/metrics').at(-1)?.resourceMetrics ?? [])
        .flatMap(({ scopeMetrics }: { scopeMetrics: object[] }) => scopeMetrics)
        .flatMap(({ metrics }: { metrics: object[] }) => metrics)
        .map(metricOf),
    resource: () =>
      attributesOf(bodiesOf('/v1/traces').at(-1)?.resourceSpans[0]?.resource.attributes ?? []),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type OtlpAttribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> }

function attributesOf(pairs: readonly OtlpAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
}

// oxlint-disable-next-line typescript/no-explicit-any
function metricOf({ name, unit, sum, gauge, histogram }: any): OtlpMetric {
  const { dataPoints, isMonotonic } = sum ?? gauge ?? histogram
  const points = dataPoints.map((point: { attributes: OtlpAttribute[] }) => ({
    ...point,
    attributes: attributesOf(point.attributes),
  }))
  return { name, unit, points, isMonotonic }
}
