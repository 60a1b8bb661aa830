import { randomUUID } from 'node:crypto'

/** Each UUID in a text. */
export const uuidsInText = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/giu

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu

/** The UUID of zeros: programs send it for an id that they did not set. */
export const nilUuid = '00000000-0000-0000-0000-000000000000'

export function newId(): string {
  return randomUUID()
}

/** True for a UUID other than the nil UUID. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text) && text !== nilUuid
}
