import * as fc from 'fast-check'

/** `crash` rolls the transaction back before its commit. */
type TransactionOutcome = 'commit' | 'crash'

/** An operation on the ledger. The test runs them in any order. */
export type LedgerCommand = { readonly outcome: TransactionOutcome } & (
  | { readonly kind: 'topUp' | 'allocate'; readonly micros: bigint }
  | { readonly kind: 'admit'; readonly request: number; readonly content: number }
  | { readonly kind: 'settle'; readonly reservation: number; readonly ok: boolean }
  | { readonly kind: 'release'; readonly reservation: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'sweep' | 'restart' }
)

/** How long responses are kept for replays. */
export const replayWindowMs = 200_000

const outcome = fc.constantFrom<TransactionOutcome>('commit', 'commit', 'commit', 'crash')
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields)

export const ledgerCommands: fc.Arbitrary<LedgerCommand> = fc.oneof(
  record({ kind: fc.constant('topUp' as const), micros: fc.bigInt(-10n, 3000n), outcome }),
  record({ kind: fc.constant('allocate' as const), micros: fc.bigInt(-2500n, 4000n), outcome }),
  {
    weight: 4,
    arbitrary: record({
      kind: fc.constant('admit' as const),
      request: fc.nat(5),
      content: fc.constantFrom(0, 0, 0, 1),
      outcome,
    }),
  },
  {
    weight: 3,
    arbitrary: record({
      kind: fc.constant('settle' as const),
      reservation: fc.nat(30),
      ok: fc.boolean(),
      outcome,
    }),
  },
  record({ kind: fc.constant('release' as const), reservation: fc.nat(30), outcome }),
  record({
    kind: fc.constant('wait' as const),
    ms: fc.constantFrom(1, 20_000, 40_000, replayWindowMs),
    outcome,
  }),
  record({ kind: fc.constantFrom('sweep' as const, 'restart' as const), outcome }),
)
