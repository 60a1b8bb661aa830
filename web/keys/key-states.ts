import type { ConsoleKey } from '../api/responses.ts'
import type { StatusTone } from '../components/status-tag.tsx'

export const keyStates = ['active', 'revoked', 'expired'] as const

export const keyStateTones: Readonly<Record<ConsoleKey['state'], StatusTone>> = {
  active: 'ok',
  revoked: 'bad',
  expired: 'warn',
}
