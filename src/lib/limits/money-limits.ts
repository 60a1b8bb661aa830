import type { Micros } from '../money.ts'

/** A larger top-up in the console requires that its amount is typed again: 1,000 units. */
export const topUpConfirmationMicros: Micros = 1_000_000_000n
