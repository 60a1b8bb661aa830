/** The events that a webhook can receive, with the text of the documentation and the console. */
export const webhookEventTypes = {
  'budget.low': 'The budget fell to 20 % of its value after the last allocation.',
  'budget.exhausted': 'The budget is 0, or too small for a call that was refused.',
  'key.expiring': 'An API key expires in 14 days, and again: in one day.',
  'camera.changed': 'The pictures or matches of a key became worse than in the four weeks before.',
  'subject.expired': 'A subject was deleted because it expired or was not matched for too long.',
  'identify.matched': 'svc.identify found a match. Contains ids and similarities.',
  'identify.unmatched': 'svc.identify found a face that matches no subject.',
  'visitor.returned': 'svc.identify found an unknown person of earlier calls again.',
} as const

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

export const isFaceEvent = (type: WebhookEventType): boolean =>
  faceEventTypes.some((name) => name === type)

/** The events of a new webhook. */
export const defaultEventTypes = allEventTypes.filter((type) => !isFaceEvent(type))

/** Returns the event types of a webhook's row. */
export function parseEventTypes(json: string): readonly WebhookEventType[] {
  const stored = JSON.parse(json) as readonly unknown[]
  return allEventTypes.filter((type) => stored.includes(type))
}
