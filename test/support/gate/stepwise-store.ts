import type { Store } from '../../../src/store/database.ts'
import type { Tx } from '../../../src/store/tx.ts'

/** Returns the store without its single statements: each admission and settlement is a transaction. */
export function stepwiseStore(fast: Store): Store {
  const { admitInOneStatement: _admit, settleInOneStatement: _settle, ...store } = fast
  return { ...store, write: (job) => store.write((tx) => job(stepwiseTx(tx))) }
}

function stepwiseTx({ settleInOneStatement: _unused, ...tx }: Tx): Tx {
  return tx
}
