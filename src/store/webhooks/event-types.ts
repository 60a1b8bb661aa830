import texts from './event-texts.json' with { type: 'json' }

/** The events that a webhook can receive, with the text of the documentation and the console. */
export const webhookEventTypes = texts

export type WebhookEventType = keyof typeof webhookEventTypes

/** Sent on request of an operator; a webhook always receives it. */
export const testEventType = 'webhook.test'

export const allEventTypes = Object.keys(webhookEventTypes) as readonly WebhookEventType[]

/** The events about the faces of a call. A webhook receives them only on request. */
export const faceEventTypes = [
  'identify.matched',
  'identify.unmatched',
  'visitor.returned',
] as const
export type FaceEventType = (typeof faceEventTypes)[number]

export const isFaceEvent = (type: WebhookEventType) => faceEventTypes.some((name) => name === type)

/** The events of a new webhook. */
export const defaultEventTypes = allEventTypes.filter((type) => !isFaceEvent(type))

/** Returns the event types of a webhook's row. */
export function parseEventTypes(json: string): readonly WebhookEventType[] {
  const stored = JSON.parse(json) as readonly unknown[]
  return allEventTypes.filter((type) => stored.includes(type))
}
