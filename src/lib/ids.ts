import { randomUUID } from 'node:crypto'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu

export function newId(): string {
  return randomUUID()
}

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text)
}
