import type { OpenApiObject } from './openapi-schemas.ts'

const text = { type: 'string' }
const uuid = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const micros = { type: 'string', description: 'Millionths of the currency, as digits.' }
const index = { type: 'integer', minimum: 0 }
const share = { type: 'number', minimum: 0, maximum: 1 }
const externalId = { type: ['string', 'null'] }
const budget = { balanceMicros: micros, thresholdMicros: micros }
const match = object({
  resultIndex: index,
  faceIndex: index,
  outcome: { type: 'string', enum: ['match', 'ambiguous'] },
  subjectId: uuid,
  externalId,
  groups: { type: 'array', items: text },
  faceId: uuid,
  similarity: share,
  threshold: share,
})

/** The fields of `data` of each event; docs/reference/webhooks.md describes them. */
const eventData = {
  'budget.low': budget,
  'budget.exhausted': budget,
  'key.expiring': {
    keyId: uuid,
    name: text,
    prefix: text,
    last4: text,
    expiresAtUtc: time,
    days: index,
  },
  'subject.expired': { subjectId: uuid, externalId, reason: text, deletedAtUtc: time },
  'identify.matched': {
    requestId: uuid,
    keyId: uuid,
    matches: { type: 'array', minItems: 1, items: match },
  },
  'webhook.test': { webhookId: uuid },
} satisfies Readonly<Record<string, OpenApiObject>>

/** Returns `webhooks`: the requests that the service sends to the webhooks of a project. */
export function openApiWebhooks(): OpenApiObject {
  return Object.fromEntries(
    Object.entries(eventData).map(([type, data]) => [type, { post: eventOperation(type, data) }]),
  )
}

function eventOperation(type: string, data: OpenApiObject): OpenApiObject {
  const event = {
    id: { ...text, description: 'The same in every attempt.' },
    type: { ...text, const: type },
    createdAtUtc: time,
    projectId: uuid,
    data: object(data),
  }
  return {
    operationId: `webhook.${type}`.replaceAll(/\.(\w)/gu, (_, letter: string) =>
      letter.toUpperCase(),
    ),
    tags: ['webhooks'],
    summary: `The event ${type}`,
    description: 'Verify the signature of the bytes of the body before you parse them.',
    security: [],
    parameters: ['Facegate-Signature', 'Facegate-Event-Id'].map((name) => ({
      name,
      in: 'header',
      required: true,
      schema: text,
    })),
    requestBody: { required: true, content: { 'application/json': { schema: object(event) } } },
    responses: { '2XX': { description: 'Accepted. Any other response is followed by a retry.' } },
  }
}

function object(properties: OpenApiObject): OpenApiObject {
  return { type: 'object', properties, required: Object.keys(properties) }
}
