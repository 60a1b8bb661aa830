import type { DatabaseSync } from 'node:sqlite'
import type { SettleStatementInput } from '../../gate/statements.ts'
import { addResponseSubjects } from '../../gate/stored-responses.ts'
import type { Tx } from '../../tx.ts'
import { budgetLedger } from '../../tenancy/projects.ts'
import { prepare, type PreparedStatement } from '../connection.ts'
import { chargeRowOf, linkHash } from './settle-batch.ts'

type LedgerUpdate = { readonly headSeq: number; readonly headHash: Uint8Array }

/**
 * Returns the function that completes a call with as few statements as possible: one for the stored
 * response, one for the ledger, and one for each new row.
 */
export function createSettleCall(
  connection: DatabaseSync,
): (tx: Tx, settlement: SettleStatementInput) => ReturnType<Required<Tx>['settleInOneStatement']> {
  const chargeLedger = prepareChargeLedger(connection)
  const releaseLedger = prepare(
    connection,
    'update ledgers set reservedMicros = reservedMicros - :reservedMicros where ledger = :ledger',
  )
  /** @returns the id of the charge; null without one. */
  const charge = async (tx: Tx, settlement: SettleStatementInput): Promise<number | null> => {
    const { projectId, reservedMicros, amountMicros, link } = settlement
    const ledger = budgetLedger(projectId)
    if (amountMicros === 0n) {
      const isReleased =
        reservedMicros === 0n || releaseLedger.run({ ledger, reservedMicros }) === 1
      if (!isReleased) throw new Error(`${ledger} does not exist`)
      return null
    }
    const amounts = { ledger, reservedMicros, amountMicros }
    const head = chargeLedger.first({ ...amounts, before: link.before, after: link.after })
    if (!head) throw new Error(`${ledger} does not exist or has no such reservation`)
    return tx.ledger.append(chargeRowOf(settlement, head))
  }
  return async (tx, settlement) => {
    const { projectId, subjectIds, scores, row, nowMs } = settlement
    if (!(await tx.attempts.complete(settlement))) return undefined
    await addResponseSubjects(tx, settlement, subjectIds)
    const transferId = await charge(tx, settlement)
    for (const score of scores) await tx.countScore(score, { projectId, atMs: nowMs })
    const { code, amountMicros: costMicros, meteredMicros } = settlement
    await tx.logCall({
      ...row,
      projectId,
      code,
      costMicros,
      meteredMicros,
      isReplay: 0,
      transferId,
    })
    return { transferId }
  }
}

/** Releases a reservation, charges the amount and adds the charge to the hash chain of the ledger. */
function prepareChargeLedger(connection: DatabaseSync): PreparedStatement<LedgerUpdate> {
  connection.function('linkHash', { deterministic: true, directOnly: true }, linkStoredHash)
  return prepare(
    connection,
    `update ledgers set reservedMicros = reservedMicros - :reservedMicros,
       balanceMicros = balanceMicros - :amountMicros, headSeq = headSeq + 1,
       headHash = linkHash(headHash, :before || (headSeq + 1) || :after)
     where ledger = :ledger and reservedMicros >= :reservedMicros
       and :reservedMicros >= :amountMicros
     returning headSeq, headHash`,
  )
}

function linkStoredHash(previousHash: unknown, text: unknown): Uint8Array {
  if (!(previousHash instanceof Uint8Array) || typeof text !== 'string')
    throw new TypeError('linkHash expects a hash and a text')
  return linkHash(previousHash, text)
}
