import { setTimeout as sleep } from 'node:timers/promises'
import { takeToken, type Limits } from './limit.ts'

/** Keeps guessing of keys slow, per address. */
export type Strangers = {
  /** Called for every wrong key. @returns seconds to wait before the next; 0 within the limit. */
  readonly turnAway: (clientIp: string) => Promise<number>
}

const addressesMax = 10_000
const heldMax = 1000
const holdMs = 250

/**
 * Beyond its limit, an address waits a quarter of a second for each 401. Only wrong keys are slowed:
 * a right one is looked up and let in at once even then, because behind a proxy or one company's
 * router all clients share an address, and one bad script must not lock the others out. Against
 * guessing itself, 256 random bits and the checksum are the defence; this bounds the noise.
 */
export function createStrangers(limits: Limits, nowUs: () => number): Strangers {
  const fullAtUs = new Map<string, number>()
  let held = 0
  return {
    turnAway: async (clientIp) => {
      const tokens = takeToken(limits, fullAtUs.get(clientIp) ?? null, nowUs())
      remember(clientIp, tokens.fullAtUs)
      if (tokens.isAdmitted) return 0
      if (held < heldMax) {
        held++
        await sleep(holdMs).finally(() => held--)
      }
      return tokens.retryAfterS
    },
  }

  /** The address that was wrong longest ago is forgotten first. */
  function remember(clientIp: string, us: number): void {
    fullAtUs.delete(clientIp)
    const [oldest] = fullAtUs.keys()
    if (fullAtUs.size >= addressesMax && oldest !== undefined) fullAtUs.delete(oldest)
    fullAtUs.set(clientIp, us)
  }
}
