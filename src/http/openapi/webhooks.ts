import events from './webhooks.json' with { type: 'json' }
import type { OpenApiObject } from './openapi-schemas.ts'

/**
 * Returns `webhooks`: the requests that the service sends to the webhooks of a project.
 * docs/reference/webhooks.md describes the fields of `data` of each event.
 */
export const openApiWebhooks = (): OpenApiObject => events
