import type { Clock } from '../lib/clock.ts'
import type { Database } from '../store/database.ts'
import type { KeyFacts } from '../store/keys.ts'
import { identify } from './identify.ts'
import { permit } from './permit.ts'

/** The questions every call must answer before it costs anything, in their order. */
export type Gate = {
  /** The first question, asked before the body is read. */
  readonly identify: (apiKey: string | undefined) => Promise<KeyFacts>
  /** The other questions, asked once the body is understood. */
  readonly enter: (
    caller: KeyFacts,
    call: { readonly permissions: readonly string[] },
  ) => Promise<void>
}

export function createGate(db: Database, clock: Clock): Gate {
  return {
    identify: (apiKey) => identify(db, clock, apiKey),
    enter: async (caller, call) => {
      for (const permission of call.permissions) permit(caller, permission)
    },
  }
}
