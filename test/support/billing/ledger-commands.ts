import * as fc from 'fast-check'

type TransactionOutcome = 'commit' | 'crash'
/** What may happen to the books, in any order; a crash takes back what was not committed. */
export type LedgerCommand = { readonly ending: TransactionOutcome } & (
  | { readonly does: 'topUp' | 'allocate'; readonly micros: bigint }
  | { readonly does: 'claim'; readonly request: number; readonly content: number }
  | { readonly does: 'settle'; readonly attempt: number; readonly ok: boolean }
  | { readonly does: 'release'; readonly attempt: number }
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'sweep' | 'restart' }
)

/** How long answers are kept for replays. */
export const replayWindowMs = 200_000

const transactionOutcomes = fc.constantFrom<TransactionOutcome>(
  'commit',
  'commit',
  'commit',
  'crash',
)
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields)
export const ledgerCommands: fc.Arbitrary<LedgerCommand> = fc.oneof(
  record({
    does: fc.constant('topUp' as const),
    micros: fc.bigInt(-10n, 3000n),
    ending: transactionOutcomes,
  }),
  record({
    does: fc.constant('allocate' as const),
    micros: fc.bigInt(-2500n, 4000n),
    ending: transactionOutcomes,
  }),
  {
    weight: 4,
    arbitrary: record({
      does: fc.constant('claim' as const),
      request: fc.nat(5),
      content: fc.constantFrom(0, 0, 0, 1),
      ending: transactionOutcomes,
    }),
  },
  {
    weight: 3,
    arbitrary: record({
      does: fc.constant('settle' as const),
      attempt: fc.nat(30),
      ok: fc.boolean(),
      ending: transactionOutcomes,
    }),
  },
  record({
    does: fc.constant('release' as const),
    attempt: fc.nat(30),
    ending: transactionOutcomes,
  }),
  record({
    does: fc.constant('wait' as const),
    ms: fc.constantFrom(1, 20_000, 40_000, replayWindowMs),
    ending: transactionOutcomes,
  }),
  record({
    does: fc.constantFrom('sweep' as const, 'restart' as const),
    ending: transactionOutcomes,
  }),
)
